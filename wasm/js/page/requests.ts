import { ignore } from '../shared/download.ts'
import { fromWire } from '../shared/errors.ts'
import { invalidOption } from '../shared/fields.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type { StartedHost } from '../shared/launching.ts'
import type { Attached, LostEvent, Request, RequestBody, ToHost, ToPage } from '../shared/protocol.ts'
import { crashed, crashedForGood, Restarts } from '../shared/restarts.ts'
import { checkChannel } from '../shared/channel.ts'
import type { Channel, Mode, ToolProgress } from '../shared/types.ts'

/** A message that is not about one request. */
export type Event = Exclude<Extract<ToPage, { event: string }>, LostEvent>

interface WaitingRequest {
  resolve(value: unknown): void
  reject(error: RegistryError): void
  /** Ends the request here and in the host. */
  leave(error: RegistryError): void
  /** The page's deadline, in ms of performance.now(). */
  until: number
  about: About
  /** Reasons for which the deadline stands still: open questions of servers, and the queue. */
  resting: number
  /** When the first of them came, in ms of performance.now(). */
  since: number
  onProgress?: ((p: ToolProgress) => void) | undefined
}

/** The call that a question of a server is about. */
export interface About {
  tool?: string | undefined
  callId?: string | number | undefined
}

/** Starts a host. */
export interface HostStarter {
  mode: Mode
  /** Starts the module, at first or again. Without it, requests end with their channel. */
  open?(signal?: AbortSignal): Promise<StartedHost>
}

/** Receives host messages that are not replies to a request. */
export interface HostListener {
  attached(a: Attached): void
  receive(e: Event): void
  /** The host has ended, and only a retry starts it again. */
  down(error: RegistryError): void
}

/** The time between two checks of the deadlines, in ms. */
const look = 100

/** The types of values that need no copy before they are sent. */
const plain = new Set(['string', 'number', 'boolean', 'undefined'])

/** A worker that misses a deadline and was silent for so long counts as dead, in ms. It may be busy before. */
const silence = 10_000

/** The error of all that comes after close(). */
export const closedError = () => new RegistryError('closed', 'the registry is closed; create a new one')

/** Requests to a host. The first request starts the host. A host that died is started again. */
export class Requests {
  mode: Mode
  readonly #starter: HostStarter
  readonly #listener: HostListener
  #channel: Channel | undefined
  /** Messages that wait for the channel. */
  #outbox: ToHost[] = []
  #starting: Promise<StartedHost> | undefined
  #unwatch: (() => void) | undefined
  #down: RegistryError | undefined
  #dead: RegistryError | undefined
  readonly #restarts = new Restarts()
  readonly #waiting = new Map<number, WaitingRequest>()
  #last = 0
  /** When the last message came, of `performance.now()`. */
  #lastMessageAt = 0
  #watching: ReturnType<typeof setTimeout> | undefined

  constructor(starter: HostStarter, listener: HostListener) {
    this.#starter = starter
    this.#listener = listener
    this.mode = starter.mode
  }

