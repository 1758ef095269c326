import { request, retried, written } from './database.ts'

const dbName = 'portolan'

/** Texts that are encrypted with AES-GCM. No script can read the key. */
export interface Vault {
  /** Reads a text. It decrypts only with the `context` of its write. "": there is none. */
  text(name: string, context?: string): Promise<string>
  /** Writes a text. "" deletes it. */
  setText(name: string, text: string, context?: string): Promise<void>
  key(name: string): Promise<CryptoKeyPair | undefined>
  setKey(name: string, pair: CryptoKeyPair): Promise<void>
}

/**
 * Opens the vault of this origin. Rejects where there is no IndexedDB or WebCrypto, as in a sandboxed frame. A vault
 * whose database was closed or deleted opens it again.
 */
export async function openVault(): Promise<Vault> {
  let vault: Promise<Vault> | undefined, opened: Promise<IDBDatabase> | undefined
  const use = <T>(work: (v: Vault) => T | Promise<T>): Promise<T> => {
    let mine: Promise<Vault>
    return retried(async () => {
      mine = vault ??= (opened = openDB()).then(vaultOf)
      mine.catch(() => vault = undefined) // the next one tries again
      return work(await mine)
    }, () => {
      if (vault && vault !== mine) return // another use has opened it again
      vault = undefined
      if (connection === opened) connection = undefined
    })
  }
  await use(() => {})
  return {
    text: (...args) => use((v) => v.text(...args)),
    setText: (...args) => use((v) => v.setText(...args)),
    key: (...args) => use((v) => v.key(...args)),
    setKey: (...args) => use((v) => v.setKey(...args)),
  }
}

async function vaultOf(db: IDBDatabase): Promise<Vault> {
  const key = await masterKey(db)
  const bytes = (text: string) => new TextEncoder().encode(text)
  return {
    async text(name, context = name) {
      const box = await request<{ iv: Uint8Array<ArrayBuffer>; data: ArrayBuffer } | undefined>(
        secretsOf(db, 'readonly').get(name),
      )
      if (!box) return ''
      try {
        return new TextDecoder().decode(
          await crypto.subtle.decrypt({ name: 'AES-GCM', iv: box.iv, additionalData: bytes(context) }, key, box.data),
        )
      } catch {
        return '' // another context, or damaged
      }
    },
    async setText(name, text, context = name) {
      if (!text) return written(secretsOf(db, 'readwrite').delete(name))
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const data = await crypto.subtle.encrypt(
        { name: 'AES-GCM', iv, additionalData: bytes(context) },
        key,
        bytes(text),
      )
      await written(secretsOf(db, 'readwrite').put({ iv, data, at: Date.now() }, name))
    },
    key: async (name) => request(store(db, 'keys', 'readonly').get(name)),
    setKey: async (name, pair) => written(store(db, 'keys', 'readwrite').put(pair, name)),
  }
}

/** The connection that all registries of this realm use. Browsers collect no open connection as garbage. */
let connection: Promise<IDBDatabase> | undefined

export function openDB(): Promise<IDBDatabase> {
  const made = connection ??= connect()
  made.catch(() => connection = undefined) // the next one tries again
  return made
}

async function connect(): Promise<IDBDatabase> {
  const open = indexedDB.open(dbName, 1)
  open.onupgradeneeded = () => {
    open.result.createObjectStore('keys')
    open.result.createObjectStore('secrets')
  }
  const db = await request(open)
  db.onclose = () => connection = undefined
  db.onversionchange = () => { // a deletion would wait for the connection, and each new tab for the deletion
    db.close()
    connection = undefined
  }
  return db
}

/** The key of this origin, the same for all tabs: the first tab that adds one wins. */
async function masterKey(db: IDBDatabase): Promise<CryptoKey> {
  const found = await request<CryptoKey | undefined>(store(db, 'keys', 'readonly').get('headers'))
  if (found) return found
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
  try {
    await written(store(db, 'keys', 'readwrite').add(made, 'headers'))
    return made
  } catch (e) {
    const first = await request<CryptoKey | undefined>(store(db, 'keys', 'readonly').get('headers'))
    if (first) return first
    throw e
  }
}

const store = (db: IDBDatabase, name: string, mode: IDBTransactionMode) => db.transaction(name, mode).objectStore(name)

/** The texts in the vault's database, each with the time of its write. */
export const secretsOf = (db: IDBDatabase, mode: IDBTransactionMode) => store(db, 'secrets', mode)
