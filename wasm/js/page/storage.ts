import { ignore } from '../shared/download.ts'
import type { StateEvent } from '../shared/protocol.ts'
import type { AuthConfig, RegistryOptions, ServerConfig, StorageAdapter } from '../shared/types.ts'
import { secretAuthFields } from '../shared/wire.gen.ts'

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

/** The servers' configurations, as the module last sent them or as they are stored, and what else is stored. */
export class ConfigStore {
  readonly servers = new Map<string, ServerConfig>()
  readonly storage: StorageAdapter
  readonly #secrets: SecretStore | undefined
  readonly #turn: <T>(work: () => Promise<T>) => Promise<T>
  /** Servers to save: the fields that changed, or undefined for all. */
  readonly #unsaved = new Map<string, string[] | undefined>()
  /** The pins that the module knows to be stored. */
  told: Record<string, string> = {}
  /** Settles when all changes so far have been given to the storage. */
  saved: Promise<unknown> = Promise.resolve()

  /** `turn` runs work while no other tab changes the storage. */
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

  /** Takes configurations over from the module; null: the server was removed. */
  take(configs: Record<string, ServerConfig | null>): void {
    for (const [name, config] of Object.entries(configs)) {
      if (config) this.servers.set(name, config)
      else this.servers.delete(name)
    }
  }

  /** Saves a server, or its removal; of a server that is stored at the same URL, only these fields. */
  save(name: string, fields?: string[]): void {
    const earlier = this.#unsaved.has(name) ? this.#unsaved.get(name) : []
    this.#unsaved.set(name, earlier && fields && [...earlier, ...fields])
    this.saved = this.saved.then(() => this.#unsaved.size ? this.#turn(() => this.#save()) : undefined).catch(ignore)
  }

  /** The servers as a snapshot has them while all are off and no module is loaded. */
  get states(): StateEvent['servers'] {
    return Object.fromEntries([...this.servers].map(([name, { headers, auth, ...config }]) => [name, {
      status: 'disabled',
      suspended: false,
      toolCount: 0,
      toolTotal: 0,
      lastSuccessful: null,
      lastConnected: null,
      lastError: null,
      consecutiveFailures: 0,
      retryAt: null,
      latencyMs: null,
      config: {
        ...config,
        proxy: config.proxy ?? false,
        ...(auth && { auth: withSecrets(auth, '[redacted]') }),
        ...(headers && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, '[redacted]'])) }),
      },
    }]))
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
    for (const [name, fields] of changes) {
      const config = this.servers.get(name)
      const before = servers[name] as Record<string, unknown> | undefined
      if (config) {
        const { headers, auth, ...rest } = config
        const whole = {
          ...rest,
          auth: auth && withSecrets(auth, undefined),
          headers: headers && Object.keys(headers),
        } as Stored & Record<string, unknown> // undefined is left out
        if (fields && before?.url === whole.url) { for (const key of fields) before[key] = whole[key] }
        else servers[name] = whole
      } else delete servers[name]
    }
    await this.storage.set(serversKey, JSON.stringify({ version: 1, servers }))
    for (const [name] of changes) await this.#secrets?.set(name, this.servers.get(name))
  }
}

/** A copy with something else in place of each secret. */
const withSecrets = (auth: AuthConfig, shown: string | undefined): AuthConfig =>
  Object.fromEntries(Object.entries(auth).map(([k, v]) => [k, secretAuthFields.includes(k) ? shown : v]))

/** Keeps header values and the secrets of `auth`, each bound to the origin it was entrusted to. */
export interface SecretStore {
  /** The configuration with what is kept for it, if anything. */
  get(server: string, config: ServerConfig): Promise<ServerConfig | undefined>
  set(server: string, config: ServerConfig | undefined): Promise<void>
}
