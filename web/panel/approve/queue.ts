import type { Approval, ApprovalRequest } from '../../../wasm/js/shared/types.ts'

interface Ask {
  request: ApprovalRequest
  answer(approval: Approval): void
}

/** Calls that wait for an approval, oldest first. */
export class ApprovalQueue {
  private waiting: readonly Ask[] = []
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  get first(): Ask | undefined {
    return this.waiting[0]
  }

  get more(): number {
    return Math.max(0, this.waiting.length - 1)
  }

  add(request: ApprovalRequest): Promise<Approval> {
    return new Promise((resolve) => {
      const ask: Ask = {
        request,
        answer: (approval) => {
          request.signal.removeEventListener('abort', gone)
          this.waiting = this.waiting.filter((a) => a !== ask)
          this.changed()
          resolve(approval)
        },
      }
      const gone = () => ask.answer('deny') // nobody waits for it
      if (request.signal.aborted) return resolve('deny')
      request.signal.addEventListener('abort', gone)
      this.waiting = [...this.waiting, ask]
      this.changed()
    })
  }

  /** Nobody can be asked any more. */
  end(): void {
    for (const ask of this.waiting) ask.answer('deny')
  }
}
