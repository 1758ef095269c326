import type { Question, Requests } from '../messages.ts'
import type { ServerQuestion } from '../tools/tool.ts'

/** The most questions that wait at once. */
const most = 10

type Answer = Parameters<Requests['answerQuestion']>[0]['answer']
const declined: Answer = { action: 'decline' }

/** Questions of servers that the side panel asks: during its own calls, and during those of clients that cannot ask. */
export class Questions {
  private readonly waiting = new Map<string, { view: Question; settle(answer: Answer): void }>()
  private readonly changed: () => void
  private readonly isSeen: () => boolean

  /** `isSeen`: a page of the extension is open, which shows the questions. */
  constructor(changed: () => void, isSeen: () => boolean) {
    this.changed = changed
    this.isSeen = isSeen
  }

  get list(): Question[] {
    return [...this.waiting.values()].map((w) => w.view)
  }

  /** Resolves to the user's answer. Without a page, and if too many wait, the question is declined. */
  ask(request: ServerQuestion, signal: AbortSignal): Promise<Answer> {
    if (this.waiting.size >= most || signal.aborted || !this.isSeen()) return Promise.resolve(declined)
    const id = crypto.randomUUID()
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const settle = (answer: Answer) => {
      signal.removeEventListener('abort', leave)
      this.waiting.delete(id)
      this.changed()
      resolve(answer)
    }
    const leave = () => settle({ action: 'cancel' })
    signal.addEventListener('abort', leave)
    this.waiting.set(id, { settle, view: { ...request, id } })
    this.changed()
    return promise
  }

  answer(id: string, answer: Answer): void {
    this.waiting.get(id)?.settle(answer)
  }

  /** Nobody is there to answer any more. */
  cancel(): void {
    for (const { settle } of this.waiting.values()) settle({ action: 'cancel' })
  }
}
