import { ToolFault } from '../tools/tool.ts'

/** The most prompts that wait for one site. */
export const longestQueue = 10

interface WaitingPrompt {
  begin(): void
  moved(ahead: number): void
}

/** Runs one prompt at a time for a site. The others wait in order. */
export class Queue {
  private busy = false
  private readonly line: WaitingPrompt[] = []

  get waiting(): number {
    return this.line.length
  }

  /**
   * Runs work when the line before it is done. `moved` gets the number of prompts ahead. Rejects with QUEUE_FULL, with
   * CANCELLED if the signal aborts before, and with TIMEOUT at the deadline (ms since the epoch).
   */
  async add<T>(
    work: () => Promise<T>,
    { signal, deadline, moved }: { signal: AbortSignal; deadline: number; moved(ahead: number): void },
  ): Promise<T> {
    await this.begin(signal, deadline, moved)
    try {
      return await work()
    } finally {
      const next = this.line.shift()
      if (next) next.begin() // `busy` stays set, so that no other prompt comes between
      else this.busy = false
      this.report()
    }
  }

  private begin(signal: AbortSignal, deadline: number, moved: (ahead: number) => void): Promise<void> {
    if (signal.aborted) return Promise.reject(cancelled())
    if (!this.busy) {
      this.busy = true
      return Promise.resolve()
    }
    if (this.line.length >= longestQueue) {
      const message = `${longestQueue} prompts wait for this site already. Try again when some were answered.`
      return Promise.reject(new ToolFault('QUEUE_FULL', message))
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const own: WaitingPrompt = { moved, begin: resolve }
    const leave = (fault: ToolFault) => {
      const at = this.line.indexOf(own)
      if (at < 0) return
      this.line.splice(at, 1)
      reject(fault)
      this.report()
    }
    const abort = () => leave(cancelled())
    const late = 'The prompt waited in the queue until its time was over. Nothing was sent.'
    const timer = setTimeout(() => leave(new ToolFault('TIMEOUT', late)), deadline - Date.now())
    signal.addEventListener('abort', abort)
    this.line.push(own)
    moved(this.line.length)
    return promise.finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    })
  }

  private report(): void {
    this.line.forEach((w, i) => w.moved(i + 1))
  }
}

export const cancelled = () => new ToolFault('CANCELLED', 'The prompt was cancelled. Nothing was sent.')
