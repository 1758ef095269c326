import type { Approval } from '../messages.ts'
import type { ToolCall } from '../tools/tool.ts'

/** How long a question waits for the person, in ms. */
const patience = 5 * 60_000
/** How many may wait at once. */
const most = 20

export type Answer = 'once' | 'always' | 'deny' | 'never'

/** Questions to the person, in the side panel. A call waits for its answer. */
export class Approvals {
  private readonly waiting = new Map<string, { view: Approval; answer: (a: Answer | 'expired' | 'gone') => void }>()
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  get list(): Approval[] {
    return [...this.waiting.values()].map((w) => w.view)
  }

  /** `expired`: nobody answered in time. `gone`: the client gave up, or too many questions wait. */
  ask(call: ToolCall, summary: string): Promise<Answer | 'expired' | 'gone'> {
    if (this.waiting.size >= most || call.signal.aborted) return Promise.resolve('gone')
    const id = crypto.randomUUID()
    const now = Date.now()
    return new Promise((resolve) => {
      const answer = (a: Answer | 'expired' | 'gone') => {
        clearTimeout(timer)
        call.signal.removeEventListener('abort', leave)
        this.waiting.delete(id)
        this.changed()
        resolve(a)
      }
      const leave = () => answer('gone')
      const timer = setTimeout(() => answer('expired'), patience)
      call.signal.addEventListener('abort', leave)
      const { client, tool, args } = call
      this.waiting.set(id, {
        answer,
        view: {
          id,
          client: client.key,
          clientName: client.name,
          tool,
          summary,
          args: cut(JSON.stringify(args, null, 2)),
          askedAt: now,
          expiresAt: now + patience,
        },
      })
      this.changed()
    })
  }

  answer(id: string, answer: Answer): void {
    this.waiting.get(id)?.answer(answer)
  }
}

const longest = 4000
const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest)}…` : text)
