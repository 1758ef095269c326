import { copied } from '../../wasm/js/shared/copied.ts'
import type { Approval, Requests } from '../messages.ts'
import type { ToolCall } from '../tools/tool.ts'
import { Waiting } from './waiting.ts'

/** The longest time that a call waits for an approval, in ms. */
const patience = 5 * 60_000
/** The most calls of one client that wait at once. */
const most = 20
const longestArgs = 4000
/** Indentation makes a text longer by the square of its depth, so that longer arguments have none. */
const longestIndented = 16_384

type Decision = Parameters<Requests['approve']>[0]['answer']
/** `expired`: no decision came in time. `gone`: the client gave up, or too many of its calls wait. */
export type Outcome = Decision | 'expired' | 'gone'

/** Calls that wait for the user's decision in the side panel. */
export class Approvals extends Waiting<Approval, Outcome> {
  ask({ client, tool, args, signal }: ToolCall, summary: string, flags: Approval['flags'] = []): Promise<Outcome> {
    const own = this.list.filter((view) => view.client === client.key)
    if (own.length >= most || signal.aborted) return Promise.resolve('gone')
    const id = crypto.randomUUID()
    const askedAt = Date.now()
    const timer = setTimeout(() => this.settle(id, 'expired'), patience)
    const plain = JSON.stringify(args)
    const text = plain.length > longestIndented ? plain : JSON.stringify(args, null, 2)
    const view = {
      id,
      client: client.key,
      clientName: client.name,
      tool,
      summary,
      flags,
      args: text.length > longestArgs ? `${copied(text.slice(0, longestArgs))}…` : text,
      askedAt,
      expiresAt: askedAt + patience,
    }
    return this.put(view, signal, 'gone').finally(() => clearTimeout(timer))
  }
}
