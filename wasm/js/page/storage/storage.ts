import { ignore } from '../../shared/download.ts'
import { isObject } from '../../shared/object.ts'
import { untried } from '../../shared/health.ts'
import type { StateEvent } from '../../shared/protocol.ts'
import type {
  AuthConfig,
  Scope,
  RedactedConfig,
  RegistryOptions,
  ServerConfig,
  StorageLike,
} from '../../shared/types.ts'
import { secretAuthFields } from '../../shared/wire.gen.ts'
import type { Shape, Texts } from './repair.ts'
import type { SecretStore } from './secrets.ts'

/** The storage that the option `storage` names. */
export function storageFor(option: RegistryOptions['storage'] = 'local'): Texts {
  if (typeof option === 'object') return 'getItem' in option ? adapt(option) : option
  if (option === 'local') {
    try {
      const local = globalThis.localStorage
      if (local) return adapt(local)
    } catch { /* forbidden in this frame: keep nothing */ }
  }
  return new Map<string, string>()
}

const adapt = (s: StorageLike): Texts => ({ get: (k) => s.getItem(k), set: (k, v) => s.setItem(k, v) })

/** The storage, without its faults: what cannot be read is nothing, and it is not replaced until it was read. */
function careful(under: Texts): Texts {
  const unread = new Map<string, unknown>()
  return {
    async get(key) {
      try {
        const text = await under.get(key)
        unread.delete(key)
        return text
      } catch (e) {
        unread.set(key, e) // it is forbidden, or busy
        return undefined
      }
    },
    async set(key, value) {
      if (unread.has(key)) throw unread.get(key)
      await under.set(key, value)
    },
  }
}

const hintsKey = 'portolan.hints'

const isText = (value: unknown) => typeof value === 'string'

export const serversShape: Shape = {
  key: 'portolan.servers',
  inside: 'servers',
  isSound: (entry) =>
    isObject(entry) && isText(entry['url']) && isObject(entry['auth'] ?? {}) && Array.isArray(entry['headers'] ?? []),
}

export const tasksShape: Shape = {
  key: 'portolan.tasks',
  isList: true,
  isSound: (t) => isObject(t) && isText(t['server']) && isText(t['tool']) && isText(t['taskId']),
}

export const pinsShape: Shape = { key: 'portolan.pins', isSound: isText }

const MOST_WARNINGS = 20

/** A stored configuration: of header values it has the names only, and secrets of `auth` are empty texts. */
type Stored = Omit<RedactedConfig, 'headers' | 'missingHeaders'> & { headers?: string[]; scope?: Scope }

/** The servers' configurations as the module last sent them, or before as they were stored; and all that is stored. */
export class ConfigStore {
  readonly servers = new Map<string, RedactedConfig>()
  /** Where servers belong, in a registry with a project. Those of the user are left out. */
  readonly scopes = new Map<string, Scope>()
  /** The option `project`. Its servers have secrets of their own. */
  project: string | undefined
  readonly storage: Texts
  readonly #openSecrets: () => Promise<SecretStore>
  #secrets: Promise<SecretStore> | undefined
  readonly #remembers: boolean | undefined
  readonly #turn: <T>(work: () => Promise<T>) => Promise<T>
  /** Servers to save: the fields that changed, or undefined for all. */
  readonly #unsaved = new Map<string, string[] | undefined>()
  /** The pins that the module knows to be stored. */
  known: Record<string, string> = {}
  /** Settles when all changes so far are stored. */
  saved: Promise<unknown> = Promise.resolve()
  /** Damage that was found in the storage. */
  warnings: readonly string[] = []
  /** Called after a new warning. */
  onWarning = () => {}
  readonly #repair: () => Promise<typeof import('./repair.ts')>

  /**
   * `openSecrets` opens the store of secrets for a server that uses it. `remembers` is whether servers without
   * a choice of their own do. `turn` runs work while no other tab changes the storage.
   */
  constructor(
    storage: Texts,
    openSecrets: () => Promise<SecretStore>,
    remembers: boolean | undefined,
    turn: <T>(work: () => Promise<T>) => Promise<T>,
    repair: () => Promise<typeof import('./repair.ts')>,
  ) {
    this.storage = careful(storage)
    this.#repair = repair
    this.#openSecrets = openSecrets
    this.#remembers = remembers
    this.#turn = turn
  }

  /**
   * Reads the stored servers. Damaged ones are left out. The servers of `options.servers` replace stored ones, and are
   * stored once they change.
   */
  async load(given: Record<string, ServerConfig>): Promise<void> {
    for (const [name, stored] of Object.entries(await this.stored()))
      this.servers.set(name, await this.revived(name, stored))
    this.take(given)
  }

  /** A stored configuration with its secrets. */
  async revived(name: string, { headers: names = [], scope, ...stored }: Stored): Promise<RedactedConfig> {
    if (scope) this.scopes.set(name, scope)
    const secrets = this.#withSecrets(name, stored, (s) => s.get(this.#vaultName(name), stored, names))
    const config: ServerConfig = await secrets ?? stored
    const missingHeaders = names.filter((header) => !config.headers?.[header])
    return missingHeaders.length ? { ...config, missingHeaders } : config
  }