  /** A host is there, or starts. */
  get isRunning(): boolean {
    return !!(this.#channel || this.#starting)
  }

  /** Starts the module, unless a start is under way, and sends the outbox. Resolves once the state has arrived. */
  start(signal?: AbortSignal): Promise<StartedHost> {
    return this.#starting ??= this.#open(signal).finally(() => {
      this.#starting = undefined
    })
  }

  async #open(signal?: AbortSignal): Promise<StartedHost> {
    let opened: StartedHost | undefined
    try {
      opened = await this.#starter.open!(signal)
      if (this.#dead) {
        opened.channel.close()
        throw this.#dead
      }
      this.mode = opened.mode
      this.#unwatch = opened.onDied?.((isBack) => this.#died(isBack))
      const attached = this.attach(opened.channel, signal) // the outbox is sent before its reply
      for (const m of this.#outbox.splice(0)) this.#channel!.post(m)
      await attached
      this.#down = undefined
      return opened
    } catch (e) {
      if (!this.#channel) {
        this.#outbox = []
        this.#fail(e as RegistryError)
        if (opened && !(this.#dead ?? this.#down)) return this.#open(signal) // it died before its first reply
      }
      throw e
    }
  }

  /** Attaches to the host at the other end of the channel. */
  async attach(channel: Channel, signal?: AbortSignal): Promise<void> {
    checkChannel(channel)
    this.#channel = channel
    channel.onmessage = (m) => this.#receive(m as ToPage)
    // An aborted start attaches, too: a host that does not know the page answers no close.
    this.#listener.attached(await within(signal, this.ask<Attached>({ method: 'attach' })))
  }

  /** Sends a request without a need for its reply. It starts no host, because a new host needs no such request. */
  tell(body: RequestBody): void {
    if (this.isRunning) this.ask(body).catch(ignore)
  }

  ask<T>(
    body: RequestBody,
    o: {
      signal?: AbortSignal | undefined
      onProgress?: WaitingRequest['onProgress']
      giveUpMs?: number
      about?: About
    } = {},
  ): Promise<T> {
    if (this.#dead) return Promise.reject(this.#dead)
    if (o.signal?.aborted) return Promise.reject(aborted(o.signal))
    if (!this.#channel && !this.#starting && this.#down && !this.#restarts.allow(body.method === 'retry'))
      return Promise.reject(this.#down)
    return new Promise<T>((resolve, reject) => {
      const id = ++this.#last
      const done = () => {
        this.#waiting.delete(id)
        o.signal?.removeEventListener('abort', abort)
      }
      const leave = (e: RegistryError) => {
        done()
        this.post({ cancel: id })
        reject(e)
      }
      const abort = () => leave(aborted(o.signal!))
      this.#waiting.set(id, {
        resolve: (v) => {
          done()
          resolve(v as T)
        },
        reject: (e) => {
          done()
          reject(e)
        },
        leave,
        onProgress: o.onProgress,
        about: { tool: o.about?.tool, callId: o.about?.callId ?? id },
        resting: 0,
        since: 0,
        until: performance.now() + (o.giveUpMs ?? Infinity),
      })
      if (o.giveUpMs) this.#watch()
      o.signal?.addEventListener('abort', abort)
      try {
        // A channel sends later, when it could not report what cannot be cloned, and when the app may have changed it.
        const isFlat = Object.values(body).every((v) => plain.has(typeof v))
        const m = { id, ...body } as Request
        this.post(isFlat ? m : structuredClone(m))
      } catch (e) {
        done()
        reject(invalidOption(`the request cannot be sent: ${(e as Error).message}`, { cause: e }))
      }
    })
  }

  post(m: ToHost): void {
    if (this.#channel) return this.#channel.post(m)
    this.#outbox.push(m)
    this.start().catch(ignore) // the requests that wait get the error
  }

  /** Ends all requests and the channel. Returns the error that later requests get, or nothing if it was closed. */
  async close(): Promise<RegistryError | undefined> {
    if (this.#dead) return undefined
    const closed = closedError()
    // The channel closes even if the host sends no reply.
    const left = this.#channel && this.mode !== 'shared' &&
      this.ask({ method: 'close' }, { giveUpMs: 5500 }).catch(ignore)
    this.#dead = closed
    this.#unwatch?.()
    if (this.mode !== 'remote') await left
    this.#fail(closed)
    this.#channel?.close()
    return closed
  }

  #receive(m: ToPage): void {
    this.#lastMessageAt = performance.now()
    if ('event' in m) {
      if (m.event !== 'lost') return this.#listener.receive(m)
      for (const [id, w] of this.#waiting) if (id <= m.upTo && !m.held.includes(id)) w.reject(fromWire(m.error))
      return
    }
    const w = this.#waiting.get(m.id)
    if (!w) return
    if ('waits' in m) this.#rest(w, m.waits)
    else if ('progress' in m) shielded(() => w.onProgress?.(m.progress))
    else if ('error' in m) w.reject(fromWire(m.error))
    else w.resolve(m.result)
  }

  /**
   * Stops the deadline of the request that a question of a server is about, or all deadlines if that is not known.
   * The returned function lets them go on.
   */
  hold(id: number | undefined): { about: About | undefined; release(): void } {
    const known = this.#waiting.get(id!)
    const held = known ? [known] : [...this.#waiting.values()]
    const rest = (on: boolean) => held.forEach((w) => this.#rest(w, on))
    rest(true)
    return { about: known?.about, release: () => rest(false) }
  }

  /** Stops the deadline of a request, or lets it go on. */
  #rest(w: WaitingRequest, on: boolean): void {
    const now = performance.now()
    if (on) {
      if (!w.resting++) w.since = now
      return
    }
    if (!--w.resting) w.until += now - w.since
    this.#watch()
  }

  // One timer serves all requests. Without requests there is none.
  #watch(): void {
    const began = performance.now()
    this.#watching ??= setTimeout(() => {
      this.#watching = undefined
      const now = performance.now()
      for (const w of this.#waiting.values()) {
        if (!w.resting && w.until <= now) {
          w.leave(new RegistryError('timeout', 'no answer in time', { retryable: true }))
          // The module has its own deadlines. A module that misses them and is silent hangs. The time since the last
          // check does not count: the page was frozen then, or the computer slept.
          if (this.#lastMessageAt < began - silence) this.#died()
        } else if (w.until < Infinity) this.#watch()
      }
    }, look)
  }

  /** Ends all requests with an error. */
  #fail(error: RegistryError): void {
    for (const w of this.#waiting.values()) w.reject(error)
  }

  /** Handles the death of the worker, or its loss by a page that is back from the back/forward cache. */
  #died(isBack?: boolean): void {
    if (this.#dead || !this.#channel || !this.#starter.open) return
    this.#unwatch?.()
    this.#channel.close()
    this.#channel = undefined
    this.#fail(crashed())
    this.#listener.receive({ event: 'elicit', ask: 0 }) // its questions are over
    const stayDown = (e: RegistryError) => this.#listener.down(this.#down = e)
    if (!this.#restarts.allow(isBack)) stayDown(crashedForGood())
    else if (!this.#starting) this.start().catch(stayDown)
  }
}

/** Runs a listener of the app. Its exception becomes an uncaught error of the page and stops nothing here. */
export function shielded(fn: () => void): void {
  try {
    fn()
  } catch (e) {
    queueMicrotask(() => {
      throw e
    })
  }
}

export const aborted = (signal: AbortSignal) =>
  new RegistryError('aborted', 'the caller cancelled', { cause: signal.reason })

/** Settles as the work does, or rejects when the signal aborts. */
export const within = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const end = () => reject(aborted(signal!))
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
    work.finally(() => signal?.removeEventListener('abort', end)).then(resolve, reject)
  })
