import type { SharingChannel } from './channel.ts'
import { Crossing, withheld } from './crossing.ts'
import { fromWire, RegistryError, toWire } from './errors.ts'
import { run } from './loader.ts'
import { Plane } from './plane.ts'
import type { Attached, Called, ListedTool, Request, StartOptions, StateEvent, ToHost, ToPage, ToolsPart } from './protocol.ts'
import { toolParts, toolsEvents } from './toolparts.ts'
import type { Channel, ToolDefinition } from './types.ts'
import { version } from './version.ts'

/** The functions that the module puts into the boot object's hands. */
interface Module {
  call(id: number, method: string, params: string): void
  elicited(ask: number, answer: string | null): void
  exit(): void
}

/** A longer text would be a long task to parse at once: 1 Mi characters take about 7 ms. */
const longestText = 1 << 20

interface Asked { client: Channel; id: number }

/**
 * The module and those who use it. A host runs beside the module, in a worker or
 * on the main thread; any number of channels attach to it and see the same state.
 */
export class Host {
  /** What a realm without import() needs beside the host; see parts.ts. */
  static parts: unknown

  private readonly crossing = new Crossing({
    called: (id, table, isError, durationMs, server, tool) => {
      const taken = this.plane.takeResult(table)
      this.settle(id, (id) => ({ id, result: { server, tool, isError, durationMs, value: taken?.value, raw: taken?.raw } satisfies Called }))
    },
    listed: (server, names, handles) => {
      const list: ListedTool[] = []
      const parts: ToolsPart[] = []
      for (let i = 0; i < names.length;) {
        const table = handles[2 * i]!
        const source = this.plane.takeSource(table)
        const some: ListedTool[] = [], places: number[] = [], left: number[] = []
        for (; i < names.length && handles[2 * i] === table; i++) {
          const handle = handles[2 * i + 1]!
          const index = handle % withheld
          const definition = this.plane.tool(table, index) as ToolDefinition | undefined
          if (!definition) continue
          if (handle !== index) left.push(some.length)
          some.push({ name: names[i]!, tool: definition.name, definition, ...(handle !== index && { withheld: true }) })
          places.push(source?.places[index] ?? -1)
        }
        list.push(...some)
        if (source && source.text.length <= longestText) parts.push({ text: source.text, names: some.map((t) => t.name), places, withheld: left })
        else parts.push(...toolParts(some))
      }
      this.setTools(server, list, parts)
    },
  })
  private readonly plane = new Plane({ crossing: this.crossing })
  private readonly clients = new Set<SharingChannel>()
  private readonly asked = new Map<number, Asked>()
  private readonly servers = new Map<string, StateEvent['servers'][string]>()
  private readonly tools = new Map<string, ListedTool[]>()
  private status: StateEvent['status'] = 'idle'
  private last = 0
  private module!: Module
  private crash: RegistryError | undefined
  private closing = 0
  private readonly attached: Attached

  private constructor(attached: Attached) {
    this.attached = attached
  }

  /** Starts a module. Rejects if it refuses the options, is of another version, or cannot run. */
  static async start(module: WebAssembly.Module, options: StartOptions): Promise<Host> {
    const host = new Host({
      version,
      resultBytes: options.limits?.resultBytes ?? 1 << 20,
      callTimeoutMs: options.callTimeoutMs ?? 120_000,
    })
    await new Promise<void>((resolve, reject) => {
      run(module, {
        ...host.boot(options),
        ready: (m: Module, v: string) => {
          host.module = m
          if (v === version) return resolve()
          m.exit()
          reject(new RegistryError('version_mismatch', `the module is version ${v}, this script ${version}`, {
            hint: 'Serve portolan.wasm from the same package as the script.',
          }))
        },
        refused: (error: string) => reject(fromWire(JSON.parse(error))),
      }, host.crossing).then(
        () => {
          const e = new RegistryError('runtime_crashed', 'the module has stopped', { retryable: true, hint: 'Create the registry again.' })
          reject(e)
          host.crashed(e)
        },
        reject,
      )
    })
    return host
  }

  /** Lets a channel use the registry; the returned function ends that. */
  attach(client: Channel): () => void {
    client.onmessage = (m) => {
      try {
        this.receive(client, m as ToHost)
      } catch (e) {
        const id = (m as Request | undefined)?.id
        if (typeof id === 'number') client.post({ id, error: toWire(e) } satisfies ToPage)
      }
    }
    return () => this.detach(client)
  }

