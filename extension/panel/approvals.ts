import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { AppPart } from './context.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import type { flagList } from '../../web/panel/tools/flags-view.ts'
import { clean, line } from '../../web/ui/text.ts'
import type { Approval } from '../messages.ts'
import { question } from './icons.ts'

const answers = ['once', 'always', 'deny', 'never'] as const

/** Time in ms before clicks count. A question that just moved under the pointer has not been read. */
const settle = 500

/** Calls that wait for an approval, oldest first, above every tab. Screen readers announce them; the focus stays. */
class Approvals extends AppPart {
  static override properties = reactive('answering', 'flagList')
  static override initial = { answering: new Set() }
  declare private answering: ReadonlySet<string>
  /** Loaded with the first question that has flags. */
  declare private flagList: typeof flagList | undefined
  private readonly id_ = freshId()
  private shown = ''
  private settledAt = 0
  /** The focus was on a question that has been removed. */
  private orphaned = false

  private get questions(): Approval[] {
    return [...this.state.approvals].sort((a, b) => a.askedAt - b.askedAt)
  }

  protected override willUpdate(): void {
    if (!this.flagList && this.state.approvals.some((a) => a.flags.length))
      void import('../../web/panel/tools/flags-view.ts').then((m) => (this.flagList = m.flagList))
    const ids = this.state.approvals.map((a) => a.id).join('\n')
    if (ids === this.shown) return
    this.shown = ids
    this.settledAt = performance.now() + settle
    const card = this.focused?.closest<HTMLElement>('[data-id]')
    this.orphaned = !!card && !this.state.approvals.some((a) => a.id === card.dataset.id)
  }

  protected override updated(): void {
    if (!this.orphaned) return
    this.orphaned = false
    const next = this.querySelector<HTMLElement>('h2') ??
      (this.getRootNode() as ShadowRoot).querySelector<HTMLElement>('[role=tab][aria-selected=true]')
    next?.focus()
  }

  protected override render(): TemplateResult {
    const { questions } = this
    const newest = questions.at(-1)
    return html`
      <div role="alert" class="visually-hidden">${
      newest ? this.t('asks_said', { client: line(newest.clientName, 80), tool: line(newest.tool, 80) }) : nothing
    }</div>
      ${
      questions.length
        ? html`<section aria-label=${this.t('asks_waiting', { n: questions.length })}><ul class="cards">${
          repeat(questions, (a) => a.id, (a) => html`<li>${this.card(a)}</li>`)
        }</ul></section>`
        : nothing
    }`
  }

  private card(a: Approval): TemplateResult {
    const id = `${this.id_}-${a.id.replace(/\W/g, '_')}`
    const left = Math.max(0, Math.ceil((a.expiresAt - this.now) / 1000))
    return html`<article class="card asks" data-id=${a.id} aria-labelledby=${id}>
      <header><span class="standing">${question}</span><h2 id=${id} tabindex="-1"><bdi class="client">${
      line(a.clientName, 80)
    }</bdi> ${this.t('asks_wants')} <bdi class="mono">${line(a.tool, 80)}</bdi></h2></header>
      <p class="says"><bdi>${clean(a.summary, 1000)}</bdi></p>
      ${this.flagList?.(this.panel.words, a.flags) ?? nothing}
      <details><summary>${this.t('arguments')}</summary><pre tabindex="0" dir="ltr">${
      clean(a.args, 20_000)
    }</pre></details>
      <div class="answers">${
      answers.map((answer) =>
        html`<button type="button" class=${
          answer === 'once' ? 'primary' : answer === 'never' ? 'danger' : ''
        } aria-disabled=${this.answering.has(a.id)}
        aria-describedby=${id} @click=${() => this.answer(a, answer)}>${this.t(`answer_${answer}`)}</button>`
      )
    }</div>
      <p class="dim">${this.t('asks_claimed')} ${
      this.t('asks_left', { time: this.panel.words.duration(left * 1000) })
    }</p>
    </article>`
  }

  private async answer({ id }: Approval, answer: (typeof answers)[number]): Promise<void> {
    if (performance.now() < this.settledAt || this.answering.has(id)) return
    this.answering = new Set([...this.answering, id])
    await this.panel.send('approve', { id, answer })
    this.answering = new Set([...this.answering].filter((other) => other !== id))
  }
}

define('portolan-approvals', Approvals)
