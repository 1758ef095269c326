import { copied } from '../shared/copied.ts'
import type { ExchangeEvent } from '../shared/protocol.ts'
import { exactText, isObject, legible, mayLoseDigits } from '../shared/json.ts'
import { endpointOf, originOf } from '../shared/origin.ts'
import { Redaction } from '../shared/redaction.ts'
import type {
  Activity,
  DispatchOptions,
  ErrorCode,
  LogEntry,
  ObserveOptions,
  ServerConfig,
  ServerHealth,
  Snapshot,
  ToolResult,
} from '../shared/types.ts'
import { argumentText } from './checkrequest.ts'
import type { Offers } from './offers/offers.ts'
import { shielded } from './requests.ts'

type Servers = Snapshot['servers']
type Ending = Pick<Activity, 'durationMs' | 'parts' | 'outcome' | 'errorCode' | 'message' | 'answer'>

/** A connection under way. `connected` is the time at which the list began, in ms since the epoch. */
interface Connecting {
  id: number
  at: number
  lastSuccessful: number | null
  connected?: number
}

/** The longest message, in characters. */
const longestMessage = 500

/** The longest arguments and answers, in characters. */
const longestContent = 64 << 10

/** The number of the last activity. An observer may hear the end of one that began before all others left. */
let last = 0

/** Reports the activities of a registry to observers. */
export class Activities {
  readonly #listeners: ReadonlyMap<(a: Activity) => void, ObserveOptions>
  readonly #configs: () => Iterable<ServerConfig>
  readonly #mask: ((text: string) => string) | undefined
  readonly #connecting = new Map<string, Connecting>()
  /** Exchanges under way: the numbers of their activities. */
  readonly #exchanges = new Map<number, number>()
  /** Ends the messages of logs, while a listener wants them. */
  #logging: AbortController | undefined

  /**
   * `configs` returns the configurations whose secrets contents must not have. `mask` removes from a text what looks
   * like a secret.
   */
  constructor(
    listeners: ReadonlyMap<(a: Activity) => void, ObserveOptions>,
    configs: () => Iterable<ServerConfig>,
    mask?: (text: string) => string,
  ) {
    this.#listeners = listeners
    this.#configs = configs
    this.#mask = mask
  }

