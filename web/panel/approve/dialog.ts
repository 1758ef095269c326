import { html, nothing, type TemplateResult } from 'lit'
import { firstClick } from '../../ui/dialog.ts'
import type { Key } from '../translations.ts'
import { define } from '../../ui/part.ts'
import { QuestionDialog } from '../questions/dialog.ts'
import type { Approval, ApprovalRequest } from '../../../wasm/js/shared/types.ts'
import { clean } from '../../ui/text.ts'
import { flagList } from '../tools/flags-view.ts'
import '../tool/json.ts'

/** Asks the person to approve a call. */
class Approve extends QuestionDialog<Approval> {
  declare request: ApprovalRequest
  protected override said: Approval = 'deny'

  protected heading(): string {
    return this.t('approve_title')
  }

  protected body(): TemplateResult {
    const { request: r } = this
    const claims = Object.entries(r.annotations).flatMap((
      [key, value],
    ) => (typeof value === 'boolean' && key.endsWith('Hint') ? [`${key}_${value}` as Key] : []))
    const button = (approval: Approval, main = false) =>
      html`<button type="button" class=${main ? 'primary' : ''} @click=${() => this.reply(approval)}>${
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
      ${this.behind('approve_more')}
      <footer @click=${firstClick}>${button('never')} ${button('deny')} <span class="apart"></span> ${
      button('always')
    } ${button('once', true)}</footer>
      <p class="dim">${this.t('approval_bound')}</p>
    </div>`
  }
}

define('portolan-approve', Approve)
