import { css, html, type PropertyValues, type TemplateResult } from 'lit'
import type { ElicitationAnswer, ElicitationRequest, ElicitationUrlRequest } from '../../../wasm/js/shared/types.ts'
import type { WordsContext } from '../context.ts'
import { wordsOf, type Messages, type Words } from '../translations.ts'
import { define } from '../../ui/part.ts'
import { Shell } from '../../ui/shell.ts'
import { styles } from '../../ui/style.ts'
import { clean } from '../../ui/text.ts'
import { directionOf } from '../../ui/translations.ts'
import type { Notice } from '../../ui/notices.ts'
import { Questions } from './questions.ts'

/** `<portolan-questions>`: the dialogs of the panel for questions of servers, without the panel. */
export class QuestionsElement extends Shell implements WordsContext {
  static override styles = [styles, css`:host { display: contents; }`]
  static override properties = { messages: { attribute: false }, behind: { attribute: false }, locale: {} }
  declare messages: Messages | undefined
  declare locale: string
  /** The number of questions that wait behind the one that is shown. */
  declare behind: number
  words: Words = wordsOf('en')
  private readonly questions = new Questions(this)

  constructor() {
    super()
    this.locale = ''
    this.behind = 0
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.questions.end()
  }

  elicit(request: ElicitationRequest): Promise<ElicitationAnswer> {
    return this.questions.elicit(request)
  }

  elicitUrl(request: ElicitationUrlRequest): Promise<ElicitationAnswer['action']> {
    return this.questions.elicitUrl(request)
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('locale') || changed.has('messages') || !this.hasUpdated)
      this.words = wordsOf(this.locale || this.closest('[lang]')?.getAttribute('lang') || 'en', this.messages)
  }

  protected override render(): TemplateResult {
    const { words: t } = this
    return html`<div lang=${t.locale} dir=${directionOf(t.locale)}>${this.questions.view(this.behind)}${
      this.notices.view(t)
    }</div>`
  }

  protected override describe(fault: unknown): Notice {
    return { text: clean((fault as Error).message, 500) }
  }
}

define('portolan-questions', QuestionsElement)
