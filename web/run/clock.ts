/** The time of a run. It stands still while a person is asked. */
export class Clock {
  private readonly ends = new AbortController()
  private left: number
  private since = 0
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number) {
    this.left = ms
  }

  get signal(): AbortSignal {
    return this.ends.signal
  }

  start(): void {
    this.since = Date.now()
    this.timer = setTimeout(() => this.ends.abort(), this.left)
  }

  stop(): void {
    clearTimeout(this.timer)
    this.left -= Date.now() - this.since
  }
}
