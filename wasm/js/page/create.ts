import { ignore } from '../shared/download.ts'
import { fromWire } from '../shared/errors.ts'
import type { HostSettings, StartedHost } from '../shared/launching.ts'
import type { Begin, ConfigsEvent, RequestBody } from '../shared/protocol.ts'
import type { RegistryError } from '../shared/registry-error.ts'
import type * as types from '../shared/types.ts'
import { version } from '../shared/version.ts'
import { compile } from './compile.ts'
import type { Definitions } from './storage/definitions.ts'
import { intended, launch } from './launch.ts'
import { redirectUrl, startOptions } from './options.ts'
import { PageEvents } from './page-events.ts'
import { imported, once } from './imported.ts'
import { part } from './parts.ts'
import { RegistryImage, type Owner } from './registry.ts'
import { within } from './requests.ts'
import type { SignInWindow } from './signin.ts'
import type { StorageLock } from './storage/storage-lock.ts'
import { ConfigStore, pinsShape, serversShape, storageFor, tasksShape } from './storage/storage.ts'
import type { Trust } from './storage/trust.ts'

/** The `cassette` option, which starts a host in place of launch. */
interface Cassette {
  open(start: () => Promise<StartedHost>, begin: Promise<Begin>): Promise<StartedHost>
}

const isOn = (config: types.ServerConfig) => config.enabled !== false
const importShared = () => imported('shared.js', () => import('./shared.ts'))

/** Owns a registry in a page: its storage, its approvals, its sign-in, and the host that it starts. */
class PageOwner implements Owner {
  readonly mode: types.Mode
  readonly options: types.RegistryOptions
  validate: Owner['validate']
  scanner: Owner['scanner']
  leaks: Owner['leaks']
  mask: Owner['mask']

  readonly #given: Record<string, types.ServerConfig>
  /** No other tab changes the storage. A service worker has no import() and so cannot load the lock. */
  readonly #isAlone: boolean
  /** Settles once the storage was read. */
  readonly #stored: Promise<void>
  #store!: ConfigStore
  #registry!: RegistryImage
  /** All servers are off, and no request has needed the module. */
  #isUnloaded = false
  #events: PageEvents | undefined
  #definitions: Promise<Definitions | void> | undefined
  #trust: Promise<Trust> | undefined
  #unwatchShared: (() => void) | undefined

  /** Creates a registry. The caller has checked the options. `forModels`: it offers its tools to models. */
  static async create(options: types.RegistryOptions, forModels = true): Promise<RegistryImage> {
    const owner = new PageOwner(options)
    await owner.#loadChecks()
    const registry = owner.#registry = new RegistryImage(owner)
    registry.version = version
    registry.rememberSecrets = !!options.rememberSecrets
    registry.project = options.project
    registry.resultBytes = options.limits?.resultBytes ?? registry.resultBytes
    try {
      await Promise.all([forModels && registry.load(), owner.#start()])
    } catch (e) {
      await registry.close()
      throw e
    }
    owner.#resumeSignIn()
    return registry
  }

  private constructor(options: types.RegistryOptions) {
    this.mode = intended(options)
    // An option that the page changes or removes later keeps its value here. Options may be inherited.
    this.options = { __proto__: options, ...options } as types.RegistryOptions
    this.#given = options.servers ?? {}
    this.#isAlone = options.storage === 'memory' || !!options.host
    this.#stored = this.#openStore()
    this.#stored.catch(ignore)
  }

  async #openStore(): Promise<void> {
    const { project, rememberSecrets, storage: chosen, host } = this.options
    const warn = (w: string) => this.#store.warn(w)
    let storage = storageFor(chosen)
    if ('get' in Object(chosen)) storage = (await part('repair', host)).bounded(storage, warn)
    const { projectStorage } = project ? await part('project', host) : {}
    const secrets = async () => (await part('secrets', host)).openSecrets()
    if (rememberSecrets) await secrets() // the caller gets its error
    this.#store = new ConfigStore(
      projectStorage ? projectStorage(storage, project!, serversShape, warn) : storage,
      secrets,
      rememberSecrets,
      (work) => this.#locked(work),
      () => part('repair', host),
    )
    this.#store.project = project
    this.#store.onWarning = () => this.#registry?.changed()
    await this.#store.load(this.#given)
  }

