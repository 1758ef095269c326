/**
 * Chromium's DevTools protocol, as far as the tests need it: a library would attach to workers, which keeps them
 * alive.
 */

interface Message {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { message: string }
  sessionId?: string
}

interface Waiting {
  resolve(v: never): void
  reject(e: Error): void
  what: string
  sessionId: string | undefined
}

const crash = (what: string) => new Error(`${what}: the page has crashed`)

export class Cdp {
  private readonly socket: WebSocket
  private last = 0
  private readonly waiting = new Map<number, Waiting>()
  /** Sessions whose page has crashed. It replies to nothing. */
  private readonly crashed = new Set<string | undefined>()
  private readonly listeners = new Set<(m: Message) => void>()

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.onmessage = ({ data }) => {
      const m = JSON.parse(String(data)) as Message
      if (m.method === 'Inspector.targetCrashed') {
        this.crashed.add(m.sessionId)
        for (const w of this.waiting.values()) if (w.sessionId === m.sessionId) w.reject(crash(w.what))
      }
      if (m.id === undefined) return this.listeners.forEach((l) => l(m))
      const w = this.waiting.get(m.id)
      this.waiting.delete(m.id)
      if (m.error) w?.reject(new Error(`${w.what}: ${m.error.message}`))
      else w?.resolve(m.result as never)
    }
    socket.onclose = () => {
      for (const w of this.waiting.values()) w.reject(new Error(`${w.what}: the browser is gone`))
    }
  }

  static async connect(url: string): Promise<Cdp> {
    const socket = new WebSocket(url)
    await new Promise((resolve, reject) => {
      socket.onopen = resolve
      socket.onerror = () => reject(new Error(`cannot connect to ${url}`))
    })
    return new Cdp(socket)
  }

  send<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    if (this.crashed.has(sessionId)) return Promise.reject(crash(method))
    const id = ++this.last
    this.socket.send(JSON.stringify({ id, method, params, sessionId }))
    return new Promise<T>((resolve, reject) => this.waiting.set(id, { resolve, reject, what: method, sessionId }))
  }

  on(listener: (m: Message) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  close(): void {
    this.socket.close()
  }
}

/** One page that is attached to. */
export class CdpPage {
  readonly targetId: string
  private readonly cdp: Cdp
  private readonly session: string

  private constructor(cdp: Cdp, targetId: string, session: string) {
    this.cdp = cdp
    this.targetId = targetId
    this.session = session
  }

  static async attach(cdp: Cdp, targetId: string): Promise<CdpPage> {
    const { sessionId } = await cdp.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
    return new CdpPage(cdp, targetId, sessionId)
  }

  send<T>(method: string, params: object = {}): Promise<T> {
    return this.cdp.send<T>(method, params, this.session)
  }

  /** Runs a function in the page, or an expression, which may be asynchronous, and returns its result by value. */
  async evaluate<A extends unknown[], R>(fn: string | ((...args: A) => R), ...args: A): Promise<Awaited<R>> {
    const { result, exceptionDetails } = await this.send<
      { result: { value: Awaited<R> }; exceptionDetails?: { text: string; exception?: { description?: string } } }
    >('Runtime.evaluate', {
      expression: typeof fn === 'string' ? fn : `(${fn})(...${JSON.stringify(args)})`,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }

  /** Resolves with the first result of `fn` that is truthy. */
  async until<A extends unknown[], R>(fn: (...args: A) => R, args: A, what: string, ms = 20_000): Promise<Awaited<R>> {
    const deadline = Date.now() + ms
    for (;;) {
      const value = await this.evaluate(fn, ...args).catch(() => undefined)
      if (value) return value
      if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Resolves when an expression is true in the page. */
  async holds(expression: string): Promise<void> {
    await this.until((e) => !!(0, eval)(e), [expression], expression)
  }

  /** A click of the mouse in the middle of an element: the browser takes it for a person's. */
  async click(expression: string): Promise<void> {
    const at = await this.until(
      (e) => {
        const element = (0, eval)(e) as Element | null
        element?.scrollIntoView({ block: 'center' })
        const r = element?.getBoundingClientRect()
        return r?.width ? { x: r.x + r.width / 2, y: r.y + r.height / 2 } : undefined
      },
      [expression],
      `click ${expression}`,
    )
    for (const type of ['mousePressed', 'mouseReleased'])
      await this.send('Input.dispatchMouseEvent', { type, ...at, button: 'left', clickCount: 1 })
  }

  async screenshot(): Promise<Buffer> {
    const { data } = await this.send<{ data: string }>('Page.captureScreenshot', { format: 'png' })
    return Buffer.from(data, 'base64')
  }

  /** Leaves the page as it is, not attached to. */
  async detach(): Promise<void> {
    await this.cdp.send('Target.detachFromTarget', { sessionId: this.session })
  }

  async close(): Promise<void> {
    await this.cdp.send('Target.closeTarget', { targetId: this.targetId })
  }
}
