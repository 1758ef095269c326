/**
 * Keeps the key that was agreed on with the bridge, where only this extension's
 * own pages get at it, as a CryptoKey that cannot be read again.
 */
export interface Keys {
  get(): Promise<CryptoKey | undefined>
  set(key: CryptoKey): Promise<void>
  remove(): Promise<void>
}

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
