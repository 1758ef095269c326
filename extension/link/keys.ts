import { request, written } from '../../wasm/js/shared/database.ts'
import { digest, utf8, type Bytes } from '../../web/pairing/crypto.ts'
import { timeout } from '../timeout.ts'

/** Returns the key for a bridge that runs with --ephemeral, from the token that the bridge shows. */
export const ephemeralKey = (token: string): Promise<Bytes> => digest(utf8(`portolan-ephemeral-1\0${token}`))

/** Keeps the key of each pairing. */
export interface Keys {
  get(pairing: string): Promise<CryptoKey | undefined>
  set(pairing: string, key: CryptoKey): Promise<unknown>
  /** Removes the keys of the pairings for which `isOver` holds. */
  remove(isOver: (pairing: string) => boolean): Promise<unknown>
}

/** The longest wait for the database, in ms. */
const patience = 5000

/** Keeps keys in IndexedDB, because `chrome.storage` cannot hold a CryptoKey. */
export function browserKeys(): Keys {
  const use = async <T>(
    mode: IDBTransactionMode,
    work: (keys: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T> => {
    const open = indexedDB.open('portolan-bridge', 1)
    open.onupgradeneeded = () => void open.result.createObjectStore('keys')
    const db = await request(open)
    try {
      const asked = work(db.transaction('keys', mode).objectStore('keys'))
      await written(asked)
      return asked.result
    } finally {
      db.close()
    }
  }
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    const answer = await timeout(patience, work.then((value) => ({ value })))
    if (!answer) throw new Error('The database with the keys of pairings does not answer. Restart the browser.')
    return answer.value
  }
  return {
    get: (pairing) => inTime(use('readonly', (keys) => keys.get(pairing) as IDBRequest<CryptoKey | undefined>)),
    set: (pairing, key) => inTime(use('readwrite', (keys) => keys.put(key, pairing))),
    remove: (isOver) =>
      inTime(use('readwrite', (keys) => {
        const all = keys.getAllKeys() as IDBRequest<string[]>
        all.onsuccess = () => all.result.filter(isOver).forEach((pairing) => keys.delete(pairing))
        return all
      })),
  }
}
