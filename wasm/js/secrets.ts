import { originOf } from './origin.ts'
import type { SecretStore } from './storage.ts'

const dbName = 'portolan'

/**
 * Opens the store behind `rememberSecrets`: header values are encrypted with
 * AES-GCM under a key that the browser keeps and never hands out. Server name
 * and origin are authenticated with each value, so that it opens for no other.
 */
export async function openSecrets(): Promise<SecretStore> {
  const db = await openDB() // a sandboxed frame may not
  const key = await masterKey(db)
  const context = (server: string, url: string) => new TextEncoder().encode(JSON.stringify([server, originOf(url)]))
  return {
    async get(server, url) {
      const box = await request<{ iv: Uint8Array<ArrayBuffer>; data: ArrayBuffer } | undefined>(store(db, 'secrets', 'readonly').get(server))
      if (!box) return undefined
      try {
        const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: box.iv, additionalData: context(server, url) }, key, box.data)
        return JSON.parse(new TextDecoder().decode(plain)) as Record<string, string>
      } catch {
        return undefined // of another origin, or damaged: the user gives it anew
      }
    },
    async set(server, url, headers) {
      if (!headers || !Object.keys(headers).length) return void await request(store(db, 'secrets', 'readwrite').delete(server))
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const plain = new TextEncoder().encode(JSON.stringify(headers))
      const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: context(server, url) }, key, plain)
      await request(store(db, 'secrets', 'readwrite').put({ iv, data }, server))
    },
  }
}

async function openDB(): Promise<IDBDatabase> {
  const open = indexedDB.open(dbName, 1)
  open.onupgradeneeded = () => {
    open.result.createObjectStore('keys')
    open.result.createObjectStore('secrets')
  }
  return request(open)
}

/** The key of this origin; made once, and the same for all tabs: the first to add it wins. */
async function masterKey(db: IDBDatabase): Promise<CryptoKey> {
  const found = await request<CryptoKey | undefined>(store(db, 'keys', 'readonly').get('headers'))
  if (found) return found
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  try {
    await request(store(db, 'keys', 'readwrite').add(made, 'headers'))
    return made
  } catch {
    return request<CryptoKey>(store(db, 'keys', 'readonly').get('headers'))
  }
}

const store = (db: IDBDatabase, name: string, mode: IDBTransactionMode) => db.transaction(name, mode).objectStore(name)

function request<T>(r: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    r.onsuccess = () => resolve(r.result)
    r.onerror = () => reject(r.error)
  })
}