  private detach(client: Channel): void {
    this.clients.delete(client)
    client.onmessage = null
    for (const [id, asked] of this.asked) {
      if (asked.client === client) this.crossing.cancel(id)
    }
  }

  private receive(client: Channel, m: ToHost): void {
    if ('cancel' in m) return this.cancel(client, m.cancel)
    if ('elicited' in m) return this.module.elicited(m.elicited, m.answer ? JSON.stringify(m.answer) : null)
    if (m.method === 'attach') return this.welcome(client, m.id)
    if (this.crash) throw this.crash
    const id = ++this.last
    this.asked.set(id, { client, id: m.id })
    if (m.method === 'call') return this.crossing.dispatch(id, m.name, m.args, m.timeoutMs ?? 0, m.progress)
    const { id: _, method, ...params } = m
    if (method === 'close') this.closing = id
    this.module.call(id, method, JSON.stringify(params))
  }

  private cancel(client: Channel, id: number): void {
    for (const [own, asked] of this.asked) {
      if (asked.client === client && asked.id === id) return this.crossing.cancel(own)
    }
  }

  /** Tells a new client all that the others know. */
  private welcome(client: Channel, id: number): void {
    if (this.crash) throw this.crash
    this.clients.add(client)
    for (const [server, tools] of this.tools) {
      for (const event of toolsEvents(server, toolParts(tools))) client.post(event)
    }
    client.post({ event: 'state', status: this.status, servers: Object.fromEntries(this.servers) } satisfies ToPage)
    client.post({ id, result: this.attached } satisfies ToPage)
  }

  private broadcast(m: ToPage): void {
    for (const client of this.clients) client.post(m)
  }

  private settle(id: number, message: (id: number) => ToPage): void {
    const asked = this.asked.get(id)
    this.asked.delete(id)
    if (id === this.closing) queueMicrotask(() => this.module.exit())
    if (asked) asked.client.post(message(asked.id))
  }

  /** `parts` is the list for those whose messages are cloned. */
  private setTools(server: string, tools: ListedTool[], parts: ToolsPart[]): void {
    if (tools.length) this.tools.set(server, tools)
    else if (!this.tools.delete(server)) return
    for (const client of this.clients) {
      for (const event of toolsEvents(server, client.shares || !parts.length ? toolParts(tools) : parts)) client.post(event)
    }
  }

  private crashed(e: RegistryError): void {
    this.plane.shut()
    this.crash = this.closing ? new RegistryError('closed', 'the registry is closed') : e
    if (this.closing) return
    for (const id of this.asked.keys()) this.settle(id, (id) => ({ id, error: toWire(e) }))
    this.broadcast({ event: 'crashed', error: toWire(e) })
  }

  /** What the module calls, by name (jsbridge). */
  private boot(options: StartOptions): Record<string, unknown> {
    return {
      options: JSON.stringify(options),
      plane: this.plane,
      reply: (id: number, result: string) => this.settle(id, (id) => ({ id, result: JSON.parse(result) })),
      fail: (id: number, error: string) => this.settle(id, (id) => ({ id, error: JSON.parse(error) })),
      calledText: (id: number, meta: string, text: string) =>
        this.settle(id, (id) => ({ id, result: { ...JSON.parse(meta), value: JSON.parse(text), raw: text } satisfies Called })),
      progress: (id: number, progress: string) => {
        const asked = this.asked.get(id)
        asked?.client.post({ id: asked.id, progress: JSON.parse(progress) } satisfies ToPage)
      },
      state: (event: string) => {
        const state = JSON.parse(event) as StateEvent
        this.status = state.status
        for (const [name, s] of Object.entries(state.servers)) {
          if (s) this.servers.set(name, s)
          else this.servers.delete(name)
        }
        this.broadcast(state)
      },
      toolsText: (server: string, text: string) => this.setTools(server, JSON.parse(text), []),
      hints: (hints: string) => this.broadcast({ event: 'hints', hints }),
      elicit: (ask: number, server: string, params: string) => {
        const [owner] = this.clients
        if (!owner) return this.module.elicited(ask, null)
        owner.post({ event: 'elicit', ask, request: { ...JSON.parse(params), server } } satisfies ToPage)
      },
    }
  }
}
