import { Abi, withheld } from './abi.ts'
import { fromWire, type WireError } from '../shared/errors.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { run } from './loader.ts'
import { CryptoStore } from './crypto.ts'
import { Platform, type PlatformOptions } from '../fetch/platform.ts'
import type { MakeIoWorker } from '../fetch/io-worker.ts'
import { plain } from '../shared/plaintext.ts'
import type {
  AuthorizeEvent,
  Called,
  Hold,
  ListedTool,
  PinsEvent,
  Question,
  Request,
  StartOptions,
  StateEvent,
  ToolsPart,
} from '../shared/protocol.ts'
import { crashed } from '../shared/restarts.ts'
import { sourceParts } from '../shared/toolparts.ts'
import type { ServerConfig, ToolProgress } from '../shared/types.ts'
import { version } from '../shared/version.ts'

/** The functions of the module. */
interface Module {
  /** Takes the options. The module may call `refused` meanwhile. */
  start(options: string): void
  call(id: number, method: string, params: string): void
  elicited(ask: number, answer: string): void
  exit(): void
}

type Network = Pick<PlatformOptions, 'fetch' | 'early'>

/** The outcome of a request, still without its id. */
export type Reply = { result: unknown } | { error: WireError }

/** Callbacks of the host that started the instance. */
interface InstanceListener {
  /** Ends request id. */
  settle(id: number, reply: Reply): void
  progress(id: number, progress: ToolProgress): void
  /** A call waits for others to end, or does not any more. */
  queued(id: number, waits: boolean): void
  /** The configuration of a server as it is now; null: removed. */
  config(server: string, config: ServerConfig | null): void
  state(event: StateEvent): void
  /** `parts` makes the list in the form for channels that clone messages. Absent for an empty list. */
  tools(server: string, tools: ListedTool[], parts?: () => ToolsPart[]): void
  hints(hints: string): void
  pins(event: PinsEvent): void
  /** A server has a question, during request `call`; 0: the request is unknown. */
  elicit(ask: number, call: number, request: Question): void
  /** A person has to see an authorization page, during request `call`. */
  authorize(ask: number, call: number, request: NonNullable<AuthorizeEvent['request']>): void
  /** The question is withdrawn. */
  unask(ask: number): void
  /** The module has ended, by request or by a crash. `alone` resolves when its IO worker has gone. */
  ended(alone?: Promise<unknown>): void
}

/** Parses JSON from the module and removes hidden characters, which may come from servers. */
const read = (json: string) =>
  JSON.parse(
    json,
    json.includes('\\u') || !/^[\x20-\x7e]*$/.test(json)
      ? (_, v: unknown) => (typeof v === 'string' ? plain(v).text : v)
      : undefined,
  )

