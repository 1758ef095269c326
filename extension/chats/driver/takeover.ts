/** Keys that only change what another key means, or leave the page. */
export const modifiers = /^(?:Alt|AltGraph|Control|Meta|Shift|CapsLock|Fn|OS|Tab)$/

/** Notices when the user types or clicks in the driven tab. From then until `resume` the driver touches nothing. */
export class Takeover {
  paused = false
  /** There was a pause since the last `ended`. It may be over. */
  pending = false
  /** Trusted input from the background is expected, and not the user's. */
  expected = false
  /** Called before each touch of the page after a pause. It may throw. */
  onreturn: (() => void) | null = null
  #wasPaused = false
  #waiting: (() => void)[] = []

  constructor(window: Window, signal: AbortSignal, onpause: () => void) {
    const seen = (event: Event) => {
      if (!event.isTrusted || this.paused || this.expected) return
      if (event instanceof KeyboardEvent && modifiers.test(event.key)) return
      this.paused = this.pending = this.#wasPaused = true
      onpause()
    }
    for (const type of ['keydown', 'mousedown', 'touchstart', 'paste'])
      window.addEventListener(type, seen, { capture: true, passive: true, signal })
  }

  resume(): void {
    this.paused = false
    for (const resume of this.#waiting.splice(0)) resume()
  }

  /** Waits while the run is paused. Call it before each touch of the page. Reports whether a pause was pending. */
  async ended(signal: AbortSignal): Promise<boolean> {
    while (this.paused) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    }
    signal.throwIfAborted()
    const was = this.pending
    this.pending = false
    if (this.#wasPaused) this.onreturn?.()
    return was
  }
}
