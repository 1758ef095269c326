import { isObject } from '../../wasm/js/shared/object.ts'
import type { App, Fault } from './load.ts'
import { burst, mostChars, perSecond } from './pace.ts'
import { features, type Feature } from './policy.ts'

/** The prefix of the sandbox page's own messages. It relays no such message of an app. */
const own = 'ui/notifications/sandbox-'

/** Requests of an app that may be under way. */
const mostPending = 20
/** The time until the handshake, in ms. */
const handshakeMs = 10_000
/** The time for an app to end by itself, in ms. */
const teardownMs = 1000

// Codes of JSON-RPC 2.0.
const invalidRequest = -32_600
export const invalidParams = -32_602

type Params = Record<string, unknown>
type Id = string | number | undefined

/** An error that an app gets. */
export class Refusal extends Error {
  readonly code: number

  constructor(message: string, code = -32_000) {
    super(message)
    this.code = code
  }
}

/** The element, as far as a frame uses it. */
export interface Host {
  /** The result of ui/initialize. */
  greet(params: Params): object
  /** Answers a request of the app. */
  answer(method: string, params: Params): Promise<object>
  notice(method: string, params: Params): void
  /** The handshake is over. */
  ready(): void
  /** The frame is of no use any more. */
  failed(why: Fault): void
}

/** An app in its frame: JSON-RPC over postMessage with the sandbox page. */
export class AppFrame {
  readonly element = document.createElement('iframe')
  private readonly origin: string
  private readonly app: App
  private readonly host: Host
  private readonly ends = new AbortController()
  private state: 'waiting' | 'loaded' | 'greeted' | 'ready' | 'ended' = 'waiting'
  private waiting: unknown[] = []
  private since = 0
  private taken = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private late: ReturnType<typeof setTimeout>
  private pending = 0
  private leave: (() => void) | undefined

  /** `sandbox` is the address of the sandbox page, on another origin. */
  constructor(sandbox: URL, app: App, granted: readonly Feature[], title: string, host: Host) {
    this.origin = sandbox.origin
    this.app = { ...app, permissions: [...granted] }
    this.host = host
    const { element } = this
    element.title = title
    element.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms')
    element.allow = granted.map((name) => features[name]).join('; ')
    element.referrerPolicy = 'no-referrer'
    const address = new URL(sandbox)
    address.hash = encodeURIComponent(location.origin)
    element.src = address.href
    addEventListener('message', (e) => this.hear(e), { signal: this.ends.signal })
    this.late = setTimeout(() => this.abandon('silent'), handshakeMs)
  }

  get isReady(): boolean {
    return this.state === 'ready'
  }

  /** Sends a notification, once the handshake is over. */
  notify(method: string, params: object): void {
    if (this.isReady) this.send({ method, params })
  }

  /** Asks the app to end, and waits a second for that. Then the frame receives nothing any more. */
  async end(): Promise<void> {
    if (this.isReady) {
      const left = new Promise<void>((resolve) => {
        this.leave = resolve
        setTimeout(resolve, teardownMs)
      })
      this.send({ id: 'teardown', method: 'ui/resource-teardown', params: {} })
      this.state = 'ended' // from here on it can only answer
      await left
    }
    this.drop()
  }

  /** Ends the frame at once. */
  drop(): void {
    this.state = 'ended'
    this.waiting = []
    clearTimeout(this.late)
    clearTimeout(this.timer)
    this.ends.abort()
    this.element.remove()
  }

  get signal(): AbortSignal {
    return this.ends.signal
  }

  private abandon(why: Fault): void {
    this.drop()
    this.host.failed(why)
  }

  private send(message: object): void {
    try {
      this.element.contentWindow?.postMessage(JSON.parse(JSON.stringify({ jsonrpc: '2.0', ...message })), this.origin)
    } catch { /* the frame has another origin by now */ }
  }

  private hear({ source, origin, data }: MessageEvent): void {
    if (source !== this.element.contentWindow || origin !== this.origin || !source) return
    const method: unknown = (data as { method?: unknown } | null)?.method
    if (typeof method === 'string' && method.startsWith(own)) return this.take(data)
    this.waiting.push(data)
    if (this.waiting.length > burst) return this.abandon('flood')
    this.pump()
  }

  /** Takes as many messages as a second allows. */
  private pump(): void {
    const now = performance.now()
    if (now - this.since >= 1000) {
      this.since = now
      this.taken = 0
    }
    while (this.waiting.length && this.taken < perSecond) {
      this.taken++
      this.take(this.waiting.shift())
    }
    clearTimeout(this.timer)
    if (this.waiting.length) this.timer = setTimeout(() => this.pump(), this.since + 1000 - now)
  }

  private take(data: unknown): void {
    let text
    try {
      text = JSON.stringify(data)
    } catch { /* a value that JSON has not */ }
    const plain: unknown = text !== undefined && text.length <= mostChars ? JSON.parse(text) : undefined
    const sent = (data as { id?: unknown } | null)?.id
    const id = typeof sent === 'number' || typeof sent === 'string' && sent.length < 200 ? sent : undefined
    if (!isObject(plain) || plain['jsonrpc'] !== '2.0')
      return this.refuse(id, new Refusal('not a message of JSON-RPC 2.0, or too large', invalidRequest))
    const { method, params = {} } = plain
    if (method === undefined && id === 'teardown') this.leave?.()
    if (method === undefined || this.state === 'ended') return
    if (typeof method !== 'string' || !isObject(params)) this.refuse(id, new Refusal('not a request', invalidRequest))
    else if (id === undefined) this.notice(method, params)
    else void this.request(id, method, params)
  }

  private notice(method: string, params: Params): void {
    if (method === `${own}proxy-ready` && this.state === 'waiting') {
      this.state = 'loaded'
      const { html, csp, permissions } = this.app
      this.send({
        method: `${own}resource-ready`,
        params: { html, csp, permissions: Object.fromEntries(permissions.map((name) => [name, {}])) },
      })
    } else if (method === `${own}left`) this.abandon('left')
    else if (method === `${own}flood`) this.abandon('flood')
    else if (method === 'ui/notifications/initialized' && this.state === 'greeted') {
      this.state = 'ready'
      clearTimeout(this.late)
      this.host.ready()
    } else if (this.isReady) this.host.notice(method, params)
  }

  private async request(id: Id, method: string, params: Params): Promise<void> {
    try {
      if (++this.pending > mostPending) throw new Refusal('too many requests at once')
      this.send({ id, result: await this.result(method, params) })
    } catch (e) {
      this.refuse(id, e)
    } finally {
      this.pending--
    }
  }

  private async result(method: string, params: Params): Promise<object> {
    if (method === 'ping') return {}
    if (method === 'ui/initialize') {
      if (this.state !== 'loaded') throw new Refusal('the handshake is over', invalidRequest)
      this.state = 'greeted'
      return this.host.greet(params)
    }
    if (!this.isReady) throw new Refusal('there was no handshake', invalidRequest)
    return this.host.answer(method, params)
  }

  /** Answers with an error. A notification gets no answer. */
  private refuse(id: Id, fault: unknown): void {
    if (id === undefined) return
    const { message, code } = fault as Refusal
    this.send({ id, error: { code: typeof code === 'number' ? code : -32_000, message: String(message) } })
  }
}
