interface Ask<Request, Answer> {
  request: Request
  answer(answer: Answer): void
}

/** Questions that wait for the person, oldest first. */
export class Queue<Request extends { signal: AbortSignal }, Answer> {
  private waiting: readonly Ask<Request, Answer>[] = []
  /** The answer to a question that nobody answers. */
  readonly none: Answer
  private readonly changed: () => void

  constructor(none: Answer, changed: () => void) {
    this.none = none
    this.changed = changed
  }

  get first(): Ask<Request, Answer> | undefined {
    return this.waiting[0]
  }

  get more(): number {
    return Math.max(0, this.waiting.length - 1)
  }

  add(request: Request): Promise<Answer> {
    return new Promise((resolve) => {
      const ask: Ask<Request, Answer> = {
        request,
        answer: (answer) => {
          request.signal.removeEventListener('abort', gone)
          this.waiting = this.waiting.filter((a) => a !== ask)
          this.changed()
          resolve(answer)
        },
      }
      const gone = () => ask.answer(this.none) // nobody waits for it
      if (request.signal.aborted) return resolve(this.none)
      request.signal.addEventListener('abort', gone)
      this.waiting = [...this.waiting, ask]
      this.changed()
    })
  }

  /** Nobody can be asked any more. */
  end(): void {
    for (const ask of this.waiting) ask.answer(this.none)
  }
}
