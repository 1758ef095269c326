import { digest, utf8, type Bytes } from '../../web/pairing/crypto.ts'

/** Returns the key for a bridge that runs with --ephemeral, from the token that the bridge shows. */
export const ephemeralKey = (token: string): Promise<Bytes> => digest(utf8(`portolan-ephemeral-1\0${token}`))

/** Keeps the key of the pairing. */
export interface Keys {
  get(): Promise<CryptoKey | undefined>
  set(key: CryptoKey): Promise<void>
  remove(): Promise<void>
}

/** Keeps the key in IndexedDB, because `chrome.storage` cannot hold a CryptoKey. */
export function browserKeys(): Keys {
  const store = async (mode: IDBTransactionMode) => {
    const open = indexedDB.open('portolan-bridge', 1)
    open.onupgradeneeded = () => void open.result.createObjectStore('keys')
    return (await done(open)).transaction('keys', mode).objectStore('keys')
  }
  return {
    get: async () => await done((await store('readonly')).get('bridge')) as CryptoKey | undefined,
    set: async (key) => void await done((await store('readwrite')).put(key, 'bridge')),
    remove: async () => void await done((await store('readwrite')).delete('bridge')),
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
