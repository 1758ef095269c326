// The platform of registry/client in JavaScript: fetch, framing and JSON.parse for the module. It makes no decisions of
// the protocol. registry/client/platform.go is the contract. It needs no DOM and runs in workers and in Node 20.

import { BodyTooLarge, type Json, type JsonBounds, NotJson, parseJson, readJson, readStart } from './body.ts'
import { BodyReader } from './buffers.ts'
import { type Early, requestOf } from './early.ts'
import { type Bounds, type Deliver, Flag, Kind, Op, type Start, Why } from './events.ts'
import { type Emit, MESSAGE_CHARS, passes, type Reader, readListed, readMessages, readPassed } from './messages.ts'
import { Tables } from './tables.ts'
import { RateLimit, nextSecond } from './rate-limit.ts'
import type { FromIoWorker, IoWorker, MakeIoWorker } from './io-worker.ts'
import { secretsOf, ToolsReader } from './tools.ts'
import { Uploads } from './upload.ts'
import { SseScanner } from './sse.ts'
import { Trace } from './trace.ts'
import type { ExchangeEvent } from '../shared/protocol.ts'
import { worked } from '../shared/yield.ts'
import { limitDefaults } from '../shared/wire.gen.ts'

/** The calls of the platform to the module. */
interface ModuleCalls {
  /** Registers the platform under a number, by which the module calls it. */
  join(platform: Platform, number: number): void
  deliver(platform: number, ...event: Parameters<Deliver>): void
}

export interface PlatformOptions {
  /** Default: the global fetch at the time of each request. */
  fetch?: typeof fetch
  /** The module's memory and functions, which host/abi.ts implements. */
  abi?: ModuleCalls
  /** Makes the IO worker for servers with large responses. Absent if no worker can be started. */
  ioWorker?: MakeIoWorker | undefined
  /** Requests that left before. */
  early?: Early | undefined
}

/** The server that demo.ts is. */
export const demoUrl = 'builtin:demo'

const WANT_HEAD = 1, ONCE = 2, WHOLE = 4

/** A server with a larger body uses the IO worker from then on, in bytes. */
const HEAVY_BYTES = 2 << 20

/** The largest body of a WHOLE exchange, in bytes. */
const WHOLE_BYTES = 256 << 10

/** The bounds of reading on after the response that an exchange awaited. */
const DRAIN_BYTES = 64 << 10, DRAIN_MS = 1000

/** The time that requests without response get after shut(). */
const SHUT_MS = 500

/**
 * The longest list that a worker parses as one, in bytes, which costs less than tool by tool. A page's thread has to
 * stay free, and reads all long lists tool by tool.
 */
const WHOLE_LIST_BYTES = 8 << 20

/** The levels around a tool: batch, message, result, list. */
const ENVELOPE = 4

/** Response headers that Go reads. */
const HEADERS = [
  'mcp-session-id',
  'content-type',
  'retry-after',
  'www-authenticate',
  'dpop-nonce',
  'x-proxy-error',
  'x-portolan-binding',
]

interface Exchange {
  readonly id: number
  readonly group: number
  readonly awaits: number
  readonly url: string
  /** It awaits no response and is no stream: a notification, or the end of a session. */
  readonly sends: boolean
  readonly flags: number
  readonly headers: [name: string, value: string][]
  abort: AbortController
  /** The reader of the body, once it is open. */
  reader?: BodyReader
  over: boolean
  /** The IO worker runs it. */
  away: boolean
  /** The end of reading on, in ms of performance.now(). */
  until: number
}

export class Platform {
  deliver: Deliver = () => {}
  /** Receives reports of exchanges while an app observes them. */
  traced: ((e: Omit<ExchangeEvent, 'event'>) => void) | undefined
  /** The values behind the handles of events. */
  readonly tables = new Tables()

  readonly #fetch: typeof fetch
  readonly #abi: ModuleCalls | undefined
  readonly #live = new Map<number, Exchange>()
  readonly #draining = new Set<Exchange>()
  #sweeper = false
  readonly #rates = new RateLimit()
  readonly #uploads: Uploads
  readonly #ioWorker: IoWorker | undefined
  readonly #early: Early | undefined
  #bounds: Bounds = limitDefaults

