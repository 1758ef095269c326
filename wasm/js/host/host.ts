import { failedState } from '../shared/health.ts'
import { channelPair, type SharingChannel } from '../shared/channel.ts'
import { fromWire, toWire, type WireError } from '../shared/errors.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { Instance, type Reply } from './instance.ts'
import type {
  Attached,
  Begin,
  ListedTool,
  PinsEvent,
  Request,
  StartOptions,
  StateEvent,
  ToHost,
  ToPage,
  ToolsPart,
} from '../shared/protocol.ts'
import { crashed, crashedForGood, Restarts } from '../shared/restarts.ts'
import { toolParts, toolsEvents } from '../shared/toolparts.ts'
import { givePins } from '../shared/pinned.ts'
import { Searches } from './searches.ts'
import type { Early } from '../fetch/early.ts'
import type { MakeIoWorker } from '../fetch/io-worker.ts'
import type { Channel, Root, ServerConfig, ToolProgress } from '../shared/types.ts'
import { version } from '../shared/version.ts'
import { configFields, callTimeoutMs as defaultCallTimeoutMs, limitDefaults } from '../shared/wire.gen.ts'

type Omitted<R> = R extends Request ? Omit<R, 'id'> : never
type Named = Omitted<Request & { name: string }>

const filled = (c: ServerConfig) => Object.keys(c.headers ?? {}).length > 0

/** The shortest time between two replacements of a module for its size, in ms. */
const RENEW_MS = 60_000

/** The longest time until the storage lacks a removed server, in ms, and the most removed servers that are kept. */
const FORGET_MS = 5000, MOST_REMOVED = 1000

/**
 * The id of a request in the module is that of its page, plus this times the number of the page's client. No table is
 * needed to find the page. Client 0 is the host itself.
 */
const CLIENT = 2 ** 32

interface Client {
  readonly channel: SharingChannel
  /** The id of the last request that arrived. */
  last: number
}

/**
 * Owns the module, in a worker or on the page's thread. Any number of channels attach to it and see the same state.
 * A module that crashes is replaced. The new module gets the servers of the old one.
 */
export class Host {
  /** Servers of `begin` that the module refused. */
  refused: Record<string, WireError> = {}

  readonly #wasm: WebAssembly.Module
  /** The first module, which waits for its options. */
  #loaded: Instance | undefined
  /** The requests that left before it. */
  readonly #early: Early | undefined
  #options: StartOptions = {}
  readonly #ioWorker: MakeIoWorker | undefined
  #instance: Instance | undefined
  /** The instance has its servers. */
  #ready = false
  /** The instance replaces another and has not listed all tools again. */
  #listing = false
  readonly #restarts = new Restarts()
  /** A module of more memory is replaced, but not before `#renewAt`, in ms of performance.now(). */
  #memoryBytes: number = limitDefaults.memoryBytes
  #renewAt = 0
  #down: RegistryError | undefined
  #closed = false
  /** A page of this machine uses servers of this machine, which need no network. */
  #online = globalThis.navigator?.onLine !== false || /:\/\/(localhost|127\.)/.test(location.href)
  #discovered = false
  /** The configurations that the module last sent. A new module starts with them. */
  readonly #configs = new Map<string, ServerConfig>()
  /** When servers were removed, in ms since the epoch. A tab that joins may have read them before. */
  readonly #removed = new Map<string, number>()

  readonly #clients = new Map<number, Client>()
  #lastClient = 0
  /** The client that called last, and the one that requested anything last. */
  #caller = 0
  #latest = 0
  #held: [client: number, m: Request][] = []
  /** The host's own requests. */
  readonly #own = new Map<number, (reply: Reply) => void>()
  #lastOwn = 0
  /** Roots that the module has not accepted yet, by request. */
  readonly #newRoots = new Map<number, Root[]>()
  /** The number of requests that have no reply yet, without the lasting ones. */
  #busy = 0
  /** The requests that last until they are cancelled. Their page sends them again to a later module. */
  readonly #lasting = new Set<number>()
  #closing = 0
  /** The last pins of each endpoint. No page may have stored them. */
  readonly #pins = new Map<string, PinsEvent>()
  readonly #searches = new Searches()
  /** The clients that hear of exchanges. */
  readonly #tracers = new Set<number>()
  readonly #asks = new Map<number, { of: Instance; ask: number; client: Channel; event: string }>()
  /** A late answer to a question of an earlier host must not be taken for one of this host. */
  #lastAsk = Math.floor(Math.random() * 2 ** 50)

