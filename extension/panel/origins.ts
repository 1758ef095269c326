import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { define } from '../../web/ui/part.ts'
import { line } from '../../web/ui/text.ts'
import { confirm } from './confirm.ts'
import { OriginPart } from './originpart.ts'

/** Web pages that may use the bridge. */
class Origins extends OriginPart {
  protected override render(): TemplateResult {
    const id = this.id_
    const { origins } = this.state
    return html`<section class="card plain" aria-labelledby=${id}>
      <header><h2 id=${id}>${this.t('origins')}</h2></header>
      <p class="dim">${this.t('origins_means')}</p>
      ${
      origins.length
        ? html`<ul class="rows">${
          repeat(origins, (origin) => origin, (origin) =>
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
            }</li>`)
        }</ul>`
        : nothing
    }
      ${this.form(this.t('origin_add'), this.t('origin_approve'))}
    </section>`
  }

  protected override take(origin: string): Promise<boolean> {
    return this.panel.send('approveOrigin', { origin, approved: true })
  }
}

define('portolan-origins', Origins)
