import { digest, utf8, type Bytes } from '../../web/pairing/crypto.ts'

/** Returns the key for a bridge that runs with --ephemeral, from the token that the bridge shows. */
export const ephemeralKey = (token: string): Promise<Bytes> => digest(utf8(`portolan-ephemeral-1\0${token}`))

/** Keeps the key of each pairing. */
export interface Keys {
  get(pairing: string): Promise<CryptoKey | undefined>
  set(pairing: string, key: CryptoKey): Promise<void>
  remove(pairing: string): Promise<void>
}

/** Keeps keys in IndexedDB, because `chrome.storage` cannot hold a CryptoKey. */
export function browserKeys(): Keys {
  const store = async (mode: IDBTransactionMode) => {
    const open = indexedDB.open('portolan-bridge', 1)
    open.onupgradeneeded = () => void open.result.createObjectStore('keys')
    return (await done(open)).transaction('keys', mode).objectStore('keys')
  }
  return {
    get: async (pairing) => await done((await store('readonly')).get(pairing)) as CryptoKey | undefined,
    set: async (pairing, key) => void await done((await store('readwrite')).put(key, pairing)),
    remove: async (pairing) => void await done((await store('readwrite')).delete(pairing)),
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
