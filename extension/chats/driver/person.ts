/** Keys that only change what another key means, or leave the page. */
const modifiers = /^(?:Alt|AltGraph|Control|Meta|Shift|CapsLock|Fn|OS|Tab)$/

/**
 * Watches for the person's own hands in the driven tab. From the first trusted event
 * until `resume` the driver touches nothing.
 */
export class Person {
  paused = false
  /** Trusted input that we asked the background for is not the person's. */
  expected = false
  #waiting: (() => void)[] = []

  constructor(window: Window, signal: AbortSignal, took: () => void) {
    const seen = (event: Event) => {
      if (!event.isTrusted || this.paused || this.expected) return
      if (event instanceof KeyboardEvent && modifiers.test(event.key)) return
      this.paused = true
      took()
    }
    for (const type of ['keydown', 'mousedown', 'touchstart', 'paste'])
      window.addEventListener(type, seen, { capture: true, passive: true, signal })
  }

  resume(): void {
    this.paused = false
    for (const go of this.#waiting.splice(0)) go()
  }

  /** Before each touch of the page. Says whether there was a pause. */
  async hold(signal: AbortSignal): Promise<boolean> {
    const was = this.paused
    while (this.paused) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    }
    signal.throwIfAborted()
    return was
  }
}
