import type { Deep } from './deep.ts'

const observed: MutationObserverInit = {
  childList: true,
  subtree: true,
  characterData: true,
  attributes: true,
  attributeFilter: [
    'class',
    'style',
    'hidden',
    'disabled',
    'aria-disabled',
    'aria-label',
    'aria-busy',
    'fonticon',
    'data-testid',
    'data-mat-icon-name',
    'data-state',
    'data-turn-key',
  ],
}

interface Wait {
  probe(): unknown
  end: number
  settle(value: unknown): void
  fail(reason: unknown): void
}

/**
 * Waits, by what changes in the page and by the background's ticks. A hidden page's
 * own timers run once a second and its animation frames not at all, so neither is relied on.
 */
export class Pulse {
  /** Runs first on each tick, at most every 250 ms or so. */
  ontick: (() => void) | null = null
  readonly #deep: Deep
  readonly #observer: MutationObserver
  readonly #waits = new Set<Wait>()
  #last = 0
  #gap = 40
  #scanned = 0
  #due = Infinity
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(deep: Deep) {
    this.#deep = deep
    this.#observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) deep.learn(node)
      if (performance.now() - this.#last < this.#gap) return this.#within(this.#gap)
      this.#beat()
      // What must be quiet for a moment is looked at again before the next tick.
      if (this.#waits.size) this.#within(Math.max(110, this.#gap))
    })
    deep.onroot = (root) => this.#observer.observe(root, observed)
    this.#observer.observe(deep.document, observed)
    deep.learn(deep.document)
  }

  tick(): void {
    if (performance.now() - this.#scanned > 1000) {
      this.#deep.rescan()
      this.#scanned = performance.now()
    }
    this.ontick?.()
    this.#beat()
  }

  #within(ms: number): void {
    const due = performance.now() + ms
    if (due >= this.#due) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#beat(), ms)
    this.#due = due
  }

  #beat(): void {
    clearTimeout(this.#timer)
    this.#due = Infinity
    const begun = performance.now()
    for (const wait of [...this.#waits]) {
      try {
        const value = wait.probe()
        if (value) wait.settle(value)
        else if (Date.now() >= wait.end) wait.settle(undefined)
      } catch (e) {
        wait.fail(e)
      }
    }
    this.#last = performance.now()
    // A fifth of the page's time at most, however large it is.
    this.#gap = Math.max(40, 4 * (this.#last - begun))
  }

  /** The probe's first truthy value, or undefined when `ms` have gone by. Rejects with the signal's reason. */
  until<T>(probe: () => T, ms: number, signal: AbortSignal): Promise<NonNullable<T> | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        this.#waits.delete(wait)
        signal.removeEventListener('abort', aborted)
      }
      const wait: Wait = {
        probe,
        end: Date.now() + ms,
        settle: (value) => {
          leave()
          resolve(value as NonNullable<T> | undefined)
        },
        fail: (reason) => {
          leave()
          reject(reason)
        },
      }
      const aborted = () => wait.fail(signal.reason)
      // In case nobody ticks any more.
      const timer = ms < 600_000 ? setTimeout(() => this.#beat(), ms) : undefined
      if (signal.aborted) return wait.fail(signal.reason)
      signal.addEventListener('abort', aborted)
      this.#waits.add(wait)
      try {
        const value = probe()
        if (value) wait.settle(value)
      } catch (e) {
        wait.fail(e)
      }
    })
  }

  /** Nothing but time. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    await this.until(() => false, ms, signal)
  }

  close(): void {
    this.#observer.disconnect()
    this.#deep.onroot = null
    clearTimeout(this.#timer)
    this.#waits.clear()
  }
}
