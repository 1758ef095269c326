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

  start(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.#ends.abort(), this.#left)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#left -= performance.now() - this.#since
  }
}
