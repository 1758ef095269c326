import type { Port } from '../browser.ts'
import { panelPort, type FromBackground, type Method, type Requests, type State } from '../messages.ts'

/** The answer of the background in place of a result, or the reason why there is none. */
export class RequestError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'RequestError'
    this.code = code
  }
}

const restarted = new RequestError('background_gone', 'the extension was restarted before it answered')

/** The wait before it connects again, in ms. It doubles each time; a message from the background resets it. */
const firstWait = 50, longestWait = 2000

/** The panel shows no warning if the background wakes within this time, in ms. */
const patience = 1000

/**
 * The background as a page sees it: its last state, and requests to it. The
 * background may die at any time; then the state stays, requests under way fail
 * with `background_gone`, and the store connects again, which wakes it.
 */
export class Store {
  state: State | undefined
  /** The background has been silent for longer than it takes to wake. */
  away = false
  private port: Port | undefined
  private running = false
  private wait = firstWait
  /** The pairing that has ended with its background. It is shown until the person goes on. */
  private ended: State['pairing'] = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private silenceTimer: ReturnType<typeof setTimeout> | undefined
  private last = 0
  private readonly waiting = new Map<number, PromiseWithResolvers<never>>()
  private readonly listeners = new Set<() => void>()
  private readonly open: (name: string) => Port

  constructor(open: (name: string) => Port) {
    this.open = open
  }

  start(): void {
    if (this.running) return
    this.running = true
    this.connect()
  }

  stop(): void {
    this.running = false
    clearTimeout(this.timer)
    clearTimeout(this.silenceTimer)
    this.timer = this.silenceTimer = undefined
    this.port?.close()
    this.lost(this.port)
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  /** Asks the background; rejects with a {@link RequestError}. */
  async request<M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<ReturnType<Requests[M]>> {
    if (this.running && !this.port) this.connect()
    if (!this.port) throw new RequestError('background_gone', 'the extension does not run')
    const id = ++this.last
    const answer = Promise.withResolvers<never>()
    this.waiting.set(id, answer)
    this.port.post({ id, method, params })
    if (this.ended && /pair/i.test(method)) {
      this.ended = null
      this.take({ ...this.state!, pairing: null })
    }
    return answer.promise
  }

  private connect(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.startSilenceTimer()
    let port: Port
    try {
      port = this.open(panelPort)
    } catch { // after an update the page's own extension is gone: `away` says so
      return this.again()
    }
    this.port = port
    port.onmessage = (m) => this.receive(port, m as FromBackground)
    port.onclose = () => this.lost(port)
  }

  /** Starts the timer for the warning. */
  private startSilenceTimer(): void {
    this.silenceTimer ??= setTimeout(() => {
      this.away = true
      this.tell()
    }, patience)
  }

  private again(): void {
    if (!this.running || this.timer) return
    this.timer = setTimeout(() => this.connect(), this.wait)
    this.wait = Math.min(2 * this.wait, longestWait)
  }

  private lost(port: Port | undefined): void {
    if (!port || port !== this.port) return
    this.port = undefined
    const pairing = this.state?.pairing
    if (pairing) this.ended = { ...pairing, step: 'failed', error: pairing.error ?? restarted }
    port.onmessage = port.onclose = null
    for (const w of this.waiting.values()) w.reject(restarted)
    this.waiting.clear()
    if (!this.running) return
    this.startSilenceTimer()
    this.again()
  }

  private receive(port: Port, m: FromBackground): void {
    if (port !== this.port) return // it was closed meanwhile
    if ('state' in m) {
      clearTimeout(this.silenceTimer)
      this.silenceTimer = undefined
      this.wait = firstWait
      this.away = false
      return this.take(m.state)
    }
    const waiting = this.waiting.get(m.id)
    this.waiting.delete(m.id)
    if ('error' in m) waiting?.reject(new RequestError(m.error.code, m.error.message))
    else waiting?.resolve(m.result as never)
  }

  /** Takes a state over, with the pairing that its background no longer knows, unless that has made a link. */
  private take(state: State): void {
    if (state.pairing || state.links.at(-1)?.pairing !== this.state?.links.at(-1)?.pairing) this.ended = null
    this.state = { ...state, pairing: state.pairing ?? this.ended }
    this.tell()
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener()
  }
}
