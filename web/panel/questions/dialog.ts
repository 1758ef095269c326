import { html, nothing, type TemplateResult } from 'lit'
import type { WordsContext } from '../context.ts'
import { DialogPart } from '../../ui/dialog.ts'
import { reactive } from '../../ui/part.ts'

/** A dialog that asks the person something. Its event `said` has the answer. */
export abstract class QuestionDialog<Answer> extends DialogPart<WordsContext> {
  static override properties = reactive('request', 'more')
  /** The number of questions that wait behind it. */
  declare more: number
  /** The answer. At first, that of a person who closes the dialog, by Escape too. */
  protected abstract said: Answer

  protected reply(answer: Answer): void {
    this.said = answer
    this.close()
  }

  protected override closed(): void {
    this.dispatchEvent(new CustomEvent<Answer>('said', { detail: this.said }))
  }

  protected behind(words: 'question_more' | 'approve_more' = 'question_more'): TemplateResult | typeof nothing {
    return this.more ? html`<p class="dim" role="status">${this.t(words, { n: this.more })}</p>` : nothing
  }
}
