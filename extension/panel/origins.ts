import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { line } from '../../web/ui/text.ts'
import { confirm } from './confirm.ts'
import { originOf, type OriginProblem } from './permissions.ts'

/** Web pages that may use the bridge. */
class Origins extends AppPart {
  static override properties = reactive('problem')
  declare private problem: OriginProblem | undefined
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const id = this.id_
    const { origins } = this.state
    return html`<section class="card plain" aria-labelledby=${id}>
      <header><h2 id=${id}>${this.t('origins')}</h2></header>
      <p class="dim">${this.t('origins_means')}</p>
      ${
      origins.length
        ? html`<ul class="rows">${
          origins.map((origin) =>
            html`<li><bdi dir="ltr" class="mono">${line(origin, 200)}</bdi>
        ${
              confirm(this.panel, {
                label: this.t('origin_remove'),
                name: this.t('origin_remove_of', { origin: line(origin, 100) }),
                question: this.t('origin_question', { origin: line(origin, 100) }),
                yes: this.t('origin_remove'),
                small: true,
                act: () => this.panel.send('approveOrigin', { origin, approved: false }),
              })
            }</li>`
          )
        }</ul>`
        : nothing
    }
      <form class="row" novalidate @submit=${this.add}>
        <div class="field grow"><label for="${id}-add">${this.t('origin_add')}</label>
          <input id="${id}-add" name="origin" dir="ltr" inputmode="url" spellcheck="false" autocomplete="off"
            placeholder="https://app.example" aria-invalid=${!!this
      .problem} aria-describedby="${id}-fault" @input=${() => (this.problem = undefined)}></div>
        <button class="end">${this.t('origin_approve')}</button>
      </form>
      <div id="${id}-fault" role="alert">${
      this.problem ? html`<p class="hint bad">${this.t(`origin_${this.problem}`)}</p>` : nothing
    }</div>
    </section>`
  }

  private async add(event: Event): Promise<void> {
    event.preventDefault()
    const input = this.querySelector<HTMLInputElement>('[name=origin]')!
    const read = originOf(input.value)
    if ('problem' in read) {
      this.problem = read.problem
      if (read.origin) input.value = read.origin // what would be approved, to be looked at
      return input.focus()
    }
    if (await this.panel.send('approveOrigin', { origin: read.origin, approved: true })) input.value = ''
  }
}

define('portolan-origins', Origins)
