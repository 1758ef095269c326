import { ToolFault } from '../tools/tool.ts'

/** How many prompts may wait for one site. */
export const longestQueue = 10

interface Waiting {
  begin(): void
  moved(ahead: number): void
}

/** Prompts for one site: one is at work, the others wait in order (T19). */
export class Queue {
  private busy = false
  private readonly line: Waiting[] = []

  get waiting(): number {
    return this.line.length
  }

  /**
   * Runs work when its turn comes. `moved` is told how many go first. Rejects with
   * QUEUE_FULL, CANCELLED when the signal aborts before, and TIMEOUT at the deadline (ms since the epoch).
   */
  async add<T>(
    work: () => Promise<T>,
    { signal, deadline, moved }: { signal: AbortSignal; deadline: number; moved(ahead: number): void },
  ): Promise<T> {
    await this.turn(signal, deadline, moved)
    try {
      return await work()
    } finally {
      this.busy = false
      this.next()
    }
  }

  private turn(signal: AbortSignal, deadline: number, moved: (ahead: number) => void): Promise<void> {
    if (signal.aborted) return Promise.reject(cancelled())
    if (!this.busy) {
      this.busy = true
      return Promise.resolve()
    }
    if (this.line.length >= longestQueue) {
      return Promise.reject(
        new ToolFault(
          'QUEUE_FULL',
          `${longestQueue} prompts wait for this site already. Try again when some were answered.`,
        ),
      )
    }
    return new Promise((resolve, reject) => {
      const leave = (fault: ToolFault) => {
        const at = this.line.indexOf(mine)
        if (at >= 0) this.line.splice(at, 1)
        settle()
        reject(fault)
        this.tell()
      }
      const abort = () => leave(cancelled())
      const timer = setTimeout(
        () =>
          leave(new ToolFault('TIMEOUT', 'The prompt waited for its turn until its time was over. Nothing was sent.')),
        deadline - Date.now(),
      )
      const settle = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
      const mine: Waiting = {
        moved,
        begin: () => {
          settle()
          resolve()
        },
      }
      signal.addEventListener('abort', abort)
      this.line.push(mine)
      moved(this.line.length)
    })
  }

  private next(): void {
    const next = this.line.shift()
    if (!next) return
    this.busy = true
    next.begin()
    this.tell()
  }

  private tell(): void {
    this.line.forEach((w, i) => w.moved(i + 1))
  }
}

const cancelled = () => new ToolFault('CANCELLED', 'The prompt was cancelled before its turn. Nothing was sent.')
