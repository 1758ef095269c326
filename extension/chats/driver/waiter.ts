import type { ShadowDom } from './shadow.ts'

const observed: MutationObserverInit = {
  childList: true,
  subtree: true,
  characterData: true,
  attributes: true,
  attributeFilter: ('class style hidden disabled aria-disabled aria-label aria-busy fonticon data-testid ' +
    'data-mat-icon-name data-state data-turn-key').split(' '),
}

interface Wait {
  probe(): unknown
  end: number
  resolve(value: unknown): void
  reject(reason: unknown): void
}

/**
 * Waits for mutations and for the background's ticks. In a hidden page, timers run once a second, and animation frames
 * do not run at all.
 */
export class Waiter {
  /** Runs first on each tick, about every 250 ms. */
  ontick: (() => void) | null = null
  readonly #dom: ShadowDom
  readonly #observer: MutationObserver
  readonly #waits = new Set<Wait>()
  #probedAt = 0
  /** The least time between two rounds of probes, in ms. */
  #gap = 40
  #scannedAt = 0
  #due = Infinity
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(dom: ShadowDom) {
    this.#dom = dom
    this.#observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) dom.learn(node)
      if (performance.now() - this.#probedAt < this.#gap) return this.#schedule(this.#gap)
      this.#probe()
      // Waits for a quiet page need a second look before the next tick.
      if (this.#waits.size) this.#schedule(Math.max(110, this.#gap))
    })
    dom.onroot = (root) => this.#observer.observe(root, observed)
    this.#observer.observe(dom.document, observed)
    dom.learn(dom.document)
  }

  tick(): void {
    if (performance.now() - this.#scannedAt > 1000) {
      this.#dom.rescan()
      this.#scannedAt = performance.now()
    }
    this.ontick?.()
    this.#probe()
  }

  #schedule(ms: number): void {
    const due = performance.now() + ms
    if (due >= this.#due) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#probe(), ms)
    this.#due = due
  }

  #probe(): void {
    clearTimeout(this.#timer)
    this.#due = Infinity
    const begun = performance.now()
    for (const wait of [...this.#waits]) {
      try {
        const value = wait.probe()
        if (!value && performance.now() < wait.end) continue
        wait.resolve(value || undefined)
      } catch (e) {
        wait.reject(e)
      }
      this.#waits.delete(wait)
    }
    this.#probedAt = performance.now()
    // Probes take at most a fifth of the page's time, however large the page is.
    this.#gap = Math.max(40, 4 * (this.#probedAt - begun))
  }

  /** Resolves to the probe's first truthy value, or to undefined after `ms`. Rejects with the signal's reason. */
  until<T>(probe: () => T, ms: number, signal: AbortSignal): Promise<NonNullable<T> | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<NonNullable<T> | undefined>()
    const wait: Wait = { probe, end: performance.now() + ms, resolve: resolve as Wait['resolve'], reject }
    const aborted = () => reject(signal.reason)
    // This timer counts only if the ticks have stopped.
    const timer = ms < 600_000 ? setTimeout(() => this.#probe(), ms) : undefined
    signal.addEventListener('abort', aborted)
    this.#waits.add(wait)
    try {
      if (signal.aborted) aborted()
      else {
        const value = probe()
        if (value) resolve(value)
      }
    } catch (e) {
      reject(e)
    }
    return promise.finally(() => {
      clearTimeout(timer)
      this.#waits.delete(wait)
      signal.removeEventListener('abort', aborted)
    })
  }

  /** Lets time pass. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    await this.until(() => false, ms, signal)
  }

  close(): void {
    this.#observer.disconnect()
    this.#dom.onroot = null
    clearTimeout(this.#timer)
    this.#waits.clear()
  }
}
