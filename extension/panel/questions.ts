import { html, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define } from '../../web/ui/part.ts'
import type { QuestionsElement } from '../../web/panel/questions/element.ts'
import type { ElicitationAnswer, ElicitationRequest, ElicitationUrlRequest } from '../../wasm/js/shared/types.ts'
import type { Question } from '../messages.ts'
import '../../web/panel/questions/element.ts'

/** Puts the questions of servers to the person, in the dialogs of the registry's panel. */
class QuestionsPart extends AppPart {
  /** Those that are shown, or whose answer the background has not yet taken. */
  private readonly open = new Map<string, AbortController>()

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    for (const ends of this.open.values()) ends.abort()
    this.open.clear()
  }

  protected override render(): TemplateResult {
    const { tag, settings } = this.panel.language
    return html`<portolan-questions .messages=${settings} locale=${tag}></portolan-questions>`
  }

  protected override updated(): void {
    const { questions } = this.state
    for (const [id, ends] of this.open) {
      if (questions.some((q) => q.id === id)) continue
      ends.abort()
      this.open.delete(id)
    }
    for (const question of questions) if (!this.open.has(question.id)) void this.put(question)
  }

  private async put({ id, ...question }: Question): Promise<void> {
    const ends = new AbortController()
    this.open.set(id, ends)
    const dialogs = this.querySelector('portolan-questions') as unknown as QuestionsElement
    const request = { ...question, signal: ends.signal }
    const answer: ElicitationAnswer = question.mode === 'url'
      ? { action: await dialogs.elicitUrl(request as ElicitationUrlRequest) }
      : await dialogs.elicit(request as ElicitationRequest)
    if (ends.signal.aborted || await this.panel.send('answerQuestion', { id, answer })) return
    this.open.delete(id) // it can be answered again
    this.requestUpdate()
  }
}

define('portolan-server-questions', QuestionsPart)
