import { copied } from '../../wasm/js/shared/copied.ts'
import type { Approval, Requests } from '../messages.ts'
import type { ToolCall } from '../tools/tool.ts'

/** The longest time that a call waits for an approval, in ms. */
const patience = 5 * 60_000
/** The most calls of one client that wait at once. */
const most = 20
const longestArgs = 4000
/** Indentation makes a text longer by the square of its depth, so that longer arguments have none. */
const longestIndented = 16_384

export type Decision = Parameters<Requests['approve']>[0]['answer']
/** `expired`: no decision came in time. `gone`: the client gave up, or too many of its calls wait. */
export type Outcome = Decision | 'expired' | 'gone'

/** Calls that wait for the user's decision in the side panel. */
export class Approvals {
  private readonly waiting = new Map<string, { view: Approval; settle(outcome: Outcome): void }>()
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  get list(): Approval[] {
    return [...this.waiting.values()].map((w) => w.view)
  }

  ask({ client, tool, args, signal }: ToolCall, summary: string, flags: Approval['flags'] = []): Promise<Outcome> {
    const own = this.list.filter((view) => view.client === client.key)
    if (own.length >= most || signal.aborted) return Promise.resolve('gone')
    const id = crypto.randomUUID()
    const askedAt = Date.now()
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const settle = (outcome: Outcome) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      this.waiting.delete(id)
      this.changed()
      resolve(outcome)
    }
    const leave = () => settle('gone')
    const timer = setTimeout(() => settle('expired'), patience)
    signal.addEventListener('abort', leave)
    const plain = JSON.stringify(args)
    const text = plain.length > longestIndented ? plain : JSON.stringify(args, null, 2)
    this.waiting.set(id, {
      settle,
      view: {
        id,
        client: client.key,
        clientName: client.name,
        tool,
        summary,
        flags,
        args: text.length > longestArgs ? `${copied(text.slice(0, longestArgs))}…` : text,
        askedAt,
        expiresAt: askedAt + patience,
      },
    })
    this.changed()
    return promise
  }

  decide(id: string, decision: Decision): void {
    this.waiting.get(id)?.settle(decision)
  }
}
