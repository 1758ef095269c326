import type { Pipe } from './handshake.ts'

/** The largest message of either side, in bytes. A text has as many UTF-16 units, or fewer. */
const largestMessage = 2 << 20
/** The most messages that wait without a reader. */
const backlog = 1000

/** A connection that ended, or could not be opened. */
export class ConnectionClosed extends Error {
  readonly code: number
  constructor(code: number, reason: string) {
    super(reason)
    this.code = code
  }
}

/** A connection to the bridge. The handshake receives its messages one by one. Later a listener gets them. */
export class Connection implements Pipe {
  /** The reason why the connection ended. */
  closed: ConnectionClosed | undefined
  /** Sees each message first. Returns true to keep it from others. */
  intercept: ((text: string) => boolean) | undefined
  onclose: (() => void) | undefined
  /** Resolves when the connection has ended. */
  readonly ended: Promise<ConnectionClosed>

  private onmessage: ((text: string) => void) | undefined
  private readonly socket: WebSocket
  private readonly queue: string[] = []
  private waiting: PromiseWithResolvers<string> | undefined

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.addEventListener('message', (e) => this.take(e.data))
    this.ended = new Promise((resolve) => {
      socket.addEventListener('close', (e) => {
        this.closed ??= new ConnectionClosed(e.code, e.reason)
        this.waiting?.reject(this.closed)
        this.onclose?.()
        resolve(this.closed)
      })
    })
  }

  /** Resolves when the socket is open. Rejects if it fails, or takes longer than `ms`. */
  static async open(socket: WebSocket, ms: number): Promise<Connection> {
    const connection = new Connection(socket)
    const timer = setTimeout(() => socket.close(), ms)
    const opened = new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()))
    const failed = await Promise.race([opened, connection.ended])
    clearTimeout(timer)
    if (failed) throw failed
    return connection
  }

  send(text: string): void {
    if (!this.closed) this.socket.send(text)
  }

  close(code = 1000, reason = ''): void {
    this.closed ??= new ConnectionClosed(code, reason)
    this.socket.close(code === 1000 ? code : 3000 + code, reason) // browsers take 1000 and 3000 to 4999 only
  }

  async receive(): Promise<string> {
    const next = this.queue.shift()
    if (next !== undefined) return next
    if (this.closed) throw this.closed
    this.waiting = Promise.withResolvers()
    return this.waiting.promise
  }

  /** Passes all further messages to `onmessage`, after those that wait. */
  listen(onmessage: (text: string) => void): void {
    for (const text of this.queue.splice(0)) onmessage(text)
    this.onmessage = onmessage
  }

  private take(data: unknown): void {
    if (typeof data !== 'string' || data.length > largestMessage) return this.close(1009, 'not a message of the bridge')
    if (this.intercept?.(data)) return
    if (this.onmessage) return this.onmessage(data)
    if (this.waiting) {
      const { resolve } = this.waiting
      this.waiting = undefined
      return resolve(data)
    }
    if (this.queue.push(data) > backlog) this.close(1008, 'too many messages')
  }
}