/** One run of the module. */
export class Instance {
  readonly #abi = new Abi({
    called: (id, table, isError, durationMs, server, tool) => {
      const answer = this.#platform.tables.takeResult(table) ?? { value: undefined }
      this.#listener.settle(id, { result: { server, tool, isError, durationMs, ...answer } satisfies Called })
    },
    listed: (server, lines, handles) => this.#listed(server, lines, handles),
  })
  readonly #platform: Platform
  readonly #crypto = new CryptoStore()
  #listener!: InstanceListener
  #module: Module | undefined
  #refusal: RegistryError | undefined
  /** The list of each server that was sent last, as a text to compare. */
  readonly #lastSent = new Map<string, string>()

  private constructor(ioWorker: MakeIoWorker | undefined, network: Network) {
    this.#platform = new Platform({ abi: this.#abi, ioWorker, ...network })
  }

  /** Runs a module, which waits for `start`. Rejects if the module has another version, or cannot run. */
  static load(module: WebAssembly.Module, ioWorker?: MakeIoWorker, network: Network = {}): Promise<Instance> {
    return new Promise((resolve, reject) => {
      const instance = new Instance(ioWorker, network)
      run(module, {
        ...instance.#boot(),
        ready: (m: Module, v: string) => {
          if (v === version) {
            instance.#module = m
            return resolve(instance)
          }
          m.exit()
          reject(
            new RegistryError('version_mismatch', `the module is version ${v}, this script ${version}`, {
              hint: 'Serve portolan.wasm from the same package as the script.',
            }),
          )
        },
      }, instance.#abi).catch(reject).then(() => {
        reject(crashed())
        instance.#module = undefined
        instance.#crypto.end()
        const alone = instance.#platform.shut()
        instance.#listener?.ended(alone)
      })
    })
  }

  /** Reports exchanges to `traced` from now on, or to nobody. */
  trace(traced: Platform['traced']): void {
    this.#platform.traced = traced
  }

  /** Gives the module its options, before any request. Throws if the module refuses them. */
  start(options: StartOptions, listener: InstanceListener): void {
    if (!this.#module) throw crashed()
    this.#listener = listener
    this.#module.start(JSON.stringify(options))
    if (!this.#refusal) return
    this.exit()
    throw this.#refusal
  }

  call(id: number, { method, ...params }: Omit<Request, 'id'>): void {
    this.#module?.call(id, method, JSON.stringify(params))
  }

  dispatch(id: number, name: string, args: string, timeoutMs: number, progress: boolean): void {
    this.#abi.dispatch(id, name, args, timeoutMs, progress)
  }

  cancel(id: number): void {
    this.#abi.cancel(id)
  }

  elicited(ask: number, answer: string): void {
    this.#module?.elicited(ask, answer)
  }

  /** The memory of the module, in bytes. It never shrinks. */
  get memory(): number {
    return this.#abi.size
  }

  exit(): void {
    this.#module?.exit()
  }

  #listed(server: string, lines: string[], handles: Uint32Array): void {
    const list: ListedTool[] = []
    const pages: (() => Iterable<ToolsPart>)[] = []
    if (this.#isSent(server, lines, handles)) return
    for (let i = 0; i < lines.length;) {
      const table = handles[2 * i]!
      const page: ListedTool[] = [], indices: number[] = []
      for (; i < lines.length && handles[2 * i] === table; i++) {
        const handle = handles[2 * i + 1]!
        const index = handle % withheld
        const tool = this.#platform.tables.tool(table, index) as ListedTool | undefined
        if (!tool) continue
        const [name, pin, hold] = lines[i]!.split('\t') as [string, string?, string?]
        const flags = this.#platform.tables.flags(table, index)
        tool.name = name
        if (pin) tool.pin = pin
        if (flags) tool.flags = flags
        if (handle !== index) tool.withheld = true
        if (hold) tool.held = JSON.parse(hold) as Hold
        page.push(tool)
        indices.push(index)
      }
      list.push(...page)
      const source = this.#platform.tables.takeSource(table)
      pages.push(() => sourceParts(page, indices, source))
    }
    this.#listener.tools(server, list, pages[0] && (() => pages.flatMap((parts) => [...parts()])))
  }

  /** Reports whether the list is unchanged since it was last sent. */
  #isSent(server: string, lines: string[], handles: Uint32Array): boolean {
    const prints = new Map<number, string | undefined>()
    handles.forEach((table, i) => {
      if (i % 2 === 0) prints.set(table, this.#platform.tables.print(table))
    })
    const before = this.#lastSent.get(server)
    this.#lastSent.delete(server)
    if (!lines.length || [...prints.values()].some((print) => !print)) return false
    const now = JSON.stringify([...prints.values(), lines, [...handles].filter((_, i) => i % 2)])
    this.#lastSent.set(server, now)
    return now === before
  }

  /** The functions that the module calls by name (wasm/internal/bridge). */
  #boot(): Record<string, unknown> {
    return {
      platform: this.#platform,
      crypto: this.#crypto,
      refused: (error: string) => {
        this.#refusal = fromWire(JSON.parse(error))
      },
      reply: (id: number, result: string) => this.#listener.settle(id, { result: JSON.parse(result) }),
      fail: (id: number, error: string) => this.#listener.settle(id, { error: read(error) }),
      progress: (id: number, progress: string) => this.#listener.progress(id, read(progress)),
      queued: (id: number, waits: boolean) => this.#listener.queued(id, waits),
      config: (server: string, config: string) => this.#listener.config(server, config ? JSON.parse(config) : null),
      state: (event: string) => this.#listener.state(read(event)),
      hints: (hints: string) => this.#listener.hints(hints),
      pins: (server: string, key: string, pins: string, fresh: string, byUser: boolean) =>
        this.#listener.pins({ event: 'pins', server, key, pins, fresh: fresh ? fresh.split('\n') : [], byUser }),
      elicit: (ask: number, call: number, server: string, params: string) =>
        this.#listener.elicit(ask, call, { ...read(params), server }),
      authorize: (ask: number, call: number, server: string, about: string) => {
        const [url, host, state, ...resume] = about.split('\n') as [string, string, string, ...string[]]
        this.#listener.authorize(ask, call, { server, url, host, state, resume: resume.join('\n') })
      },
      unask: (ask: number) => this.#listener.unask(ask),
    }
  }
}