  #vaultName(name: string): string {
    return this.scopes.get(name) === 'project' ? `${this.project}\n${name}` : name
  }

  /** Uses the store of secrets, if the server's are kept there. A fault of the store becomes a warning. */
  async #withSecrets<T>(
    name: string,
    config: Pick<ServerConfig, 'rememberSecrets'>,
    use: (secrets: SecretStore) => Promise<T>,
  ): Promise<T | undefined> {
    if (!(config.rememberSecrets ?? this.#remembers)) return undefined
    try {
      return await use(await (this.#secrets = this.#openSecrets()))
    } catch (e) {
      this.#lost(`the secrets of the server ${JSON.stringify(name)}`, e)
      return undefined
    }
  }

  #lost(what: string, e: unknown): void {
    this.warn(`${what} are not kept on this device: ${(e as Error).message}`)
  }

  /** Takes configurations over from the module; null: the server was removed. */
  take(configs: Record<string, ServerConfig | null>): void {
    for (const [name, config] of Object.entries(configs)) {
      if (config) this.servers.set(name, config)
      else this.servers.delete(name)
    }
  }

  /** Stores a server, or its removal. A server that is stored with the same URL changes in these fields only. */
  save(name: string, fields?: string[]): void {
    this.#mark(name, fields)
    this.saved = this.saved.then(() => this.#unsaved.size ? this.#turn(() => this.#save()) : undefined).catch(ignore)
  }

  /** Notes what the next save stores. */
  #mark(name: string, fields: string[] | undefined): void {
    const earlier = this.#unsaved.has(name) ? this.#unsaved.get(name) : []
    this.#unsaved.set(name, earlier && fields && [...earlier, ...fields])
  }

  /** The servers as a snapshot has them before the module has started. */
  get states(): StateEvent['servers'] {
    return Object.fromEntries([...this.servers].map(([name, { headers, auth, ...config }]) => [name, {
      ...untried,
      status: config.enabled === false ? 'disabled' : 'disconnected',
      config: {
        ...config,
        proxy: config.proxy ?? false,
        ...(auth && { auth: withSecrets(auth, '[redacted]') }),
        ...(headers && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, '[redacted]'])) }),
      },
    }]))
  }

  /** The hints about endpoints from an earlier session. */
  async hints(): Promise<string | undefined> {
    const hints = await this.storage.get(hintsKey)
    return isText(hints) ? hints as string : undefined
  }

  saveHints(hints: string): void {
    this.saved = this.saved.then(() => this.storage.set(hintsKey, hints)).catch(ignore)
  }

  /** The stored pins by endpoint, which trust.ts writes. */
  async pins(): Promise<Record<string, string>> {
    return (this.known = await this.read(pinsShape) ?? {})
  }

  /** The servers as they are stored now. */
  async stored(): Promise<Record<string, Stored>> {
    return await this.read(serversShape) ?? {}
  }

  /** Reads stored entries. Damaged ones are dropped, with a warning. Undefined if nothing is stored. */
  async read<T extends object>(shape: Shape): Promise<T | undefined> {
    const text: unknown = await this.storage.get(shape.key)
    if (text == null || text === '') return undefined
    try {
      const value: unknown = JSON.parse(text as string)
      const entries = shape.inside && isObject(value) && !(value['version'] as number > 1)
        ? value[shape.inside] ?? {}
        : value
      if (
        (shape.isList ? Array.isArray(entries) : isObject(entries)) && Object.values(entries as T).every(shape.isSound)
      )
        return entries as T
    } catch { /* not JSON, or not even a text */ }
    const { mend } = await this.#repair()
    const { entries, warning } = await mend(this.storage, shape, text)
    this.warn(warning)
    return entries as T
  }

  warn(warning: string): void {
    if (this.warnings.includes(warning)) return
    this.warnings = [...this.warnings, warning].slice(-MOST_WARNINGS)
    this.onWarning()
  }

  /**
   * Stores the changes and keeps those that other tabs have stored meanwhile. The secrets of removed servers go first:
   * nothing would delete them if this realm ended after the removal.
   */
  async #save(): Promise<void> {
    const changes = [...this.#unsaved]
    this.#unsaved.clear()
    for (const [name] of changes) if (!this.servers.has(name)) await this.#forget(name)
    try {
      const servers = await this.stored()
      for (const [name, fields] of changes) {
        const config = this.servers.get(name)
        const before = servers[name] as Record<string, unknown> | undefined
        if (config) {
          const { headers, missingHeaders = [], auth, ...rest } = config
          const names = [...Object.keys(headers ?? {}), ...missingHeaders]
          const whole = {
            ...rest,
            auth: auth && withSecrets(auth, ''),
            headers: names.length ? names : undefined,
            scope: this.scopes.get(name),
          } as Stored & Record<string, unknown> // undefined is left out
          const isChoice = fields?.every((f) => f === 'enabled' || f === 'tools') // these hold for any URL
          if (fields && before && (isChoice || before.url === whole.url)) {
            for (const key of [...fields, 'scope']) before[key] = whole[key]
          } else servers[name] = whole
        } else delete servers[name]
      }
      await this.storage.set(serversShape.key, JSON.stringify({ version: 1, servers }))
    } catch (e) {
      for (const change of changes) this.#mark(...change) // for the next save
      return this.#lost('the servers', e)
    }
    for (const [name, fields] of changes) {
      const config = this.servers.get(name)
      if (!config) this.scopes.delete(name)
      else if (!await this.#withSecrets(name, config, (s) => s.set(this.#vaultName(name), config, fields)))
        await this.#forget(name, fields)
    }
  }

  /** Deletes a server's secrets, if the store of secrets has been opened. */
  async #forget(name: string, fields?: string[]): Promise<void> {
    await this.#secrets?.then((s) => s.set(this.#vaultName(name), undefined, fields)).catch(ignore)
  }
}

/** A copy with `shown` in place of each secret that is there. */
const withSecrets = (auth: AuthConfig, shown: string): AuthConfig =>
  Object.fromEntries(Object.entries(auth).map(([k, v]) => [k, v && secretAuthFields.includes(k) ? shown : v]))
