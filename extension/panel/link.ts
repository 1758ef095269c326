import { html, nothing, type TemplateResult } from 'lit'
import { standingIcon } from '../../web/panel/icons.ts'
import { clean } from '../../web/panel/text.ts'
import { confirm } from './confirm.ts'
import { define, freshId, Piece } from './piece.ts'
import { fault, linkStanding, linkWords } from './standing.ts'

/** How the link to the bridge stands, and what can be done about it. */
class LinkCard extends Piece {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { link, tools } = this.state
    const { words: t } = this.desk
    return html`<section class="card" data-standing=${linkStanding[link.status]} aria-labelledby=${this.id_}>
      <header><span class="standing">${standingIcon[linkStanding[link.status]]}</span><h2 id=${this.id_}>${
      t('bridge')
    }</h2>
        <span class="status">${linkWords(link, t, this.now)}</span></header>
      <ul class="facts">
        <li><bdi dir="ltr">${clean(link.address, 80)}</bdi></li>
        ${
      link.status === 'connected' && link.since !== null
        ? html`<li>${t('link_since', { ago: t.ago(link.since, Math.max(this.now, link.since)) })}</li>`
        : nothing
    }
        ${link.ephemeral ? html`<li>${t('link_ephemeral')}</li>` : nothing}
        ${link.status === 'connected' ? html`<li>${t('tools_offered', { n: tools.length })}</li>` : nothing}
      </ul>
      ${
      link.status === 'connected' && !tools.length
        ? html`<p class="hint">${t('no_tools_yet')} <button type="button" class="link" @click=${() =>
          this.desk.go('chats')}>${t('place_chats')}</button></p>`
        : nothing
    }
      ${link.status === 'stopped' ? html`<p class="hint warn">${t('stopped_means')}</p>` : nothing}
      ${link.status === 'connected' ? nothing : fault(link.error, t)}
      <div class="row">
        ${
      link.status === 'waiting' || link.status === 'refused'
        ? html`<button type="button" class="primary" @click=${() => this.desk.send('reconnect', {})}>${
          t('try_now')
        }</button>`
        : nothing
    }
        ${
      link.status === 'stopped'
        ? html`<button type="button" class="primary" @click=${() => this.desk.send('go', {})}>${t('go')}</button>`
        : nothing
    }
        ${
      confirm(this.desk, {
        label: t('unpair'),
        question: t('unpair_question'),
        yes: t('unpair_yes'),
        small: true,
        act: () => this.desk.send('unpair', {}),
      })
    }
      </div>
    </section>`
  }
}

define('portolan-link', LinkCard)
