import { maskSecrets } from '../shared/leaks.ts'
import { readArguments } from './key.ts'
import { opened } from '../shared/answer.ts'
import { Redaction } from '../shared/redaction.ts'
import type { Tape, TapedCall } from './tape.ts'
import type { Recording, RecordOptions, RedactContext } from './types.ts'
import type { StartedHost } from '../shared/launching.ts'
import type { Begin, Called, ListedTool, ToHost, ToPage, ToolsEvent } from '../shared/protocol.ts'
import type { Channel, ServerHealth, ToolDefinition } from '../shared/types.ts'

const defaultBytes = 10 << 20

/** Records the messages between page and host. */
export class Recorder implements Recording {
  readonly #redaction: Redaction<RedactContext>
  readonly #maxBytes: number
  #bytes = 0
  readonly #health = new Map<string, ServerHealth>()
  /** The parts of each server's list. */
  readonly #lists = new Map<string, ToolsEvent[]>()
  readonly #taped: TapedCall[] = []
  full = false

  constructor({ redact, maxBytes = defaultBytes }: RecordOptions) {
    this.#redaction = new Redaction(redact, maskSecrets)
    this.#maxBytes = maxBytes
  }

  async open(start: () => Promise<StartedHost>, begin: Promise<Begin>): Promise<StartedHost> {
    for (const config of Object.values((await begin).servers)) this.#redaction.learn(config)
    const opened = await start()
    return { ...opened, channel: this.#listen(opened.channel) }
  }

  get calls(): number {
    return this.#taped.filter(over).length
  }

  text(): string {
    const servers: Tape['servers'] = {}
    for (const [name, health] of this.#health)
      servers[name] = { health: this.#redaction.value(health, { tool: '', part: 'error' }), tools: this.#tools(name) }
    return JSON.stringify(
      {
        portolan: 'cassette',
        version: 1,
        servers,
        calls: this.#taped.filter(over),
        ...(this.full && { full: true }),
      } satisfies Tape,
      null,
      1,
    )
  }

  #listen(inner: Channel): Channel {
    const open = new Map<number, TapedCall>()
    const outer: Channel = {
      onmessage: null,
      post: (message) => {
        try {
          this.#asked(message as ToHost, open)
        } catch (e) {
          console.error(e) // the hook failed: the call goes on, and is not recorded
        }
        inner.post(message)
      },
      close: () => inner.close(),
    }
    inner.onmessage = (message) => {
      try {
        this.#received(message as ToPage, open)
      } catch (e) {
        console.error(e) // of the hook, or of a result that is no JSON: the call goes on, and is not recorded
      }
      outer.onmessage?.(message)
    }
    return outer
  }

  #asked(m: ToHost, open: Map<number, TapedCall>): void {
    if ('cancel' in m) return void open.delete(m.cancel)
    if (!('method' in m)) return
    if (m.method === 'addServer' || m.method === 'updateServer') this.#redaction.learn(m.config)
    if (m.method !== 'call') return
    const call: TapedCall = {
      tool: m.name,
      arguments: this.#redaction.value(readArguments(m.args), { tool: m.name, part: 'arguments' }),
    }
    if (!this.#room(call)) return
    this.#taped.push(call)
    open.set(m.id, call)
  }

  #received(m: ToPage, open: Map<number, TapedCall>): void {
    if ('id' in m) {
      const call = open.get(m.id)
      if (!call) return
      const { tool } = call
      if ('progress' in m) {
        const progress = this.#redaction.value(m.progress, { tool, part: 'progress' })
        if (this.#room(progress)) (call.progress ??= []).push(progress)
        return
      }
      if ('waits' in m) return
      open.delete(m.id)
      const rest: Partial<TapedCall> = 'error' in m
        ? { error: this.#redaction.value(m.error, { tool, part: 'error' }) }
        : { result: this.#result(m.result as Called, tool) }
      if (this.#room(rest)) Object.assign(call, rest)
    } else if (m.event === 'lost') {
      for (const id of [...open.keys()])
        if (id <= m.upTo && !m.held.includes(id)) this.#received({ id, error: m.error }, open)
    } else if (m.event === 'configs') {
      for (const config of Object.values(m.configs)) if (config) this.#redaction.learn(config) // also of other tabs
    } else if (m.event === 'tools') {
      if (m.first) this.#lists.set(m.server, [])
      this.#lists.get(m.server)?.push(m)
    } else if (m.event === 'state') {
      for (const [name, s] of Object.entries(m.servers)) {
        if (!s) continue // a removed server stays on the tape
        const { config: _, ...health } = s
        if (health.status === 'connected' || !this.#health.has(name)) this.#health.set(name, health)
      }
    }
  }

  #result(called: Called, tool: string): Called {
    const { value: said, raw } = opened(called)
    const value = this.#redaction.value(said, { tool, part: 'result' })
    const { server, isError, durationMs } = called
    return {
      server,
      tool: called.tool,
      isError,
      durationMs,
      value,
      // Secrets may stand in it with escapes.
      ...(raw !== undefined && this.#redaction.allows(raw) && JSON.stringify(value) === JSON.stringify(said) &&
        { raw }),
    }
  }

  #tools(server: string): ListedTool[] {
    const list = (this.#lists.get(server) ?? []).flatMap((part): ListedTool[] => {
      if ('tools' in part) return part.tools
      const { tools } = (JSON.parse(part.text) as { result: { tools: ToolDefinition[] } }).result
      return part.names.map((name, i) => ({
        name,
        tool: tools[part.places[i]!]!.name,
        definition: tools[part.places[i]!]!,
        ...(part.marks[i]?.held && { held: part.marks[i].held }),
      }))
    })
    return list.map(({ name, tool, definition }) => ({
      name,
      tool,
      definition: this.#redaction.value(definition, { tool: name, part: 'definition' }),
    }))
  }

  /** Counts the size of a part. False if the tape is full. */
  #room(part: unknown): boolean {
    const size = JSON.stringify(part)?.length ?? 0
    if (this.#bytes + size > this.#maxBytes) this.full = true
    else this.#bytes += size
    return !this.full
  }
}

const over = (call: TapedCall) => !!call.result || !!call.error
