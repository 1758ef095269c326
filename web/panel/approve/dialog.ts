import { html, nothing, type TemplateResult } from 'lit'
import type { WordsContext } from '../context.ts'
import { DialogPart, firstClick } from '../../ui/dialog.ts'
import type { Key } from '../translations.ts'
import { define, reactive } from '../../ui/part.ts'
import type { Approval, ApprovalRequest } from '../../../wasm/js/shared/types.ts'
import { clean } from '../../ui/text.ts'
import { flagList } from '../tools/flags-view.ts'
import '../tool/json.ts'

/** Asks the person to approve a call. */
class Approve extends DialogPart<WordsContext> {
  static override properties = reactive('request', 'more')
  declare request: ApprovalRequest
  /** The number of approvals that wait behind it. */
  declare more: number
  private said: Approval = 'deny'

  protected heading(): string {
    return this.t('approve_title')
  }

  protected body(): TemplateResult {
    const { request: r } = this
    const claims = Object.entries(r.annotations).flatMap((
      [key, value],
    ) => (typeof value === 'boolean' && key.endsWith('Hint') ? [`${key}_${value}` as Key] : []))
    const button = (approval: Approval, main = false) =>
      html`<button type="button" class=${main ? 'primary' : ''} @click=${() => this.say(approval)}>${
        this.t(`approval_${approval}`)
      }</button>`
    return html`<div class="content">
      <p>${this.t('approve_why')} <strong class="mono"><bdi>${clean(r.tool, 128)}</bdi></strong> · <bdi>${
      clean(r.server, 80)
    }</bdi></p>
      ${
      r.description
        ? html`<p class="description dim" tabindex="0"><bdi>${clean(r.description, 2000)}</bdi></p>`
        : nothing
    }
      ${
      claims.length
        ? html`<p class="dim">${r.trusted ? nothing : this.t('claims')} ${claims.map((c) => this.t(c)).join(' · ')}</p>`
        : nothing
    }
      ${flagList(this.panel.words, r.flags)}
      <portolan-json .panel=${this.panel} .label=${this.t('arguments')} .value=${r.args} .levels=${3}></portolan-json>
      ${this.more ? html`<p class="dim" role="status">${this.t('approve_more', { n: this.more })}</p>` : nothing}
      <footer @click=${firstClick}>${button('never')} ${button('deny')} <span class="apart"></span> ${
      button('always')
    } ${button('once', true)}</footer>
      <p class="dim">${this.t('approval_bound')}</p>
    </div>`
  }

  private say(approval: Approval): void {
    this.said = approval
    this.close()
  }

  /** Escape closes the dialog too, and denies. */
  protected override closed(): void {
    this.dispatchEvent(new CustomEvent<Approval>('said', { detail: this.said }))
  }
}

define('portolan-approve', Approve)
