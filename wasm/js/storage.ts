import { mergeConfig, openAuth } from './mergeconfig.ts'
import type { StateEvent } from './protocol.ts'
import type { RegistryOptions, ServerConfig, StorageAdapter } from './types.ts'

/** Storage of the `storage` option. */
export function storageFor(option: RegistryOptions['storage'] = 'local'): StorageAdapter {
  if (typeof option === 'object') return 'getItem' in option ? adapt(option) : option
  if (option === 'local') {
    try {
      const local = globalThis.localStorage
      if (local) return adapt(local)
    } catch { /* forbidden in this frame: keep nothing */ }
  }
  const memory = new Map<string, string>()
  return { get: (k) => memory.get(k), set: (k, v) => void memory.set(k, v), remove: (k) => void memory.delete(k) }
}

const adapt = (s: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): StorageAdapter =>
  ({ get: (k) => s.getItem(k), set: (k, v) => s.setItem(k, v), remove: (k) => s.removeItem(k) })

const serversKey = 'portolan.servers'
const hintsKey = 'portolan.hints'
export const pinsKey = 'portolan.pins'

/** A configuration at rest: of the secrets, only the names. */
type Stored = Omit<ServerConfig, 'headers'> & { headers?: string[] }

/** The servers that a user has configured, and what was learned about their endpoints. */
export class ConfigStore {
  readonly servers = new Map<string, ServerConfig>()
  readonly storage: StorageAdapter
  readonly #secrets: SecretStore | undefined
  /** The pins that the module knows to be stored. */
  told: Record<string, string> = {}
  /** Settles when all changes so far have been given to the storage. */
  saved: Promise<unknown> = Promise.resolve()

  constructor(storage: StorageAdapter, secrets?: SecretStore) {
    this.storage = storage
    this.#secrets = secrets
  }

  /** Reads what an earlier session saved, without what is damaged; those given anew at each start win, and are not saved before they are changed. */
  async load(given: Record<string, ServerConfig>): Promise<void> {
    for (const [name, { headers: _, ...config }] of Object.entries(await this.stored())) {
      if (typeof config.url !== 'string') continue
      this.servers.set(name, (await this.#secrets?.get(name, config)) ?? config)
    }
    for (const [name, config] of Object.entries(given)) this.servers.set(name, config)
  }

  /** Merges an accepted change, or forgets the server, and saves. */
  change(name: string, patch: Partial<ServerConfig> | null): void {
    const fields = patch && this.servers.has(name) && Object.keys(patch) as (keyof Stored)[]
    if (patch === null) this.servers.delete(name)
    else this.merge(name, patch)
    this.saved = this.saved.then(() => this.#save(name, fields || undefined)).catch(() => {})
  }

  merge(name: string, patch: Partial<ServerConfig>): void {
    this.servers.set(name, mergeConfig(this.servers.get(name), patch))
  }

  /** Takes over what other tabs have changed, and saved. Header values are known here or not. */
  follow(states: StateEvent['servers']): void {
    for (const [name, s] of Object.entries(states)) {
      const old = this.servers.get(name)
      if (s) this.servers.set(name, mergeConfig(old && { url: old.url, headers: old.headers }, { headers: {}, ...s.config }))
      else this.servers.delete(name)
    }
  }

  /** What an earlier session learned about endpoints. */
  async hints(): Promise<string | undefined> {
    return (await this.storage.get(hintsKey)) ?? undefined
  }

  saveHints(hints: string): void {
    this.saved = this.saved.then(() => this.storage.set(hintsKey, hints)).catch(() => {})
  }

  /** What is approved of servers' tools; see trust.ts, which writes it. */
  async pins(): Promise<Record<string, string>> {
    return (this.told = await this.#read(pinsKey))
  }

  /** The servers as they are stored now. */
  async stored(): Promise<Record<string, Stored>> {
    return (await this.#read<{ servers?: Record<string, Stored> }>(serversKey)).servers ?? {}
  }

  async #read<T extends object>(key: string): Promise<T> {
    try {
      return JSON.parse((await this.storage.get(key)) ?? '') as T ?? {}
    } catch {
      return {} as T // begin anew
    }
  }

  /** Saves these fields of one server, or all, beside what other tabs have saved meanwhile. */
  async #save(name: string, fields: (keyof Stored)[] | undefined): Promise<void> {
    const servers = await this.stored()
    const config = this.servers.get(name)
    if (config) {
      const { headers, auth, ...rest } = config
      const whole = { ...rest, auth: openAuth(auth), headers: headers && Object.keys(headers) } as Stored // undefined is left out
      const before = servers[name]
      servers[name] = fields && before?.url === whole.url ? { ...before, ...Object.fromEntries(fields.map((f) => [f, whole[f]])) } : whole
    } else {
      delete servers[name]
    }
    await this.storage.set(serversKey, JSON.stringify({ version: 1, servers }))
    await this.#secrets?.set(name, config)
  }
}

/** Keeps header values and the secrets of `auth`, each bound to the origin it was entrusted to. */
export interface SecretStore {
  /** The configuration with what is kept for it, if anything. */
  get(server: string, config: ServerConfig): Promise<ServerConfig | undefined>
  set(server: string, config: ServerConfig | undefined): Promise<void>
}
