import { RegistryError } from './errors.ts'
import { originOf } from './origin.ts'
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

/** A configuration at rest: of the headers, only the names. */
type Stored = Omit<ServerConfig, 'headers'> & { headers?: string[] }

/** The servers that a user has configured, and what was learned about their endpoints. */
export class ConfigStore {
  readonly servers = new Map<string, ServerConfig>()
  private readonly given = new Set<string>()
  private readonly storage: StorageAdapter
  private readonly secrets: SecretStore | undefined
  private saving: Promise<unknown> = Promise.resolve()

  constructor(storage: StorageAdapter, secrets?: SecretStore) {
    this.storage = storage
    this.secrets = secrets
  }

  /** Reads what an earlier session saved; what is damaged is left out. */
  async load(): Promise<void> {
    let stored: Record<string, Stored> = {}
    try {
      const parsed = JSON.parse((await this.storage.get(serversKey)) ?? '{}') as { servers?: Record<string, Stored> }
      stored = parsed.servers ?? {}
    } catch { /* begin anew */ }
    for (const [name, { headers: names, ...config }] of Object.entries(stored)) {
      if (typeof config.url !== 'string') continue
      const headers = names?.length ? await this.secrets?.get(name, config.url) : undefined
      this.servers.set(name, headers ? { ...config, headers } : config)
    }
  }

  /** Takes a server that the caller gives anew at each start, and so is not saved before it is changed. */
  give(name: string, config: ServerConfig): void {
    this.servers.set(name, config)
    this.given.add(name)
  }

  /** Merges an accepted change, or forgets the server, and saves. */
  change(name: string, patch: Partial<ServerConfig> | null): void {
    this.given.delete(name)
    if (patch === null) this.servers.delete(name)
    else this.servers.set(name, merge(this.servers.get(name), patch))
    this.saving = this.saving.then(() => this.save(name)).catch(() => {})
  }

  /** What an earlier session learned about endpoints. */
  async hints(): Promise<string | undefined> {
    return (await this.storage.get(hintsKey)) ?? undefined
  }

  saveHints(hints: string): void {
    this.saving = this.saving.then(() => this.storage.set(hintsKey, hints)).catch(() => {})
  }

  /** Resolves when all changes are saved. */
  settled(): Promise<unknown> {
    return this.saving
  }

  private async save(changed: string): Promise<void> {
    const servers: Record<string, Stored> = {}
    for (const [name, { headers, ...config }] of this.servers) {
      if (this.given.has(name)) continue
      servers[name] = headers && Object.keys(headers).length ? { ...config, headers: Object.keys(headers) } : config
    }
    await this.storage.set(serversKey, JSON.stringify({ version: 1, servers }))
    const config = this.servers.get(changed)
    await this.secrets?.set(changed, config?.url ?? '', config?.headers)
  }
}

function merge(old: ServerConfig | undefined, patch: Partial<ServerConfig>): ServerConfig {
  const moved = old && patch.url !== undefined && originOf(old.url) !== originOf(patch.url)
  const merged: Record<string, unknown> = { ...old, ...(moved && { headers: undefined }), ...patch }
  if (patch.headers) {
    merged.headers = Object.fromEntries(Object.entries(patch.headers)
      .map(([k, v]) => [k, v === '[redacted]' ? old?.headers?.[k] : v]).filter(([, v]) => v !== undefined))
  }
  for (const [k, v] of Object.entries(merged)) if (v === null || v === undefined) delete merged[k]
  return merged as unknown as ServerConfig
}

/** Keeps header values of servers, each bound to the origin it was entrusted to. */
export interface SecretStore {
  get(server: string, url: string): Promise<Record<string, string> | undefined>
  set(server: string, url: string, headers: Record<string, string> | undefined): Promise<void>
}

export function needSecretStore(): void {
  if (typeof indexedDB === 'undefined' || !globalThis.crypto?.subtle) throw noSecretStore()
}

export const noSecretStore = (cause?: unknown) =>
  new RegistryError('invalid_option', 'rememberSecrets needs IndexedDB and WebCrypto, which are not here', {
    hint: 'Use it in a page of a secure origin (https or localhost) that may store data.', cause,
  })
