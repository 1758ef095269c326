import { ToolFault } from '../tools/tool.ts'

/** Requests that wait for the user in the side panel, by the id of what is shown of them. */
export class Waiting<View extends { id: string }, Outcome> {
  protected readonly waiting = new Map<string, { view: View; settle(outcome: Outcome): void }>()
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  get list(): View[] {
    return [...this.waiting.values()].map((w) => w.view)
  }

  /** Shows a request. Resolves to its outcome: `left` once the signal aborts. */
  protected put(view: View, signal: AbortSignal, left: Outcome): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const settle = (outcome: Outcome) => {
      signal.removeEventListener('abort', leave)
      this.waiting.delete(view.id)
      this.changed()
      resolve(outcome)
    }
    const leave = () => settle(left)
    signal.addEventListener('abort', leave)
    this.waiting.set(view.id, { settle, view })
    this.changed()
    return promise
  }

  /** Settles a request. Throws if it has ended, as with the worker that it waited in. */
  settle(id: string, outcome: Outcome): void {
    const request = this.waiting.get(id)
    if (!request) throw new ToolFault('ENDED', 'the request has ended')
    request.settle(outcome)
  }
}
