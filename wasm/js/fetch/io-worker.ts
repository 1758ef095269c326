// The IO worker reads and parses the bodies of servers with large responses, so that calls of other servers do not
// wait. It runs a platform of its own.

import type { ResultBody } from '../shared/answer.ts'
import { type Bounds, type Deliver, Flag, type Start } from './events.ts'
import type { PageParts } from './tables.ts'

/** A worker with the program serveIoWorker. */
type Thread = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror' | 'onmessageerror'>

export type ToIoWorker = { bounds: Bounds } | { start: Start } | { cancel: number }

/** The arguments of Deliver, and the values behind its handle. */
export interface FromIoWorker {
  event: Parameters<Deliver>
  page?: PageParts | undefined
  answer?: ResultBody | undefined
}

/** Callbacks of the owner of an IO worker. */
interface IoWorkerListener {
  deliver(m: FromIoWorker): void
  /** The worker ended during the exchange. */
  lost(id: number): void
  /** No worker can be started. The exchange has not begun. */
  refused(start: Start): void
}

export type MakeIoWorker = (listener: IoWorkerListener) => IoWorker

/** The most servers that are remembered. */
const SERVERS = 1000

/** The longest start of a worker, its life without exchanges, and the time for its end. */
const START_MS = 5000, IDLE_MS = 30_000, GONE_MS = 500

/** The crashes after which no worker is started. */
const LIVES = 3

/** The origin of a URL or, behind a proxy, the origins of the proxy and of the server. */
export function serverOf(url: string): string {
  const origins = url.replace(/%3A/gi, ':').replace(/%2F/gi, '/').split(/https?:\/\//i).slice(1)
  return origins.map((rest) => /^[^/?#&%]*/.exec(rest)![0].toLowerCase()).join(' ')
}

export class IoWorker {
  readonly #make: () => Thread | undefined
  readonly #listener: IoWorkerListener
  readonly #heavy = new Set<string>()
  readonly #open = new Set<number>()
  #waiting: Start[] | undefined // until the worker has started
  #bounds: Bounds | undefined
  #thread: Thread | undefined
  #lives = LIVES
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(make: () => Thread | undefined, listener: IoWorkerListener) {
    this.#make = make
    this.#listener = listener
  }

  /** Later exchanges with that server run in the worker. */
  add(url: string): void {
    if (this.#heavy.size < SERVERS) this.#heavy.add(serverOf(url))
  }

  has(url: string): boolean {
    return this.#heavy.size > 0 && this.#lives > 0 && this.#heavy.has(serverOf(url))
  }

  limit(bounds: Bounds): void {
    this.#bounds = bounds
    if (this.#thread) this.#post({ bounds })
  }

  start(start: Start): void {
    this.#open.add(start.id)
    if (!this.#thread) this.#begin()
    else this.#rest()
    if (this.#waiting) this.#waiting.push(start)
    else if (this.#thread) this.#post({ start })
    else this.#refuse([start])
  }

  cancel(id: number): void {
    if (!this.#open.delete(id)) return
    if (this.#waiting) this.#waiting = this.#waiting.filter((start) => start.id !== id)
    else this.#post({ cancel: id })
    this.#rest()
  }

  /** Ends the worker for good. Resolves after the time that this takes. No event tells of it. */
  shut(): Promise<void> | undefined {
    const gone = this.#thread && new Promise<void>((resolve) => setTimeout(resolve, GONE_MS))
    this.#lives = 0
    this.#end()
    return gone
  }

  #post(m: ToIoWorker): void {
    this.#thread?.postMessage(m)
  }

  #begin(): void {
    const thread = this.#make()
    if (!thread) {
      this.#lives = 0
      return
    }
    this.#thread = thread
    this.#waiting = []
    const broken = () => {
      if (thread === this.#thread) this.#broken()
    }
    this.#timer = setTimeout(broken, START_MS)
    thread.onerror = (e) => {
      e.preventDefault()
      broken()
    }
    thread.onmessageerror = broken
    thread.onmessage = () => {
      if (thread !== this.#thread) return
      thread.onmessage = ({ data }: MessageEvent<FromIoWorker>) => this.#receive(data)
      if (this.#bounds) this.#post({ bounds: this.#bounds })
      for (const start of this.#waiting!) this.#post({ start })
      this.#waiting = undefined
      this.#rest()
    }
  }

  #receive(m: FromIoWorker): void {
    const [id, , flags] = m.event
    if (!this.#open.has(id)) return
    if (flags & Flag.Last) this.#open.delete(id)
    this.#listener.deliver(m)
    this.#rest()
  }

  // A worker that never started has run no exchange. A worker that ran loses its exchanges.
  #broken(): void {
    const waiting = this.#waiting
    const lost = [...this.#open]
    this.#end()
    this.#open.clear()
    if (waiting) this.#refuse(waiting)
    else {
      this.#lives--
      for (const id of lost) this.#listener.lost(id)
    }
  }

  #refuse(starts: Start[]): void {
    this.#lives = 0
    for (const start of starts) {
      this.#open.delete(start.id)
      this.#listener.refused(start)
    }
  }

  // A worker without exchanges ends after a while, which frees its memory.
  #rest(): void {
    if (this.#waiting) return // the timer is that of its start
    clearTimeout(this.#timer)
    this.#timer = this.#open.size > 0 || !this.#thread ? undefined : setTimeout(() => this.#end(), IDLE_MS)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#thread?.terminate()
    this.#thread = undefined
    this.#waiting = undefined
  }
}