  /** Reports the messages of the servers' logs while `on`. */
  follow(on: boolean, offers: () => Promise<Pick<Offers, 'follow'>>): void {
    if (!on) {
      this.#logging?.abort()
      this.#logging = undefined
    } else if (!this.#logging) {
      const { signal } = this.#logging = new AbortController()
      offers().then((o) => o.follow(signal, (log) => this.#log(log))).catch(() => {})
    }
  }

  #log(log: LogEntry): void {
    this.#tell({ id: ++last, kind: 'log', server: log.server, phase: 'end', at: log.at, log })
  }

  /** Runs a call and reports it. */
  async call(
    server: string,
    tool: string,
    args: unknown,
    options: DispatchOptions,
    run: (o: DispatchOptions, id: number) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const id = ++last, began = performance.now()
    const about = { id, kind: 'call', server, tool } as const
    const end = (e: Ending) =>
      this.#tell({ ...about, phase: 'end', at: Date.now(), durationMs: performance.now() - began, ...e })
    this.#tell({ ...about, phase: 'begin', at: Date.now(), ...this.#content('args', () => readable(args), args) })
    try {
      const result = await run({
        ...options,
        onProgress: (progress) => {
          this.#tell({ ...about, phase: 'progress', at: Date.now(), progress, ...message(progress.message) })
          options.onProgress?.(progress)
        },
      }, id)
      const durationMs = performance.now() - began
      const ms = Math.min(result.durationMs, durationMs)
      end({
        durationMs,
        outcome: result.isError ? 'tool_error' : 'ok',
        parts: [{ name: 'waiting', ms: durationMs - ms }, { name: 'server', ms }],
        ...this.#content('answer', () => {
          const { content, structuredContent, isError, text } = result
          if (text.length <= longestContent) return { content, structuredContent, isError }
          return { content: [{ type: 'text', text: text.slice(0, longestContent) }], isError }
        }, exactAnswer(result)),
      })
      return result
    } catch (e) {
      const { code, message: text } = e as { code?: ErrorCode; message?: string }
      end({ outcome: code === 'aborted' ? 'cancelled' : 'error', errorCode: code, ...message(text) })
      throw e
    }
  }

  /** Reports an HTTP exchange. Its server is the one with that URL, or else one of that origin. */
  exchange({ exchangeId: id, phase, at, durationMs, exchange }: ExchangeEvent, servers: Servers): void {
    // A module counts its exchanges from the start, and those of one whose worker died have no end.
    const number = (phase === 'end' && this.#exchanges.get(id)) || ++last
    if (phase === 'end') this.#exchanges.delete(id)
    else this.#exchanges.set(id, number)
    const places = [exchange.url, ...new URL(exchange.url, 'http://localhost').searchParams.values()]
    const of = (same: (place: string, url: string) => boolean) =>
      Object.keys(servers).find((name) => places.some((place) => same(place, servers[name]!.config.url)))
    const server = of((place, url) => endpointOf(place) === endpointOf(url)) ??
      of((place, url) => originOf(place) === originOf(url)) ?? ''
    this.#tell({
      id: number,
      kind: 'exchange',
      server,
      phase,
      at,
      exchange,
      ...(durationMs !== undefined && { durationMs, outcome: (exchange.status ?? 500) < 400 ? 'ok' : 'error' }),
    })
  }

  /** A member with a content as JSON text, if a listener wants contents. `given` may be the text of the value. */
  #content<K extends 'args' | 'answer'>(name: K, make: () => unknown, given?: unknown): { [key in K]?: string } {
    if (![...this.#listeners.values()].some((o) => o.contents)) return {}
    const redaction = new Redaction(undefined, this.#mask)
    for (const config of this.#configs()) redaction.learn(config)
    const value = make()
    let text = JSON.stringify(redaction.value(value, undefined)) ?? ''
    const isExact = typeof given === 'string' && isObject(value) && mayLoseDigits(given) && redaction.allows(given)
    if (isExact && text === JSON.stringify(value)) text = given // its numbers have all their digits
    const shown = text.length > longestContent ? copied(`${text.slice(0, longestContent)}…`) : text
    return { [name]: shown } as { [key in K]?: string }
  }

  /** Reports connections that began, changed or ended between two states. */
  states(before: Servers, after: Servers): void {
    for (const [server, now] of Object.entries(after))
      if (now !== before[server]) this.#state(server, before[server], now)
    for (const server of this.#connecting.keys()) if (!after[server]) this.#connected(server, { outcome: 'cancelled' })
  }

  #state(server: string, before: ServerHealth | undefined, now: ServerHealth): void {
    const at = Date.now()
    let open = this.#connecting.get(server)
    // A fast connection may be over, or have failed, in its first state.
    const made = now.lastConnected !== null && now.lastConnected !== (before?.lastConnected ?? null)
    const failed = now.status === 'error' && now.errorCode !== 'closed' && before && before.status !== 'connected' &&
      (now.lastError !== before.lastError || now.consecutiveFailures > before.consecutiveFailures)
    if (!open && (now.status === 'connecting' || made || failed)) {
      open = { id: ++last, at, lastSuccessful: before?.lastSuccessful ?? null }
      this.#connecting.set(server, open)
      this.#tell({ id: open.id, kind: 'connection', server, phase: 'begin', at })
    }
    if (!open) return
    if (now.status === 'connecting') {
      if (made) open.connected ??= at // its list is under way
      return
    }
    if (now.status === 'error')
      return this.#connected(server, {
        outcome: 'error',
        errorCode: now.errorCode,
        ...message(now.lastError ?? undefined),
      })
    if (now.status !== 'connected') return this.#connected(server, { outcome: 'cancelled' })
    if (now.lastSuccessful === open.lastSuccessful) {
      open.connected ??= at
      return
    }
    const list = Math.min(open.connected === undefined ? now.latencyMs ?? 0 : at - open.connected, at - open.at)
    this.#connected(server, {
      durationMs: at - open.at,
      outcome: 'ok',
      parts: [{ name: 'connect', ms: at - open.at - list }, { name: 'list', ms: list }],
    })
  }

  #connected(server: string, e: Ending): void {
    const { id, at } = this.#connecting.get(server)!
    this.#connecting.delete(server)
    this.#tell({ id, kind: 'connection', server, phase: 'end', at: Date.now(), durationMs: Date.now() - at, ...e })
  }

  /** Calls the listeners. An exception of one becomes an uncaught error of the page. */
  #tell(a: Activity): void {
    const { args: _, answer: __, ...bare } = a
    for (const [listener, { contents, exchanges, logs }] of [...this.#listeners]) {
      if (a.kind === 'exchange' && !exchanges || a.kind === 'log' && !logs) continue
      shielded(() => listener(contents ? a : bare))
    }
  }
}

const message = (text: string | undefined) => (text ? { message: text.slice(0, longestMessage) } : {})

/** The JSON text of an answer whose structured content lost digits, if one of its texts has them. */
function exactAnswer({ content, structuredContent, isError, text }: ToolResult): string | undefined {
  if (structuredContent === undefined || text.length > longestContent) return undefined
  const exact = exactText(structuredContent, [text, ...content.map((block) => block['text'])])
  return exact && `{"content":${JSON.stringify(content)},"structuredContent":${exact},"isError":${isError}}`
}

/** The arguments of a call as a value. Any other text than JSON is shown as it is. */
function readable(args: unknown): unknown {
  try {
    return legible(argumentText(args))
  } catch {
    return typeof args === 'string' ? args : null
  }
}
