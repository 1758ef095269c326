import { ignore } from '../shared/download.ts'
import { mergeConfig, openAuth } from '../shared/mergeconfig.ts'
import type { RegistryOptions, ServerConfig, StorageAdapter } from '../shared/types.ts'

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

const adapt = (s: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): StorageAdapter => ({
  get: (k) => s.getItem(k),
  set: (k, v) => s.setItem(k, v),
  remove: (k) => s.removeItem(k),
})

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
  readonly #turn: <T>(work: () => Promise<T>) => Promise<T>
  /** What is not saved of servers: what was patched, or with null all. */
  readonly #unsaved = new Map<string, object | null>()
  /** The pins that the module knows to be stored. */
  told: Record<string, string> = {}
  /** Settles when all changes so far have been given to the storage. */
  saved: Promise<unknown> = Promise.resolve()

  /** `turn` runs work while nobody else changes the storage. */
  constructor(
    storage: StorageAdapter,
    secrets?: SecretStore,
    turn: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
  ) {
    this.storage = storage
    this.#secrets = secrets
    this.#turn = turn
  }

  /**
   * Reads what an earlier session saved, without what is damaged; the servers of `options.servers` win, and are not
   * saved before they are changed.
   */
  async load(given: Record<string, ServerConfig>): Promise<void> {
    for (const [name, { headers: _, ...config }] of Object.entries(await this.stored())) {
      if (typeof config.url !== 'string') continue
      this.servers.set(name, (await this.#secrets?.get(name, config)) ?? config)
    }
    for (const [name, config] of Object.entries(given)) this.servers.set(name, config)
  }

  /** Merges an accepted change, or forgets the server, and saves. */
  change(name: string, patch: Partial<ServerConfig> | null): void {
    const earlier = this.#unsaved.get(name)
    this.#unsaved.set(name, patch && this.servers.has(name) && earlier !== null ? { ...earlier, ...patch } : null)
    if (patch === null) this.servers.delete(name)
    else this.merge(name, patch)
    this.saved = this.saved.then(() => this.#unsaved.size ? this.#turn(() => this.#save()) : undefined).catch(ignore)
  }

  merge(name: string, patch: Partial<ServerConfig>): void {
    this.servers.set(name, mergeConfig(this.servers.get(name), patch))
  }

  /** What an earlier session learned about endpoints. */
  async hints(): Promise<string | undefined> {
    return (await this.storage.get(hintsKey)) ?? undefined
  }

  saveHints(hints: string): void {
    this.saved = this.saved.then(() => this.storage.set(hintsKey, hints)).catch(ignore)
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
      return {} as T // start with nothing
    }
  }

  /** Saves what is not saved beside what other tabs have saved meanwhile. */
  async #save(): Promise<void> {
    const servers = await this.stored()
    const changes = [...this.#unsaved]
    this.#unsaved.clear()
    for (const [name, patch] of changes) {
      const config = this.servers.get(name)
      const before = servers[name] as Record<string, unknown> | undefined
      if (config) {
        const { headers, auth, ...rest } = config
        const whole = { ...rest, auth: openAuth(auth), headers: headers && Object.keys(headers) } as
          & Stored
          & Record<string, unknown> // undefined is left out
        if (patch && before?.url === whole.url) { for (const key in patch) before[key] = whole[key] }
        else servers[name] = whole
      } else delete servers[name]
    }
    await this.storage.set(serversKey, JSON.stringify({ version: 1, servers }))
    for (const [name] of changes) await this.#secrets?.set(name, this.servers.get(name))
  }
}

/** Keeps header values and the secrets of `auth`, each bound to the origin it was entrusted to. */
export interface SecretStore {
  /** The configuration with what is kept for it, if anything. */
  get(server: string, config: ServerConfig): Promise<ServerConfig | undefined>
  set(server: string, config: ServerConfig | undefined): Promise<void>
}
