import type { Pipe } from './handshake.ts'

/** What is used of a WebSocket. */
export interface Socket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open' | 'message' | 'close', listener: (e: never) => void): void
}

/** The largest message that either side takes, in bytes. */
export const largestFrame = 2 << 20
/** How many messages may wait while nobody takes them. */
const backlog = 1000

export interface Closed {
  code: number
  reason: string
}

/** A connection: first its messages are received one by one, later they are handed to a listener. */
export class Line implements Pipe {
  /** Why it ended. */
  closed: Closed | undefined
  /** Takes a message before anybody else does, or leaves it. */
  intercept: ((text: string) => boolean) | undefined
  onclose: (() => void) | undefined
  /** Resolves when the connection has ended. */
  readonly gone: Promise<Closed>

  private onmessage: ((text: string) => void) | undefined
  private readonly socket: Socket
  private readonly queue: string[] = []
  private waiting: PromiseWithResolvers<string> | undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.addEventListener('message', (e: MessageEvent) => this.take(e.data))
    this.gone = new Promise((resolve) => {
      socket.addEventListener('close', (e: CloseEvent) => {
        this.closed ??= { code: e.code, reason: e.reason }
        this.waiting?.reject(gone(this.closed))
        this.onclose?.()
        resolve(this.closed)
      })
    })
  }

  /** Resolves when the socket is open; rejects when it cannot be, or takes longer than `ms`. */
  static open(socket: Socket, ms: number): Promise<Line> {
    const line = new Line(socket)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => socket.close(), ms)
      socket.addEventListener('open', () => {
        clearTimeout(timer)
        resolve(line)
      })
      socket.addEventListener('close', () => {
        clearTimeout(timer)
        reject(gone(line.closed!))
      })
    })
  }

  send(text: string): void {
    if (!this.closed) this.socket.send(text)
  }

  close(code?: number, reason?: string): void {
    this.closed ??= { code: code ?? 1000, reason: reason ?? '' }
    this.socket.close(code, reason)
  }

  async receive(): Promise<string> {
    const next = this.queue.shift()
    if (next !== undefined) return next
    if (this.closed) throw gone(this.closed)
    this.waiting = Promise.withResolvers()
    return this.waiting.promise
  }

  /** From now on messages go to `onmessage`; those that wait go first. */
  listen(onmessage: (text: string) => void): void {
    for (const text of this.queue.splice(0)) onmessage(text)
    this.onmessage = onmessage
  }

  private take(data: unknown): void {
    if (typeof data !== 'string' || data.length > largestFrame) return this.close(1009, 'not a message of the bridge')
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

/** The connection ended, or could not be opened. */
export class Gone extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const gone = ({ code, reason }: Closed) => new Gone(code, reason)
