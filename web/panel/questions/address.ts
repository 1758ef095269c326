import { html, nothing, type TemplateResult } from 'lit'
import { firstClick } from '../../ui/dialog.ts'
import { define, reactive } from '../../ui/part.ts'
import { clean } from '../../ui/text.ts'
import type { ElicitationAnswer, ElicitationUrlRequest } from '../../../wasm/js/shared/types.ts'
import { QuestionDialog } from './dialog.ts'
import { originView } from './origin.ts'

type Action = ElicitationAnswer['action']

/** Asks the person to open an address for a server. Only the person's click opens it. */
class AddressQuestion extends QuestionDialog<Action> {
  static override properties = reactive('opened')
  declare request: ElicitationUrlRequest
  declare private opened: boolean
  protected override said: Action = 'cancel'

  protected heading(): string {
    return this.t('address_title')
  }

  protected body(): TemplateResult {
    const { request: r } = this
    const { host } = new URL(r.url)
    return html`<div class="content">
      ${originView(this.panel, r)}
      <p class="description" tabindex="0"><bdi>${clean(r.message, 8000)}</bdi></p>
      <p>${this.t('address_host')} <strong class="mono" dir="ltr">${host}</strong></p>
      ${host.includes('xn--') ? html`<p class="hint warn">${this.t('address_lookalike')}</p>` : nothing}
      <p class="mono dim address" dir="ltr">${clean(r.url, 2000)}</p>
      ${this.behind()}
      <div role="status">${this.opened ? html`<p>${this.t('address_waits')}</p>` : nothing}</div>
      <footer @click=${firstClick}><button type="button" @click=${() => this.reply('decline')}>${
      this.t('decline')
    }</button>
        <span class="apart"></span>
        ${
      this.opened
        ? html`<button type="button" class="primary" @click=${() => this.reply('accept')}>${
          this.t('address_done')
        }</button>`
        : nothing
    }
        <button type="button" class=${this.opened ? '' : 'primary'} @click=${this.open}>${
      this.t(this.opened ? 'address_again' : 'address_open')
    }</button></footer>
    </div>`
  }

  private readonly open = (): void => {
    window.open(this.request.url, '_blank', 'noopener,noreferrer')
    if (this.request.awaitsEnd) this.opened = true
    else this.reply('accept')
  }
}

define('portolan-address-question', AddressQuestion)
