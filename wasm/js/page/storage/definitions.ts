import { ignore } from '../../shared/download.ts'
import { endpointOf } from '../../shared/origin.ts'
import type { ListedTool } from '../../shared/protocol.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type { Flag, RegistryOptions, ServerConfig, ServerHealth, ToolInfo } from '../../shared/types.ts'
import { request } from '../../shared/database.ts'
import { openDB, openVault, secretsOf, type Vault } from '../../shared/vault.ts'
import { version } from '../../shared/version.ts'
import type { RegistryImage } from '../registry.ts'
import { within } from '../requests.ts'
import { isObject } from '../../shared/object.ts'
import { pinsShape, type ConfigStore } from './storage.ts'

/** The bounds of the stored lists: of one server in characters, and of all in bytes. The oldest are dropped. */
const mostOfServer = 2 << 20
const mostOfAll = 8 << 20

/** The longest wait for the stored lists, and for an idle moment, in ms. */
const patience = 1000

/** The deepest nesting of a definition; the default of `limits.depth`. */
const mostDepth = 128

/** In the vault, the name of a list begins with it. No server's name has a line break. */
const prefix = 'list\n'

/** Stores the last list of each server, and offers it on the next visit until the server has answered. */
export class Definitions {
  readonly #registry: RegistryImage
  readonly #store: ConfigStore
  readonly #options: RegistryOptions
  readonly #db = openDB()
  #opened: Promise<Vault> | undefined
  /** The configurations to which stored lists belong. */
  readonly #configs: Map<string, ServerConfig>
  /** The stored list of each server, as {@link mark} writes it. */
  readonly #kept = new Map<string, string>()
  /** Servers whose stale lists were offered. */
  readonly #stale = new Set<string>()
  /** The last success of each server before its list was deleted. The list of the page may be that one. */
  readonly #outdated = new Map<string, number | null>()
  /** Servers that a user was signed in to, without `rememberSecrets`. */
  readonly #signedIn = new Set<string>()
  /** Resolves once the page has had its turn with the offered lists. */
  shown: Promise<unknown> | undefined
  #isDue = false
  #writing: Promise<unknown> = Promise.resolve()

  /**
   * Offers the stored lists of servers that are on, if the database answers in time. Lists are stored in any case.
   * Without IndexedDB there are none.
   */
  static async open(registry: RegistryImage, store: ConfigStore, options: RegistryOptions): Promise<Definitions> {
    const definitions = new Definitions(registry, store, options)
    registry.forget = (server) => {
      definitions.#forget(server)
      return definitions.#written
    }
    const reading = definitions.#read()
    const lists = await within(AbortSignal.timeout(patience), reading).catch(ignore)
    if (lists) definitions.#offer(lists)
    definitions.shown = new Promise((resolve) => setTimeout(resolve))
    reading.then(() => {
      registry.subscribe(() => definitions.#follow())
      definitions.#follow()
    }).catch(ignore)
    return definitions
  }

  private constructor(registry: RegistryImage, store: ConfigStore, options: RegistryOptions) {
    this.#registry = registry
    this.#store = store
    this.#options = options
    this.#configs = new Map(store.servers)
  }

  /** Every server in the options has its stale list, so that the page need not wait for the module. */
  get isComplete(): boolean {
    return this.#stale.size > 0 && Object.keys(this.#options.servers ?? {}).every((name) => this.#stale.has(name))
  }

  get #vault(): Promise<Vault> {
    return this.#opened ??= openVault()
  }

