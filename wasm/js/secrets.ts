import type { WireError } from './errors.ts'
import { authSecrets } from './mergeconfig.ts'
import { originOf } from './origin.ts'
import type { SecretStore } from './storage.ts'
import type { ServerConfig } from './types.ts'

const dbName = 'portolan'

/**
 * Opens the store behind `rememberSecrets`: header values are encrypted with
 * AES-GCM under a key that the browser keeps and never hands out. Server name
 * and origin are authenticated with each value, so that it opens for no other.
 */
export async function openSecrets(): Promise<SecretStore> {
  const [db, key] = await open()
  const context = (server: string, url: string) => new TextEncoder().encode(JSON.stringify([server, originOf(url)]))
  return {
    async get(server, config) {
      const box = await request<{ iv: Uint8Array<ArrayBuffer>; data: ArrayBuffer } | undefined>(store(db, 'secrets', 'readonly').get(server))
      if (!box) return undefined
      try {
        const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: box.iv, additionalData: context(server, config.url) }, key, box.data)
        return filled(config, JSON.parse(new TextDecoder().decode(plain)) as Record<string, string>)
      } catch {
        return undefined // of another origin, or damaged: the user gives it anew
      }
    },
    async set(server, config) {
      const secrets = config ? secretsOf(config) : {}
      if (!config || !Object.keys(secrets).length) return void await request(store(db, 'secrets', 'readwrite').delete(server))
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const plain = new TextEncoder().encode(JSON.stringify(secrets))
      const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: context(server, config.url) }, key, plain)
      await request(store(db, 'secrets', 'readwrite').put({ iv, data }, server))
    },
  }
}

/** Header values, and the secrets of `auth` under names that no header has. */
const secretsOf = ({ headers, auth }: ServerConfig): Record<string, string> =>
  ({ ...headers, ...Object.fromEntries(authSecrets.filter((k) => auth?.[k]).map((k) => [`:${k}`, auth![k]!])) })

function filled(config: ServerConfig, secrets: Record<string, string>): ServerConfig {
  const headers: Record<string, string> = {}, auth: Record<string, string> = {}
  for (const [k, v] of Object.entries(secrets)) (k[0] === ':' ? auth : headers)[k.replace(/^:/, '')] = v
  return { ...config, ...(Object.keys(headers).length && { headers }), ...(config.auth && { auth: { ...config.auth, ...auth } }) }
}

/** Rejects with a WireError: this is a bundle of its own. */
async function open(): Promise<[IDBDatabase, CryptoKey]> {
  try {
    const db = await openDB() // a sandboxed frame may not
    return [db, await masterKey(db)]
  } catch {
    throw {
      code: 'invalid_option', message: 'rememberSecrets needs IndexedDB and WebCrypto, which are not here', retryable: false,
      hint: 'Use it in a page of a secure origin (https or localhost) that may store data.',
    } satisfies WireError
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