  readonly #servers = new Map<string, NonNullable<StateEvent['servers'][string]>>()
  readonly #tools = new Map<string, ListedTool[]>()
  #status: StateEvent['status'] = 'idle'

  protected constructor(
    wasm: WebAssembly.Module,
    loaded: Instance,
    ioWorker: MakeIoWorker | undefined,
    early: Early | undefined,
  ) {
    this.#wasm = wasm
    this.#loaded = loaded
    this.#ioWorker = ioWorker
    this.#early = early
  }

  /**
   * Runs a module, which waits for `start`. Rejects if the module has another version, or cannot run. `ioWorker` needs
   * a scope that can start workers. `early` has the requests that left before.
   */
  static async load(wasm: WebAssembly.Module, ioWorker?: MakeIoWorker, early?: Early): Promise<Host> {
    return new Host(wasm, await Instance.load(wasm, ioWorker, { early }), ioWorker, early)
  }

  /** Gives the module its options and servers, once. Rejects if the module refuses the options. */
  async start(options: StartOptions, begin: Begin = { servers: {}, given: [] }): Promise<void> {
    const { memoryBytes = limitDefaults.memoryBytes, ...limits } = options.limits ?? {}
    this.#memoryBytes = memoryBytes
    this.#options = { ...options, limits }
    this.#discovered = !!begin.discovered
    await this.#boot()
    this.refused = await this.#addServers(Object.entries(begin.servers))
  }

  /** Opens a channel for a page on this thread. */
  open(): Channel {
    const [page, end] = channelPair()
    this.attach(end)
    return page
  }