  /** Loads the code of the options `validate`, `scan`, `secrets` and `limits`. */
  async #loadChecks(): Promise<void> {
    const { validate, scan, limits, secrets = 'off', host } = this.options
    const [checks, scans, bounds, leaks] = await Promise.all([
      validate ? part('validate', host) : undefined,
      scan ? part('scan', host) : undefined,
      limits ? part('limits', host) : undefined,
      secrets !== 'off' ? part('leaks', host) : undefined,
    ])
    this.validate = checks?.checkArguments
    this.scanner = scans && new scans.Scanner()
    bounds?.checkLimits(limits!)
    this.leaks = leaks && new leaks.Leaks(secrets === 'block', () => this.#store.servers)
    this.mask = leaks?.maskSecrets
  }

  /** Starts the module if a server is on. Does not wait for it if the tools of the last visit are enough. */
  async #start(): Promise<void> {
    const { signal } = this.options
    const { requests } = this.#registry
    this.#events = new PageEvents((m) => requests.tell(m), this.#isAlone ? undefined : () => this.#follow())
    const isSure = Object.values(this.#given).some(isOn)
    if (!isSure) await within(signal, this.#stored)
    if (isSure || [...this.#store.servers.values()].some(isOn)) {
      const started = requests.start(signal).then(({ refused }) => {
        // A refused server of the storage is left out. One of the options is for the caller to correct.
        for (const [name, error] of Object.entries(refused)) {
          if (Object.hasOwn(this.#given, name)) throw fromWire(error)
          this.#store.warn(`the stored server ${JSON.stringify(name)} is left out: ${error.message}`)
        }
        this.#report('ready')
      })
      started.catch(ignore)
      const definitions = await within(signal, this.#definitions!)
      return definitions?.isComplete ? void started.catch((e: RegistryError) => this.#registry.down(e)) : started
    }
    this.#isUnloaded = true
    this.#showUnloaded()
    this.#report('ready')
    if (this.mode !== 'shared') return
    const { whenUp } = await importShared()
    this.#unwatchShared = whenUp(this.options, () => requests.start().catch(ignore))
  }

  /** Completes a sign-in that began before a redirect. The server's health shows the result. */
  #resumeSignIn(): void {
    try {
      if (!('portolan.signin' in sessionStorage)) return
    } catch {
      return // no such storage here
    }
    this.signInWindow().then((w) => w.resume((m) => this.#registry.requests.ask(m))).catch(ignore)
  }

  #report(phase: types.LoadProgress['phase']): void {
    this.options.onProgress?.({ loaded: 1, total: 1, phase })
  }

  async open(signal?: AbortSignal): Promise<StartedHost> {
    const wasUnloaded = this.#isUnloaded
    this.#isUnloaded = false
    this.#definitions ??= this.#openDefinitions().catch(ignore)
    // The module's start would delay the lists of the last visit, and what the page does with them.
    if (await this.#store?.storage.get(pinsShape.key)) await (await this.#definitions)?.shown
    try {
      const cassette = this.options.cassette as Cassette | undefined
      const begin = this.#begin()
      const start = () => launch(this.options, () => this.#compile(signal), this.#settings(begin))
      const host = await (cassette ? cassette.open(start, begin) : start())
      this.#unwatchShared?.()
      return host
    } catch (e) {
      this.#isUnloaded = wasUnloaded
      throw e
    }
  }

  async #compile(signal: AbortSignal | undefined): Promise<WebAssembly.Module> {
    const module = await within(signal, compile(this.options, this.options.onProgress ?? ignore))
    this.#report('start')
    return module
  }

  async #begin(): Promise<Begin> {
    await this.#stored
    return {
      servers: Object.fromEntries(this.#store.servers),
      given: Object.keys(this.#given),
      discovered: this.#registry.discovered,
    }
  }

  async #settings(begin: Promise<Begin>): HostSettings {
    const began = await begin
    await this.approvalsSaved()
    return [startOptions(this.options, await this.#store.hints(), await this.#store.pins()), began]
  }

  configs(): Iterable<types.ServerConfig> {
    return this.#store?.servers.values() ?? []
  }

  get warnings(): readonly string[] {
    return this.#store?.warnings ?? []
  }

  discoverOff(names: string[] = []): boolean {
    if (!this.#isUnloaded || !names.every((name) => this.#store.servers.has(name))) return false
    this.#registry.discovered = true
    this.#showUnloaded()
    return true
  }

  /** Shows the servers' states while the module is not loaded. */
  #showUnloaded(): void {
    this.#registry.receive({
      event: 'state',
      whole: true,
      status: this.#registry.discovered ? 'ready' : 'idle',
      servers: this.#store.states,
    })
  }

  onHints(hints: string): void {
    this.#store.saveHints(hints)
  }

  onConfigs(configs: ConfigsEvent['configs']): void {
    this.#store.take(configs)
  }

  scopeOf(name: string): types.Scope {
    return this.#store.scopes.get(name) ?? 'user'
  }

  async checkScope(name: string, options: types.ScopeOptions, fields?: string[]): Promise<void> {
    const { checkScope } = await part('project', this.options.host)
    if (checkScope(name, options, fields, this.options.project && this.scopeOf(name)) && this.#store.servers.has(name))
      await this.#registry.requests.ask({ method: 'removeServer', name })
  }

  async save(name: string, fields?: string[], scope?: types.Scope): Promise<void> {
    const { project: named, host } = this.options
    const project = named ? await part('project', host) : undefined
    project?.place(this.#store, name, fields, scope)
    this.#store.save(name, fields)
    await this.#store.saved
    const config = await project?.uncovered(this.#store, name)
    if (config) await this.#registry.requests.ask({ method: 'addServer', name, config })
    this.#events?.stored()
    await (await this.#definitions)?.save()
  }

  async onClose(): Promise<void> {
    await this.#store?.saved
    await this.approvalsSaved()
    await (await this.#definitions)?.save()
    this.#unwatchShared?.()
    this.#events?.close()
  }

  trust(): Promise<Trust> {
    this.#trust ??= Promise.all([part('trust', this.options.host), this.#stored]).then(([{ Trust }]) =>
      new Trust(this.#store, this.options, {
        turn: (work) => this.#locked(work),
        take: (key, pins) => this.#tell({ method: 'takePins', key, pins }),
        changed: () => this.#events?.stored(),
        snapshot: () => this.#registry.getSnapshot(),
      })
    )
    this.#trust.catch(() => this.#trust = undefined) // the next use loads it again
    return this.#trust
  }

  async tasks(change?: (tasks: types.TaskInfo[]) => types.TaskInfo[]): Promise<types.TaskInfo[]> {
    const read = async () => await this.#store.read<types.TaskInfo[]>(tasksShape) ?? []
    // A storage that is full keeps no task, and the task goes on.
    if (change)
      await this.#locked(async () => {
        await this.#store.storage.set(tasksShape.key, JSON.stringify(change(await read())))
      }).catch(ignore)
    return read()
  }

  /** Settles once the storage has all approvals so far. */
  async approvalsSaved(): Promise<void> {
    await (await this.#trust?.catch(ignore))?.saved
  }

  /** Offers the lists of the last visit. */
  async #openDefinitions(): Promise<Definitions | void> {
    const { storage = 'local', definitionsCache = storage === 'local', cassette } = this.options
    if (!definitionsCache || this.#isAlone || cassette) return
    const { Definitions } = await import('./storage/definitions.ts')
    await this.#stored
    return Definitions.open(this.#registry, this.#store, this.options)
  }

  readonly signInWindow = once<SignInWindow>(async () =>
    new (await part('signin', this.options.host)).SignInWindow(
      this.options.signIn?.onAuthorize,
      redirectUrl(this.options),
    )
  )

  /** Runs work while no other tab changes the storage. */
  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = this.#isAlone ? undefined : await this.#lock().catch(ignore)
    return lock ? lock.turn(work) : work()
  }

  readonly #lock = once<StorageLock>(async () => {
    const { StorageLock } = await imported('storage-lock.js', () => import('./storage/storage-lock.ts'))
    await this.#stored
    return new StorageLock(this.#store, this.options, (m) => this.#tell(m))
  })

  /** Takes over what another tab has stored. */
  #follow(): void {
    this.#lock().then((lock) => lock.readAgain(() => (this.#isUnloaded ? this.#trust : this.trust())))
      .then(() => this.#isUnloaded ? this.#showUnloaded() : this.#registry.placed(), ignore)
  }

  #tell(m: RequestBody): void {
    this.#registry.requests.tell(m)
  }
}

export const { create } = PageOwner
