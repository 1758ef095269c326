import type { Question, Requests } from '../messages.ts'
import type { ServerQuestion } from '../tools/tool.ts'
import { Waiting } from './waiting.ts'

/** The most questions that wait at once. */
const most = 10

type QuestionAnswer = Parameters<Requests['answerQuestion']>[0]['answer']
const cancelled: QuestionAnswer = { action: 'cancel' }

/** Questions of servers that the side panel asks: during its own calls, and during those of clients that cannot ask. */
export class Questions extends Waiting<Question, QuestionAnswer> {
  private readonly isSeen: () => boolean

  /** `isSeen`: a page of the extension is open, which shows the questions. */
  constructor(changed: () => void, isSeen: () => boolean) {
    super(changed)
    this.isSeen = isSeen
  }

  /** Resolves to the user's answer. Without a page, and if too many wait, the question is declined. */
  ask(request: ServerQuestion, signal: AbortSignal): Promise<QuestionAnswer> {
    if (this.waiting.size >= most || signal.aborted || !this.isSeen()) return Promise.resolve({ action: 'decline' })
    return this.put({ ...request, id: crypto.randomUUID() }, signal, cancelled)
  }

  /** Nobody is there to answer any more. */
  cancel(): void {
    for (const { settle } of this.waiting.values()) settle(cancelled)
  }
}