  /** Lets a channel use the registry; the returned function ends that. */
  attach(channel: Channel): () => void {
    const number = ++this.#lastClient
    const client: Client = { channel, last: 0 }
    channel.onmessage = (m) => {
      try {
        this.#receive(number, client, m as ToHost)
      } catch (e) {
        const id = (m as Request | undefined)?.id
        if (typeof id === 'number') channel.post({ id, error: toWire(e) } satisfies ToPage)
      }
    }
    return () => {
      this.#clients.delete(number)
      this.#searches.forget(number)
      if (this.#tracers.delete(number)) this.#trace(this.#instance)
      channel.onmessage = null
      this.#held = this.#held.filter(([of]) => of !== number)
      this.#instance?.cancel(number * CLIENT) // all of its requests
      for (const [id, { of, ask, client, event }] of this.#asks) { // a question may belong to no request
        if (client === channel && this.#asks.delete(id))
          of.elicited(ask, event === 'elicit' ? '{"action":"cancel"}' : '')
      }
      this.#keep() // it may have left before it has stored them
    }
  }

  /** Makes a page store pins that the storage lacks. */
  #keep(): void {
    for (const event of this.#pins.values()) this.#one(0)?.post({ ...event, byUser: false })
  }

  /**
   * Adds the servers of a page that joins later: new servers, servers in the options of its createRegistry, and
   * header values that the module lacks. Stored servers that were removed after the page began are left out; `since` is
   * its timeOrigin.
   */
  async adopt({ servers, given, discovered }: Begin, since: number): Promise<Record<string, WireError>> {
    const refused: Record<string, WireError> = Object.create(null)
    const blank = Object.fromEntries(configFields.slice(1).map((field) => [field, null]))
    for (const [name, config] of Object.entries(servers)) {
      const there = this.#configs.get(name), isGiven = given.includes(name)
      const isGone = (this.#removed.get(name) ?? 0) > since - FORGET_MS
      const lacks = there?.url === config.url && !filled(there) && filled(config)
      if (!isGiven && (there ? !lacks : isGone)) continue
      const next = there && !isGiven ? { ...there, headers: config.headers } : config
      const method = there ? 'updateServer' : 'addServer'
      if (this.#instance)
        await this.#try({ method, name, config: { ...blank, ...next } as ServerConfig } as Named, refused)
      else this.#configs.set(name, next) // the next module begins with it
    }
    if (discovered) this.#list()
    return refused
  }

  /** Ends the module and the host. */
  exit(): void {
    this.#closed = true
    this.#instance?.exit()
  }

  #receive(number: number, client: Client, m: ToHost): void {
    if ('cancel' in m) {
      this.#held = this.#held.filter(([of, { id }]) => of !== number || id !== m.cancel)
      return this.#instance?.cancel(number * CLIENT + m.cancel)
    }
    if ('elicited' in m) {
      const asked = this.#asks.get(m.elicited)
      this.#asks.delete(m.elicited)
      if (asked?.of === this.#instance) asked?.of.elicited(asked.ask, JSON.stringify(m.answer ?? { error: m.error }))
      return
    }
    const { id } = m
    const reply = (reply: Reply) => client.channel.post({ id, ...reply } satisfies ToPage)
    client.last = Math.max(client.last, id)
    this.#latest = number
    if (m.method === 'trace') {
      if (m.on) this.#tracers.add(number)
      else this.#tracers.delete(number)
      this.#trace(this.#instance)
      return reply({ result: null })
    }
    if (m.method === 'attach') return this.#sendState(number, client, id)
    if (m.method === 'index' || m.method === 'search') { // they need no module
      return void this.#searches.perform(number, m).then(
        (result) => reply({ result }),
        (e: unknown) => reply({ error: toWire(e) }),
      )
    }
    if (this.#closed) throw new RegistryError('closed', 'the registry is closed')
    if (this.#down && m.method !== 'close') {
      if (!this.#restarts.allow(m.method === 'retry')) throw this.#down
      this.#down = undefined
      void this.#restart()
    }
    const waits = !this.#ready || (this.#listing && m.method === 'call' && !this.#lists(m.name))
    if (m.method === 'close') this.#closed = true
    else if (waits) return void this.#held.push([number, m])
    if (this.#instance) this.#perform(m, number * CLIENT + id)
    else reply({ result: null }) // closed already
  }

  #perform(m: Omitted<Request>, id: number): void {
    if (m.method === 'subscribeResource' || m.method === 'followLogs') this.#lasting.add(id)
    else this.#busy++
    if (m.method === 'call') {
      this.#caller = Math.floor(id / CLIENT)
      const { attempts, trace, detach, app } = m
      let name = m.name.replaceAll('\n', ' ') // the module takes a second line for options
      if (attempts || trace || detach || app) name += `\n${JSON.stringify({ attempts, trace, detach, app })}`
      return this.#instance!.dispatch(id, name, m.args, m.timeoutMs ?? 0, m.progress)
    }
    if (m.method === 'discover' || m.method === 'retry') this.#discovered = true
    if (m.method === 'online') this.#online = m.online ??= this.#online
    if (m.method === 'setRoots') this.#newRoots.set(id, m.roots)
    if (m.method === 'takePins') (this.#options.pins ??= {})[m.key] = m.pins
    if (m.method === 'close') this.#closing = id
    try {
      this.#instance!.call(id, m)
    } catch (e) {
      if (!this.#lasting.delete(id)) this.#busy-- // no reply comes
      const code = 'config' in m ? 'invalid_config' : 'invalid_option'
      throw new RegistryError(code, `the request is no JSON: ${(e as Error).message}`, {
        hint: 'Use plain objects, texts and numbers.',
      })
    }
  }

  /** A request of the host's own. */
  #ask(m: Omitted<Request>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.#instance) return reject(crashed())
      const id = ++this.#lastOwn
      this.#own.set(id, (reply) => ('error' in reply ? reject(fromWire(reply.error)) : resolve(undefined)))
      this.#perform(m, id)
    })
  }

  /** Makes a request of the host's own about a server, and notes its refusal. */
  #try(m: Named, refused: Record<string, WireError>): Promise<unknown> {
    return this.#ask(m).catch((e: RegistryError) => (refused[m.name] = toWire(e)))
  }

  /** Sends a new client the whole state. */
  #sendState(number: number, client: Client, id: number): void {
    this.#clients.set(number, client)
    const { channel } = client
    for (const [server, tools] of this.#tools) {
      for (const event of toolsEvents(server, toolParts(tools))) channel.post(event)
    }
    this.#keep()
    const gone = [...this.#removed.keys()].map((name) => [name, null] as const)
    channel.post({ event: 'configs', configs: Object.fromEntries([...gone, ...this.#configs]) } satisfies ToPage)
    channel.post(
      {
        event: 'state',
        whole: true,
        status: this.#status,
        servers: Object.fromEntries(this.#servers),
      } satisfies ToPage,
    )
    const { limits, callTimeoutMs } = this.#options
    channel.post(
      {
        id,
        result: {
          version,
          resultBytes: limits?.resultBytes ?? limitDefaults.resultBytes,
          callTimeoutMs: callTimeoutMs ?? defaultCallTimeoutMs,
        } satisfies Attached,
      } satisfies ToPage,
    )
  }

  #trace(instance: Instance | undefined): void {
    instance?.trace(
      this.#tracers.size
        ? (e) => {
          for (const number of this.#tracers) this.#clients.get(number)?.channel.post({ event: 'exchange', ...e })
        }
        : undefined,
    )
  }

  #broadcast(m: ToPage): void {
    for (const { channel } of this.#clients.values()) channel.post(m)
  }

  /** Posts a reply to the client of its request. `of` is the instance that replies. */
  #settle(of: Instance | undefined, id: number, reply: Reply): void {
    if (of === this.#instance && !this.#lasting.delete(id)) this.#busy--
    if (id === this.#closing) return queueMicrotask(() => of?.exit()) // its end is the reply
    const roots = this.#newRoots.get(id)
    if (roots && 'result' in reply) this.#options.roots = roots // a later module begins with them
    this.#newRoots.delete(id)
    this.#own.get(id)?.(reply)
    this.#own.delete(id)
    this.#post(id, reply)
    this.#renew()
  }

  /** Posts what concerns a request to its client. */
  #post(id: number, m: Reply | { progress: ToolProgress } | { waits: boolean }): void {
    this.#clients.get(Math.floor(id / CLIENT))?.channel.post({ id: id % CLIENT, ...m } satisfies ToPage)
  }

  /** Replaces the list of a server. `parts` makes the list in the form for channels that clone messages. */
  #setTools(server: string, tools: ListedTool[], parts?: () => ToolsPart[]): void {
    if (tools.length) this.#tools.set(server, tools)
    else if (!this.#tools.delete(server) && !this.#listing) return // pages may have the list of an older module
    this.#tellTools(server, tools, parts)
    // The module is calling. A request now could wait for a lock of that call, which the module does not survive.
    if (this.#listing) queueMicrotask(() => this.#release())
  }

  #tellTools(server: string, tools: ListedTool[], parts?: () => ToolsPart[]): void {
    for (const { channel } of this.#clients.values()) {
      for (const event of toolsEvents(server, !channel.shares && parts?.() || toolParts(tools))) channel.post(event)
    }
  }

  /** Adds pins to a list that came without them, as a long new list does. */
  #givePins({ server, pins }: PinsEvent): void {
    const tools = this.#tools.get(server)
    if (!tools?.some((t) => !t.pin)) return
    givePins(tools, pins)
    this.#broadcast({ event: 'pinned', server, pins })
  }

  #lists(name: string): boolean {
    return [...this.#tools.values()].flat().some((t) => t.name === name)
  }

  async #boot(): Promise<void> {
    const early = this.#loaded && this.#early?.offer()
    const instance = this.#loaded ?? await Instance.load(this.#wasm, this.#ioWorker)
    this.#loaded = undefined
    this.#trace(instance)
    const current = () => instance === this.#instance // a replaced instance is still ending its sessions
    instance.start(early ? { ...this.#options, early } : this.#options, {
      settle: (id, reply) => this.#settle(instance, id, reply),
      progress: (id, progress) => this.#post(id, { progress }),
      queued: (id, waits) => this.#post(id, { waits }),
      config: (server, config) => {
        if (config) this.#configs.set(server, config)
        else if (this.#configs.delete(server)) {
          this.#removed.delete(server) // the oldest come first
          this.#removed.set(server, performance.timeOrigin + performance.now())
          const [oldest] = this.#removed.keys()
          if (this.#removed.size > MOST_REMOVED) this.#removed.delete(oldest!)
        }
        this.#broadcast({ event: 'configs', configs: { [server]: config } })
      },
      state: (event) => {
        if (current()) this.#state(event)
      },
      tools: (server, tools, parts) => {
        if (current()) this.#setTools(server, tools, parts)
      },
      hints: (hints) => {
        this.#options.hints = hints
        this.#broadcast({ event: 'hints', hints })
      },
      pins: (event) => {
        ;(this.#options.pins ??= {})[event.key] = event.pins
        this.#givePins(event)
        this.#pins.set(event.key, event)
        this.#one(this.#latest)?.post(event)
      },
      elicit: (ask, call, request) =>
        this.#askClient(instance, ask, call, (ask) => ({ event: 'elicit', ask, during: call % CLIENT, request })),
      authorize: (ask, call, request) =>
        this.#askClient(instance, ask, call, (ask) => ({ event: 'authorize', ask, request })),
      unask: (ask) => {
        for (const [id, a] of this.#asks) if (a.of === instance && a.ask === ask) this.#forget(id)
      },
      ended: (alone) => {
        if (current()) this.#ended(alone)
      },
    })
    this.#instance = instance
    if (this.#closed) instance.exit()
  }

  /** Gives a new module its servers, and lists their tools if the old module had. */
  async #addServers(servers: Iterable<[string, ServerConfig]>): Promise<Record<string, WireError>> {
    const refused: Record<string, WireError> = Object.create(null)
    const instance = this.#instance
    await Promise.all(
      [...servers].map(([name, config]) => this.#try({ method: 'addServer', name, config }, refused)),
    )
    if (!this.#online) await this.#ask({ method: 'online', online: false }).catch(() => {})
    if (instance !== this.#instance) return refused
    this.#ready = true
    if (this.#discovered) this.#list()
    this.#release()
    return refused
  }

  /** Lists all servers again. Calls of tools that are not listed yet wait for it. */
  #list(): void {
    const instance = this.#instance
    this.#listing = true
    this.#ask({ method: 'discover' }).catch(() => {}).then(() => {
      if (instance !== this.#instance) return
      this.#listing = false
      for (const server of this.#configs.keys()) if (!this.#tools.has(server)) this.#tellTools(server, [])
      this.#release()
    })
  }

  /** Handles the held requests. */
  #release(): void {
    for (const [client, m] of this.#held.splice(0)) this.#clients.get(client)?.channel.onmessage?.(m)
  }

  /** The module has ended, or could not be started again. `alone` resolves when its IO worker has gone. */
  #ended(alone?: Promise<unknown>): void {
    this.#instance = undefined
    this.#ready = this.#listing = false
    for (const id of this.#asks.keys()) this.#forget(id)
    this.#newRoots.clear()
    if (this.#closed) {
      // The page ends this worker then. Chromium leaks two workers that end at the same time, one of the other.
      return void Promise.resolve(alone).then(() => this.#fail(new RegistryError('closed', 'the registry is closed')))
    }
    this.#fail(crashed())
    this.#tools.clear()
    if (this.#restarts.allow()) return void this.#restart()
    this.#down = crashedForGood()
    this.#release() // they are refused
    for (const [server] of this.#servers) this.#tellTools(server, [])
    this.#state(failedState(this.#servers, this.#down))
  }

  async #restart(): Promise<void> {
    try {
      await this.#boot()
    } catch {
      return this.#ended()
    }
    await this.#addServers(this.#configs)
  }

  /**
   * Replaces a module whose memory has grown too large, because memory of a module never shrinks. Only lasting requests
   * may be under way, and a minute has to pass between two replacements.
   */
  #renew(): void {
    const old = this.#instance
    if (!old || !this.#ready || this.#listing || this.#closed || this.#busy || this.#asks.size) return
    if (old.memory <= this.#memoryBytes || performance.now() < this.#renewAt) return
    this.#renewAt = performance.now() + RENEW_MS
    this.#ready = false
    this.#instance = undefined
    this.#tools.clear()
    for (const id of this.#lasting) this.#settle(undefined, id, { error: toWire(crashed()) }) // their pages ask again
    const id = ++this.#lastOwn
    this.#own.set(id, () => queueMicrotask(() => old.exit())) // after its reply
    old.call(id, { method: 'close' })
    void this.#restart()
  }

  /** Ends all requests that have no reply, except held ones. */
  #fail(e: RegistryError): void {
    const error = toWire(e)
    this.#busy = 0
    this.#lasting.clear()
    for (const [id, settle] of this.#own) {
      this.#own.delete(id)
      settle({ error })
    }
    for (const [number, { channel, last }] of this.#clients) {
      const held = this.#held.filter(([of]) => of === number).map(([, { id }]) => id)
      channel.post({ event: 'lost', upTo: last, held, error } satisfies ToPage)
    }
  }

  #state(event: StateEvent): void {
    this.#status = event.status
    for (const [name, s] of Object.entries(event.servers)) {
      if (s) this.#servers.set(name, s)
      else this.#servers.delete(name)
    }
    this.#broadcast(event)
  }

  /** The channel of that client or, if it has left, of any other. */
  #one(client: number): Channel | undefined {
    return (this.#clients.get(client) ?? [...this.#clients.values()][0])?.channel
  }

  /** Sends a question to the client of the call. If the call is unknown, the client that called last gets it. */
  #askClient(
    of: Instance,
    ask: number,
    call: number,
    event: (ask: number) => Extract<ToPage, { ask: number }>,
  ): void {
    const client = this.#clients.get(Math.floor(call / CLIENT))?.channel ?? this.#one(this.#caller)
    if (!client) return of.elicited(ask, '')
    const id = ++this.#lastAsk
    const asks = event(id)
    this.#asks.set(id, { of, ask, client, event: asks.event })
    client.post(asks)
  }

  /** Withdraws a question from its client. */
  #forget(id: number): void {
    const asked = this.#asks.get(id)
    asked?.client.post({ event: asked.event, ask: id } as ToPage)
    this.#asks.delete(id)
  }
}
