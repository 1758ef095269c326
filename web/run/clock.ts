/** The time of a run. It stands still while a person is asked. */
export class Clock {
  readonly #ends = new AbortController()
  readonly signal = this.#ends.signal
  #left: number
  #since = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number) {
    this.#left = ms
  }

  /** Starts with the time that is left, or with less, in ms. */
  start(most = this.#left): void {
    this.#left = Math.min(this.#left, most)
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.#ends.abort(), this.#left)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#left -= performance.now() - this.#since
  }
}