  /** The stored lists: of servers that are on, tools with an approved pin. */
  async #read(): Promise<[server: string, tools: ListedTool[]][]> {
    const names = new Set(await request(secretsOf(await this.#db, 'readonly').getAllKeys(all())))
    for (const server of this.#configs.keys()) if (!names.has(prefix + server)) this.#kept.set(server, '')
    const servers = [...this.#configs].filter(([server, config]) => names.has(prefix + server) && isKept(config))
    if (!servers.length) return []
    const [vault, pins] = await Promise.all([this.#vault, this.#store.storage.get(pinsShape.key)])
    let approved: Record<string, string> = {}
    try {
      approved = Object(JSON.parse(pins!)) as typeof approved
    } catch { /* nothing is approved */ }
    return Promise.all(servers.map(async ([server, config]) => {
      const text = await vault.text(prefix + server, this.#context(server, config))
      return [server, parse(text, pinsIn(approved[endpointOf(config.url)]))]
    }))
  }

  /** Offers lists to models. Calls of their tools wait until the server has answered. */
  #offer(lists: [string, ListedTool[]][]): void {
    const registry = this.#registry
    registry.confirm = async (tool, signal) => {
      if (!tool?.stale) return
      const { server } = tool
      await registry.discover([server], signal && { signal })
      const { errorCode, lastError, hint, consecutiveFailures } = registry.getHealth()[server] ?? {}
      if (errorCode)
        throw new RegistryError(errorCode, lastError!, { server, hint: hint!, retryable: consecutiveFailures! > 0 })
    }
    for (const [server, tools] of lists) {
      if (!tools.length || !this.#isUnchanged(server)) continue
      const { servers } = this.#registry.getSnapshot()
      // The module has not sent its state yet.
      if (!Object.keys(servers).length)
        this.#registry.receive({ event: 'state', whole: true, status: 'idle', servers: this.#store.states })
      else if (hasAnswered(servers[server])) continue
      this.#kept.set(server, mark(tools))
      this.#stale.add(server)
      this.#list(server, tools)
    }
  }

  /** The server is on, and its list still belongs to its configuration. */
  #isUnchanged(server: string): boolean {
    const config = this.#configs.get(server), now = this.#store.servers.get(server)
    if (!config || !now || !isKept(now)) return false
    if (now === config) return true
    const isSame = this.#context(server, now) === this.#context(server, config)
    if (isSame) this.#configs.set(server, now)
    return isSame
  }

  #list(server: string, tools: ListedTool[]): void {
    this.#registry.receive({ event: 'tools', server, first: true, last: true, tools })
  }

  /** Withdraws a stale list, if the server's own list has not replaced it. */
  #withdraw(server: string): void {
    if (this.#stale.delete(server) && this.#registry.getSnapshot().tools.some((t) => t.stale && t.server === server))
      this.#list(server, [])
  }

  /** Withdraws and deletes a list. The page may have it still, and does not store it again. */
  #forget(server: string): void {
    this.#withdraw(server)
    this.#outdated.set(server, this.#registry.getHealth()[server]?.lastSuccessful ?? null)
    if (!this.#configs.has(server)) return
    this.#keep(server, [])
    this.#configs.delete(server)
  }

  /** Follows the registry: withdraws and deletes lists at once, and stores new ones in an idle moment. */
  #follow(): void {
    const health = this.#registry.getHealth()
    if (!this.#options.rememberSecrets) { // the next visit is signed out
      for (const server in health) if (health[server]!.signIn) this.#signedIn.add(server)
    }
    for (const server of this.#stale) if (hasAnswered(health[server])) this.#withdraw(server)
    for (const server of [...this.#configs.keys()]) {
      if (!this.#isUnchanged(server) || health[server]?.signIn === 'needed') this.#forget(server)
    }
    if (this.#isDue) return
    this.#isDue = true
    if (typeof requestIdleCallback === 'function') requestIdleCallback(() => this.save())
    else setTimeout(() => this.save(), patience)
  }

  /** Stores the lists that have changed. Settles when all changes so far are stored. */
  save(): Promise<unknown> {
    if (this.#isDue) this.#save()
    return this.#written
  }

  /** Settles when all changes so far are stored, or if the database does not open, or is silent. */
  get #written(): Promise<unknown> {
    const written = () => within(AbortSignal.timeout(5 * patience), this.#writing)
    return within(AbortSignal.timeout(patience), this.#db).then(written).catch(ignore)
  }

  #save(): void {
    this.#isDue = false
    const { status, servers, tools } = this.#registry.getSnapshot()
    if (status === 'discovering') return // its end is followed, too
    for (const [server, config] of this.#store.servers) {
      const s = servers[server]
      if (!s || s.latencyMs === null || s.errorCode || !isKept(config)) continue
      if (this.#signedIn.has(server) || s.lastSuccessful === this.#outdated.get(server)) continue
      const list = tools.filter((t) => t.server === server)
      if (list.some((t) => t.stale || !t.pin)) continue
      this.#configs.set(server, config)
      this.#keep(server, list)
    }
  }

  /** Stores a list. Deletes one that is empty or too long. */
  #keep(server: string, list: ToolInfo[]): void {
    const is = mark(list)
    if (this.#kept.get(server) === is) return
    this.#kept.set(server, is)
    const config = this.#configs.get(server)!
    this.#writing = this.#writing.then(async () => {
      const text = textOf(list)
      await (await this.#vault).setText(prefix + server, text, this.#context(server, config))
      if (text) await this.#trim()
    }).catch(ignore)
  }

  /** Deletes the oldest lists until the rest is small enough. */
  async #trim(): Promise<void> {
    const stored = secretsOf(await openDB(), 'readwrite')
    const [names, boxes] = await Promise.all([request(stored.getAllKeys(all())), request(stored.getAll(all()))])
    const lists = names.map((name, i) => ({ name, at: Number(boxes[i]?.at) || 0, size: boxes[i]?.data?.byteLength }))
    let room = mostOfAll
    for (const { name, size } of lists.sort((a, b) => b.at - a.at)) if (!((room -= size) >= 0)) stored.delete(name)
  }

  /**
   * All that a server's list and the module's start depend on, secrets included. The vault encrypts a list with it, and
   * does not store it. A list can be read with the same context only.
   */
  #context(server: string, { url, headers, proxy, transport, auth, tools, trust, holdNewTools }: ServerConfig): string {
    const sorted = (o: object = {}) => Object.entries(o).filter(([, v]) => v !== undefined).sort()
    const { allow = null, deny = null } = tools ?? {}
    const { limits = null, wasm = '', integrity = '', mode = 'auto' } = this.#options
    return JSON.stringify([
      [version, server, url, sorted(headers), proxy ?? false, transport ?? 'auto', sorted(auth)],
      [allow, deny, trust ?? 'ask-on-change', holdNewTools ?? false, limits],
      [String(wasm), integrity, mode], // another module may fail to start, and createRegistry has to say so
    ])
  }
}

const all = () => IDBKeyRange.bound(prefix, `${prefix}\uffff`)

const isKept = ({ enabled, trust }: ServerConfig) => enabled !== false && trust !== 'ask-always'

/** The server's first attempt has ended, with a list or an error. */
const hasAnswered = (s: ServerHealth | undefined) =>
  !s || s.latencyMs !== null || !!s.errorCode || s.status === 'error' || s.status === 'disabled'

/** Equal for equal lists. */
const mark = (list: readonly { name: string; pin?: string }[]) => list.map((t) => `${t.name} ${t.pin}`).join('\n')

/** A list as JSON. "" if it is empty or too long. */
function textOf(list: ToolInfo[]): string {
  let text = ''
  for (const { name, tool, definition, original, pin, flags } of list) {
    text += (text ? ',' : '[') + JSON.stringify({ name, tool, definition: original ?? definition, pin, flags })
    if (text.length > mostOfServer) return ''
  }
  return text && `${text}]`
}

/** The approved pins of an endpoint, each after the name of its tool and a tab. */
const pinsIn = (text: unknown): Set<string> =>
  new Set(String(text).split('\n').map((line) => line.slice(0, line.indexOf('\t') + 44)))

/** The approved tools of a stored list. Entries that a list cannot have are left out. */
function parse(text: string, approved: Set<string>): ListedTool[] {
  if (!text || text.length > mostOfServer + 1) return []
  try {
    const list: unknown = JSON.parse(text), names = new Set<string>()
    if (!Array.isArray(list)) return []
    const isNew = (t: ListedTool) => names.size < names.add(t.name).size
    return list.filter((t) => isTool(t) && approved.has(`${t.tool}\t${t.pin}`) && isNew(t)).map(
      ({ name, tool, definition, pin, flags }) => ({
        name,
        tool,
        definition,
        pin,
        ...(flags && { flags }),
        stale: true,
      }),
    )
  } catch {
    return []
  }
}

function isTool(t: unknown): t is ListedTool {
  if (!isObject(t) || !isObject(t['definition'])) return false
  const { name, tool, definition, flags = [] } = t
  const { description = '', annotations, inputSchema } = definition as Record<string, unknown>
  return typeof name === 'string' && /^[a-zA-Z_][\w-]{0,63}$/.test(name) &&
    typeof tool === 'string' && tool === (definition as { name: unknown }).name &&
    typeof (description ?? '') === 'string' && isObject(annotations ?? {}) && isObject(inputSchema) &&
    !isDeeper(definition, mostDepth) && Array.isArray(flags) && flags.every(isFlag)
}

function isDeeper(v: unknown, most: number): boolean {
  if (typeof v !== 'object' || v === null) return false
  if (!most) return true
  for (const key in v) if (isDeeper((v as Record<string, unknown>)[key], most - 1)) return true
  return false
}

const isFlag = (f: unknown): f is Flag =>
  isObject(f) && [f['rule'], f['where'], f['excerpt']].every((v) => typeof v === 'string')
