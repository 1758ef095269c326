import { html, nothing, type TemplateResult } from 'lit'
import { firstClick } from '../../ui/dialog.ts'
import { toJSON, type Field, type State } from '../form/field.ts'
import { formOf } from '../form/form.ts'
import { problems } from '../form/problems.ts'
import { initial } from '../form/state.ts'
import { fieldView, membersView, pathIds, saysUnfinished, wrongField } from '../tool/fields.ts'
import { define, reactive } from '../../ui/part.ts'
import { clean, line } from '../../ui/text.ts'
import type { ElicitationAnswer, ElicitationRequest } from '../../../wasm/js/shared/types.ts'
import '../tool/json.ts'
import { QuestionDialog } from './dialog.ts'
import { originView } from './origin.ts'

/** Names of what no server may ask for by a form (2025-11-25, client/elicitation, security). */
const secret =
  /pass(?:word|phrase|code|wor)|secret|api[-_ ]?key|(?:access|auth|refresh)[-_ ]?token|\bpin\b|\bcv[vc]\b|private[-_ ]?key|card[-_ ]?number|credential/i

const asksForSecrets = (form: Field, schema: unknown): boolean =>
  form.kind === 'object'
    ? form.fields.some(({ name, field }) => secret.test(name) || secret.test(field.title ?? ''))
    : secret.test(JSON.stringify(schema))

/** Puts a server's question to the person, by a form. The values are shown before they are sent. */
class FormQuestion extends QuestionDialog<ElicitationAnswer> {
  static override properties = reactive('state', 'checked', 'reviewed')
  declare request: ElicitationRequest
  declare private state: State
  /** Problems are shown after the first attempt to send. */
  declare private checked: boolean
  declare private reviewed: boolean
  private form!: Field
  protected override said: ElicitationAnswer = { action: 'cancel' }
  private readonly idOf = pathIds()

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('request')) return
    this.form = formOf({ type: 'object', ...this.request.requestedSchema })
    this.state = this.form.kind === 'json' ? '{}' : initial(this.form)
  }

  private get isEmpty(): boolean {
    return this.form.kind === 'object' && !this.form.fields.length
  }

  protected heading(): string {
    return this.t('question_title')
  }

  protected body(): TemplateResult {
    const { request: r, form, state } = this
    const refused = asksForSecrets(form, r.requestedSchema)
    const found = this.checked ? problems(form, state) : []
    const shared = { panel: this.panel, idOf: this.idOf, problems: new Map(found.map((p) => [p.path, p])) }
    const put = (state: State) => (this.state = state)
    return html`<form class="content" novalidate @submit=${this.send}>
      ${originView(this.panel, r)}
      <p class="description" tabindex="0"><bdi>${clean(r.message, 8000)}</bdi></p>
      ${
      refused
        ? html`<p class="hint bad" role="alert">${this.t('question_secret')}</p>`
        : this.reviewed
        ? html`<portolan-json .panel=${this.panel} .label=${
          this.t('question_sends', { server: line(r.server, 80) })
        } .value=${this.content} .levels=${3}></portolan-json>`
        : form.kind === 'object'
        ? membersView(shared, form, state, '', put)
        : fieldView(shared, form, state, '', this.t('arguments'), put)
    }
      ${this.behind()}
      <footer @click=${firstClick}><button type="button" @click=${() => this.reply({ action: 'decline' })}>${
      this.t('decline')
    }</button>
        <span class="apart"></span>
        ${
      this.reviewed
        ? html`<button type="button" @click=${() => (this.reviewed = false)}>${this.t('back')}</button>`
        : nothing
    }
        ${
      refused
        ? nothing
        : html`<button class="primary">${
          this.t(this.reviewed || this.isEmpty ? 'question_send' : 'question_check')
        }</button>`
    }</footer>
    </form>`
  }

  private get content(): Record<string, unknown> {
    return JSON.parse(toJSON(this.form, this.state) ?? '{}') as Record<string, unknown>
  }

  private readonly send = (e: Event): void => {
    e.preventDefault()
    this.checked = true
    if (problems(this.form, this.state).length) {
      void this.updateComplete.then(() => this.querySelector<HTMLElement>(wrongField)?.focus())
      return
    }
    if (saysUnfinished(this)) return
    if (!this.reviewed && !this.isEmpty) this.reviewed = true
    else this.reply({ action: 'accept', content: this.content })
  }
}

define('portolan-form-question', FormQuestion)
