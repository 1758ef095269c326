import type { WireError } from '../shared/errors.ts'
import { originOf } from '../shared/origin.ts'
import type { SecretStore } from './storage.ts'
import type { ServerConfig } from '../shared/types.ts'
import { secretAuthFields } from '../shared/wire.gen.ts'

const dbName = 'portolan'

/** Texts that are encrypted with AES-GCM under a key that the browser keeps and never hands out. */
export interface Vault {
  /** `context` is authenticated with the text, so that it opens for no other. */
  text(name: string, context?: string): Promise<string>
  /** "" forgets it. */
  setText(name: string, text: string, context?: string): Promise<void>
  key(name: string): Promise<CryptoKeyPair | undefined>
  setKey(name: string, pair: CryptoKeyPair): Promise<void>
}

/** Opens it. Rejects with a WireError: this is a bundle of its own. */
export async function openVault(): Promise<Vault> {
  const [db, key] = await open()
  const bytes = (text: string) => new TextEncoder().encode(text)
  return {
    async text(name, context = name) {
      const box = await request<{ iv: Uint8Array<ArrayBuffer>; data: ArrayBuffer } | undefined>(
        store(db, 'secrets', 'readonly').get(name),
      )
      if (!box) return ''
      try {
        return new TextDecoder().decode(
          await crypto.subtle.decrypt({ name: 'AES-GCM', iv: box.iv, additionalData: bytes(context) }, key, box.data),
        )
      } catch {
        return '' // of another context, or damaged
      }
    },
    async setText(name, text, context = name) {
      if (!text) return void await request(store(db, 'secrets', 'readwrite').delete(name))
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const data = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: bytes(context) },
        key,
        bytes(text),
      )
      await request(store(db, 'secrets', 'readwrite').put({ iv, data }, name))
    },
    key: (name) => request(store(db, 'keys', 'readonly').get(name)),
    setKey: async (name, pair) => void await request(store(db, 'keys', 'readwrite').put(pair, name)),
  }
}

/** Opens the store behind `rememberSecrets`: what a server's origin was entrusted with is for that origin alone. */
export async function openSecrets(): Promise<SecretStore> {
  const vault = await openVault()
  const context = (server: string, url: string) => JSON.stringify([server, originOf(url)])
  return {
    async get(server, config) {
      const text = await vault.text(server, context(server, config.url))
      return text ? filled(config, JSON.parse(text) as Record<string, string>) : undefined
    },
    set(server, config) {
      const secrets = config ? secretsOf(config) : {}
      const text = Object.keys(secrets).length ? JSON.stringify(secrets) : ''
      return vault.setText(server, text, context(server, config?.url ?? ''))
    },
  }
}

/** Header values, and the secrets of `auth` under names that no header has. */
const secretsOf = ({ headers, auth }: ServerConfig): Record<string, string> => ({
  ...headers,
  ...Object.fromEntries(
    Object.entries(auth ?? {}).filter(([k, v]) => v && secretAuthFields.includes(k)).map(([k, v]) => [`:${k}`, v]),
  ),
})

function filled(config: ServerConfig, secrets: Record<string, string>): ServerConfig {
  const headers: Record<string, string> = {}, auth: Record<string, string> = {}
  for (const [k, v] of Object.entries(secrets)) (k[0] === ':' ? auth : headers)[k.replace(/^:/, '')] = v
  return {
    ...config,
    ...(Object.keys(headers).length && { headers }),
    ...(config.auth && { auth: { ...config.auth, ...auth } }),
  }
}

async function open(): Promise<[IDBDatabase, CryptoKey]> {
  try {
    const db = await openDB() // a sandboxed frame may not
    return [db, await masterKey(db)]
  } catch {
    throw {
      code: 'invalid_option',
      message: 'rememberSecrets needs IndexedDB and WebCrypto, which are not here',
      retryable: false,
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
