// Limits the unrequested messages of a session per second. Messages beyond the limit are counted. A stream without an
// awaited response is then not read until the next second.

import type { Bounds } from './events.ts'

interface Spent {
  second: number
  events: number
  asks: number
  bytes: number
  dropped: number
  reported: boolean
}

/** The most sessions that are counted. Beyond it, all counts begin again. */
const SESSIONS = 1000

export class RateLimit {
  readonly #spent = new Map<number, Spent>()

  #of(session: number): Spent {
    const second = Math.floor(performance.now() / 1000)
    let spent = this.#spent.get(session)
    if (!spent) {
      if (this.#spent.size > SESSIONS) this.#spent.clear()
      this.#spent.set(session, spent = { second, events: 0, asks: 0, bytes: 0, dropped: 0, reported: false })
    } else if (spent.second !== second) {
      Object.assign(spent, { second, events: 0, asks: 0, bytes: 0, reported: false })
    }
    return spent
  }

  /** Counts a message, or a request of the server. False if it is over the limit. */
  admit(session: number, asks: boolean, { eventsPerSecond: rate, pingsPerSecond: pings }: Bounds): boolean {
    const spent = this.#of(session)
    if (++spent.events <= rate && (!asks || ++spent.asks <= pings)) return true
    spent.dropped++
    return false
  }

  /** Whether the next message is over the limit. */
  full(session: number, { eventsPerSecond: rate }: Bounds): boolean {
    return this.#of(session).events >= rate
  }

  /** The messages dropped since the last report. 0 within a second of it, unless the stream ends. */
  dropped(session: number, ends: boolean): number {
    const spent = this.#spent.get(session)
    if (!spent?.dropped || (spent.reported && !ends)) return 0
    const { dropped } = spent
    spent.reported = true
    spent.dropped = 0
    return dropped
  }

  /** Counts unrequested bytes. True if bytes or messages are far over the limit of this second. */
  over(session: number, bytes: number, { eventsPerSecond: rate, responseBytes: response }: Bounds): boolean {
    const spent = this.#of(session)
    spent.bytes += bytes
    return spent.events > rate * 10 || spent.bytes > response
  }
}

/** Resolves when the next second begins. */
export const nextSecond = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 1000 - (performance.now() % 1000)))