  constructor(options: PlatformOptions = {}) {
    const network = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.#fetch = async (input, init) =>
      input === demoUrl ? (await import('./demo.ts')).demo(init!) : network(input, init)
    this.#uploads = new Uploads(this.#fetch)
    this.#abi = options.abi
    this.#early = options.early
    this.#ioWorker = options.ioWorker?.({
      deliver: (m) => this.#hear(m),
      lost: (id) => this.#end(this.#live.get(id), Why.Network, 'the response broke off'),
      refused: ({ id, head, json }) => this.#here(this.#live.get(id), head.split('\n'), json),
    })
  }

  /** Drops a table. Unknown tables are ignored. */
  release(table: number): void {
    this.tables.release(table)
  }

  /** The numbers of tables and exchanges, for tests of leaks. */
  get held(): { tables: number; exchanges: number } {
    return { tables: this.tables.size, exchanges: this.#live.size + this.#draining.size }
  }

  // registry/client/browser calls the methods from here on.

  /** Takes the JSON text of all limits. */
  bound(limits: string): void {
    this.limit(JSON.parse(limits) as Bounds)
  }

  limit(bounds: Bounds): void {
    this.#bounds = bounds
    this.#ioWorker?.limit(bounds)
  }

  resolve(base: string, ref: string): string | undefined {
    if (base === demoUrl && !ref) return `${demoUrl}\n${demoUrl}`
    try {
      const url = new URL(ref, base)
      url.hash = ''
      if (url.username || url.password) return undefined
      return url.protocol === 'http:' || url.protocol === 'https:' ? `${url.origin}\n${url.href}` : undefined
    } catch {
      return undefined
    }
  }

  text(table: number, index: number): string | undefined {
    return this.tables.text(table, index)
  }

  pin(table: number, index: number): string {
    return this.tables.pin(table, index)
  }

  /** `done` gets whether a tool is risky. */
  risky(table: number, index: number, done: (risky: boolean) => void): void {
    this.tables.risky(table, index).catch(() => true).then(done)
  }

  /** `done` gets the fingerprint of the table. */
  fingerprint(table: number, done: (fingerprint: string) => void): void {
    this.tables.fingerprint(table).catch(() => '').then(done)
  }

  multiplexed(origin: string): boolean {
    return this.#uploads.multiplexed(origin)
  }

  /** Sends events to the module's platform of that number. */
  join(number: number): void {
    const abi = this.#abi!
    abi.join(this, number)
    this.deliver = (exchange, kind, flags, a, b, c, textA, textB) =>
      abi.deliver(number, exchange, kind, flags, a, b, c, textA, textB)
  }

  /**
   * Starts an exchange. `head` has the method, the URL, and names and values of headers, one a line. `json` is the
   * body.
   */
  start(
    id: number,
    group: number,
    awaits: number,
    flags: number,
    head: string,
    json: Uint8Array<ArrayBuffer> | undefined,
  ): void {
    this.begin({ id, group, awaits, flags, head, json })
  }

  /** Starts an exchange. */
  begin(start: Start): void {
    const { id, group, awaits, flags, head, protocol } = start
    const lines = head.split('\n')
    const [method, url] = lines as [string, string]
    const x: Exchange = {
      id,
      group,
      awaits,
      url,
      sends: awaits === 0 && method !== 'GET',
      flags,
      headers: headersOf(lines),
      abort: new AbortController(),
      over: false,
      away: false,
      until: 0,
    }
    this.#live.set(id, x)
    if (protocol) this.#uploads.teach(url, protocol)
    if (x.sends || this.traced || !this.#ioWorker?.has(url)) return this.#here(x, lines, start.json)
    x.away = true
    this.#ioWorker.start({ ...start, protocol: this.#uploads.protocol(url) })
  }

  #here(x: Exchange | undefined, lines: string[], json: Start['json']): void {
    if (!x) return
    x.away = false
    // It throws only after the module's end, when no listener is left.
    this.#run(x, lines[0]!, x.headers, json).catch(() => {})
  }

  cancel(id: number): void {
    const x = this.#live.get(id)
    if (!x) return
    this.#live.delete(id)
    x.over = true
    this.#stop(x)
  }

  /**
   * Ends all exchanges without events. Requests that await no response, such as the end of a session, get a moment to
   * be sent. The promise resolves when there is no IO worker any more.
   */
  shut(): Promise<unknown> | undefined {
    this.deliver = () => {}
    const alone = this.#ioWorker?.shut()
    const last: Exchange[] = []
    for (const x of [...this.#live.values(), ...this.#draining]) {
      const leaves = x.sends && !this.#draining.has(x)
      x.over = !leaves
      if (leaves) last.push(x)
      else this.#stop(x)
    }
    this.#live.clear()
    if (last.length) {
      later(() => {
        for (const x of last) this.#stop(x)
      }, SHUT_MS)
    }
    return alone
  }

  // After a garbage collection, Node's fetch may not apply the signal to the body. So the body is cancelled too.
  #stop(x: Exchange): void {
    if (x.away) return this.#ioWorker!.cancel(x.id)
    x.abort.abort()
    x.reader?.cancel().catch(() => {})
  }

  #open(x: Exchange, response: Response): BodyReader | undefined {
    if (response.body) x.reader = new BodyReader(response.body, Number(response.headers.get('content-length') ?? NaN))
    return x.reader
  }

  async #run(
    x: Exchange,
    method: string,
    headers: [string, string][],
    body: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<void> {
    let response: Response, trace: Trace | undefined
    try {
      // Outside of the module's stack, because fetch records the stack.
      await undefined
      if (x.over) return
      if (this.traced)
        trace = new Trace(this.traced, x.id, [method, x.url, headers, body], (x.flags & WHOLE) !== 0)
      response = await this.#request(x, method, headers, body)
    } catch {
      trace?.fail()
      return this.#end(x, Why.Network, '')
    }
    trace?.take(response).catch(() => {})
    if (x.over) return void response.body?.cancel().catch(() => {})
    try {
      await this.#read(x, response)
    } catch (error) {
      if (error instanceof BodyTooLarge) this.#end(x, Why.TooLarge, error.message)
      else if (error instanceof NotJson) this.#end(x, Why.NotMCP, 'the response is not JSON')
      else this.#end(x, Why.Network, 'the response broke off')
    } finally {
      if ((x.reader?.size ?? 0) > HEAVY_BYTES) this.#ioWorker?.add(x.url)
    }
  }

  async #request(
    x: Exchange,
    method: string,
    headers: [string, string][],
    body: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<Response> {
    const sent = this.#early?.take(x.id, x.url, headers, body)
    if (sent) {
      x.abort = sent.abort
      const response = await sent.response.catch(() => undefined) // and sent again after a fault
      if (response) return response
    }
    const init = requestOf(method, headers, x.abort.signal)
    // Only a GET could be answered from a cache. With no-store, Chromium also
    // bypasses the cache of preflights: each POST would pay an OPTIONS round trip.
    if (method === 'GET') init.cache = 'no-store'
    if (!body) return this.#fetch(x.url, init)
    return this.#uploads.send(x.url, init, body, (x.flags & ONCE) !== 0)
  }

  async #read(x: Exchange, response: Response): Promise<void> {
    const { status } = response
    const isWhole = (x.flags & WHOLE) !== 0
    if (isWhole || !response.ok) {
      const text = await readStart(this.#open(x, response), isWhole ? WHOLE_BYTES : this.#bounds.errorBytes)
      if (isWhole && x.reader && x.reader.size > WHOLE_BYTES)
        return this.#end(x, Why.TooLarge, `response over ${WHOLE_BYTES} bytes`)
      return this.#emit(x, Kind.Refused, Flag.Last, status, 0, 0, headerLines(response.headers), text)
    }
    if (x.flags & WANT_HEAD) this.#emit(x, Kind.Head, 0, status, 0, 0, headerLines(response.headers))
    if (status === 202 || status === 204 || x.sends) {
      if (x.awaits === 0) this.#end(x, Why.EOF, '')
      else this.#end(x, Why.NotMCP, `status ${status} to a request`)
      const reader = this.#open(x, response)
      if (reader) await this.#drain(x, reader)
      return
    }
    const type = (response.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
    if (type === 'text/event-stream') return this.#readEvents(x, response)
    if (x.awaits === 0 || !(type === '' || type === 'application/json' || type.endsWith('+json'))) {
      response.body?.cancel().catch(() => {})
      return this.#end(x, Why.NotMCP, `content type is ${type === '' ? 'missing' : JSON.stringify(type.slice(0, 100))}`)
    }
    const json = await readJson(response, this.#open(x, response), this.#jsonBounds(x))
    if (x.over) return
    this.#sort(this.#reader(x), json)
    this.#end(x, Why.NotMCP, 'the response has no answer')
  }

  async #readEvents(x: Exchange, response: Response): Promise<void> {
    const reader = this.#open(x, response)!
    const { eventBytes: maxEvent, responseBytes: maxBody } = this.#bounds
    const sorted = this.#reader(x), jsonBounds = this.#jsonBounds(x)
    let nonsense = false
    const arrived: [name: string, data: string][] = []
    const scanner = new SseScanner(maxEvent, (...event) => arrived.push(event))
    const take = async () => {
      for (const [name, data] of arrived.splice(0)) {
        if (x.over) break
        if (name === 'endpoint') {
          if (x.awaits === 0 && this.#admit(x, false)) this.#emit(x, Kind.Endpoint, 0, 0, 0, 0, data.slice(0, 4096))
        } else if (this.#rates.full(x.group, this.#bounds) && !/"(?:result|error)"\s*:/.test(data)) {
          this.#admit(x, false)
        } else {
          try {
            const json = await parseJson(data, jsonBounds)
            if (json) this.#sort(sorted, json)
            else nonsense = true // one bad event does not end a stream
          } catch (error) {
            this.#cut(x, (error as BodyTooLarge).message, scanner)
          }
        }
      }
      scanner.stopped ||= x.over
    }
    let size = 0
    try {
      for (;;) {
        const value = await reader.read()
        if (!value) break
        size += value.length
        const began = performance.now()
        const fits = scanner.push(value)
        await take()
        if (!fits) return this.#cut(x, `event over ${maxEvent} bytes`, scanner)
        if (x.awaits !== 0 && size > maxBody && !x.over) return this.#cut(x, `response over ${maxBody} bytes`, scanner)
        const rest = worked(began)
        if (rest && !x.over) await rest
        // A stream with an awaited response is not paused. Its length has a bound, and Chromium buffers about 60 MiB
        // of a response that is not read.
        if (!x.over && x.awaits === 0 && this.#rates.over(x.group, value.length, this.#bounds)) {
          this.#ioWorker?.add(x.url)
          if (x.flags & WANT_HEAD) return await this.#flooded(x, scanner)
          await nextSecond()
        }
        if (x.over) return await this.#drain(x, reader)
      }
    } catch {
      return this.#end(x, Why.Network, 'the stream broke off', scanner)
    }
    scanner.end()
    await take()
    if (nonsense && x.awaits !== 0) this.#end(x, Why.NotMCP, 'the stream has events that are not JSON', scanner)
    else this.#end(x, Why.EOF, '', scanner)
  }

  // The page parses a large result.
  #jsonBounds({ awaits, headers }: Exchange): JsonBounds {
    const { responseBytes, resultValues, depth } = this.#bounds
    const op = awaits & Op.Mask
    return {
      bytes: responseBytes,
      values: resultValues,
      depth: depth + ENVELOPE,
      string: MESSAGE_CHARS,
      ...(op === Op.List && {
        tools: () => new ToolsReader(this.#bounds, secretsOf(headers)),
        whole: 'document' in globalThis ? 0 : WHOLE_LIST_BYTES,
      }),
      ...(op === Op.Call && { passes: (outline: unknown) => passes(outline, awaits) }),
    }
  }

  #sort(r: Reader, json: Json): void {
    if ('message' in json) readPassed(r, json)
    else if ('tools' in json) readListed(r, json.value, json.tools, json.size)
    else {
      r.raw = json.raw
      readMessages(r, json.value, json.text)
    }
  }

  // Ends an optional stream, which the client opens again later. With HTTP+SSE the stream is the session.
  async #flooded(x: Exchange, scanner: SseScanner): Promise<void> {
    scanner.stopped = true
    x.reader?.cancel().catch(() => {})
    await nextSecond()
    this.#end(x, Why.EOF, '', scanner)
  }

  #cut(x: Exchange, what: string, scanner: SseScanner): void {
    this.#end(x, Why.TooLarge, what, scanner)
    this.#stop(x)
  }

  // Reads the body to its end, so that the connection can be used again.
  async #drain(x: Exchange, reader: BodyReader): Promise<void> {
    if (x.abort.signal.aborted) return
    this.#draining.add(x)
    x.until = performance.now() + DRAIN_MS
    this.#sweep()
    try {
      for (let size = 0; size <= DRAIN_BYTES;) {
        const value = await reader.read()
        if (!value) return
        size += value.length
      }
      this.#stop(x)
    } catch {
      // The stream broke off or was cancelled. Its exchange is over already.
    } finally {
      this.#draining.delete(x)
    }
  }

  // One timer serves all exchanges that are read on.
  #sweep(): void {
    if (this.#sweeper || this.#draining.size === 0) return
    this.#sweeper = true
    later(() => {
      this.#sweeper = false
      const now = performance.now()
      for (const x of this.#draining) if (x.until <= now) this.#stop(x)
      this.#sweep()
    }, DRAIN_MS)
  }

  #reader(x: Exchange): Reader {
    return {
      bounds: this.#bounds,
      tables: this.tables,
      awaits: x.awaits,
      secrets: () => secretsOf(x.headers),
      emit: (...event: Parameters<Emit>) => this.#emit(x, ...event),
      spend: (asks: boolean) => this.#admit(x, asks),
    }
  }

  #emit(x: Exchange, kind: number, flags: number, a = 0, b = 0, c = 0, textA = '', textB = ''): void {
    if (x.over) {
      if (kind === Kind.Tools || kind === Kind.Output) this.tables.release(b)
      return
    }
    if (flags & Flag.Last) {
      x.over = true
      this.#live.delete(x.id)
    }
    this.deliver(x.id, kind, flags, a, b, c, textA, textB)
  }

  /** Takes an event of an exchange in the IO worker. */
  #hear({ event: [id, kind, flags, a, b, c, textA, textB], page, answer }: FromIoWorker): void {
    const x = this.#live.get(id)
    if (!x) return
    let table = b
    if (page) table = this.tables.addPage(page)
    else if (answer) table = this.tables.addResult(answer, c)
    this.#emit(x, kind, flags, a, table, c, textA, textB)
  }

  #end(x: Exchange | undefined, why: Why, detail: string, scanner?: SseScanner): void {
    if (!x) return
    this.#tellDropped(x, true)
    const lastId = scanner && /^[\x20-\x7e]*$/.test(scanner.lastId) ? scanner.lastId : ''
    this.#emit(x, Kind.End, Flag.Last, why, scanner?.retry ?? -1, 0, detail, lastId)
  }

  #admit(x: Exchange, asks: boolean): boolean {
    const fits = this.#rates.admit(x.group, asks, this.#bounds)
    this.#tellDropped(x, false)
    return fits
  }

  #tellDropped(x: Exchange, ends: boolean): void {
    const dropped = x.over ? 0 : this.#rates.dropped(x.group, ends)
    if (dropped > 0) this.#emit(x, Kind.Dropped, 0, dropped)
  }
}

/** Does work later, but does not keep a process of Node for it. */
function later(work: () => void, ms: number): void {
  ;(setTimeout(work, ms) as { unref?(): void }).unref?.() // a page's timer is a number
}

/** The headers in the lines of a request. */
function headersOf(lines: string[]): [name: string, value: string][] {
  const headers: [string, string][] = []
  for (let i = 2; i + 1 < lines.length; i += 2) headers.push([lines[i]!, lines[i + 1]!])
  return headers
}

function headerLines(headers: Headers): string {
  const lines: string[] = []
  for (const name of HEADERS) {
    let value = headers.get(name)
    // A date becomes seconds (RFC 9110, section 10.2.3), as in nethttp.
    const at = name === 'retry-after' && / GMT$/.test(value ?? '') ? Date.parse(value!) : NaN
    if (at > 0) value = `${Math.max(0, Math.ceil((at - Date.now()) / 1000))}`
    if (value !== null) lines.push(name, value.slice(0, 8192))
  }
  return lines.join('\n')
}
