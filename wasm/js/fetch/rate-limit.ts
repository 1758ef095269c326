// What a server may send unasked, by session and second. The rest is counted, and of a
// stream that nobody waits for nothing more is read until the next second.

import type { Bounds } from './events.ts'

interface Spent {
  second: number
  events: number
  asks: number
  bytes: number
  dropped: number
  told: boolean
}

/** Sessions that are remembered; a second later nothing is known of them anyway. */
const SESSIONS = 1000

export class RateLimit {
  readonly #spent = new Map<number, Spent>()

  #of(session: number): Spent {
    const second = Math.floor(performance.now() / 1000)
    let spent = this.#spent.get(session)
    if (!spent) {
      if (this.#spent.size > SESSIONS) this.#spent.clear()
      this.#spent.set(session, spent = { second, events: 0, asks: 0, bytes: 0, dropped: 0, told: false })
    } else if (spent.second !== second) {
      Object.assign(spent, { second, events: 0, asks: 0, bytes: 0, told: false })
    }
    return spent
  }

  /** Counts a message, or a request of the server; false if it is one too many. */
  admit(session: number, asks: boolean, { eventsPerSecond: rate, pingsPerSecond: pings }: Bounds): boolean {
    const spent = this.#of(session)
    if (++spent.events <= rate && (!asks || ++spent.asks <= pings)) return true
    spent.dropped++
    return false
  }

  /** Whether the next message will be one too many. */
  full(session: number, { eventsPerSecond: rate }: Bounds): boolean {
    return this.#of(session).events >= rate
  }

  /** How many were dropped since it was last asked: 0 if that was in this second, unless a stream ends. */
  dropped(session: number, ends: boolean): number {
    const spent = this.#spent.get(session)
    if (!spent || (spent.told && !ends)) return 0
    const { dropped } = spent
    spent.told = true
    spent.dropped = 0
    return dropped
  }

  /** Counts bytes that nobody asked for; true if there were far too many this second, or messages. */
  over(session: number, bytes: number, { eventsPerSecond: rate, responseBytes: response }: Bounds): boolean {
    const spent = this.#of(session)
    spent.bytes += bytes
    return spent.events > rate * 10 || spent.bytes > response
  }
}

/** Ends when the next second begins. */
export const nextSecond = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 1000 - (performance.now() % 1000)))
