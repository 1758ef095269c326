import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { isKey, type Words } from './translations.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { standingIcon, type Standing } from '../../web/ui/icons.ts'
import { clean } from '../../web/ui/text.ts'
import { confirm } from './confirm.ts'
import { leading, type Link } from '../messages.ts'

/** The state of the link to one bridge, and the buttons for it. */
class LinkCard extends AppPart {
  static override properties = reactive('link')
  declare link: Link
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { link } = this
    const { tools, links } = this.state
    const { words: t } = this.panel
    const { pairing } = link
    const address = clean(link.address, 80)
    // Where several have the same label, a screen reader says whose it is.
    const name = (label: string) => links.length > 1 ? `${label} ${address}` : undefined
    return html`<section class="card" data-standing=${linkStanding[link.status]} aria-labelledby=${this.id_}>
      <header><span class="standing">${standingIcon[linkStanding[link.status]]}</span><h2 id=${this.id_}>${
      links.length > 1
        ? html`<span class="visually-hidden">${t('bridge')}</span> <bdi dir="ltr">${address}</bdi>`
        : t('bridge')
    }</h2>
        <span class="status">${linkWords(link, t, this.now)}</span></header>
      <ul class="facts">
        ${links.length > 1 ? nothing : html`<li><bdi dir="ltr">${address}</bdi></li>`}
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
          this.panel.go('chats')}>${t('place_chats')}</button></p>`
        : nothing
    }
      ${link.status === 'stopped' ? html`<p class="hint warn">${t('stopped_means')}</p>` : nothing}
      ${link.status === 'connected' ? nothing : fault(link.error, t)}
      <div class="row">
        ${
      link.status === 'waiting' || link.status === 'refused'
        ? html`<button type="button" class="primary" aria-label=${name(t('try_now')) ?? nothing}
          @click=${() => this.panel.send('reconnect', { pairing })}>${t('try_now')}</button>`
        : nothing
    }
        ${
      link.status === 'stopped'
        ? html`<button type="button" class="primary" @click=${() => this.panel.send('go', {})}>${t('go')}</button>`
        : nothing
    }
        ${
      confirm(this.panel, {
        label: t('unpair'),
        name: name(t('unpair')),
        question: t('unpair_question'),
        yes: t('unpair_yes'),
        small: true,
        act: () => this.panel.send('unpair', { pairing }),
      })
    }
      </div>
    </section>`
  }
}

define('portolan-link', LinkCard)

/** The standing of each status: links have the shapes and colours of servers. */
const linkStanding: Record<Link['status'], Standing> = {
  connecting: 'connecting',
  connected: 'connected',
  waiting: 'paused',
  refused: 'failed',
  stopped: 'off',
}

/** The state of all bridges: that of the bridge that leads. */
export function linksStanding(
  links: Link[],
  t: Words,
  now: number,
): { standing: Standing; short: string; long: string } {
  const link = leading(links)
  if (!link) return { standing: 'idle', short: t('link_unpaired'), long: t('link_unpaired') }
  return { standing: linkStanding[link.status], short: t(`link_${link.status}`), long: linkWords(link, t, now) }
}

/** The status in words; while it waits, with the time that is left. */
function linkWords(link: Link, t: Words, now: number): string {
  if (link.status === 'waiting' && link.retryAt !== null) {
    const left = Math.ceil((link.retryAt - now) / 1000)
    return left > 0 ? t('link_waiting_for', { time: t.duration(left * 1000) }) : t('link_connecting')
  }
  return t(`link_${link.status}`)
}

/** A fault of the link or of pairing: what it is, its code, and what to do about it if that is known. */
export function fault(error: { code: string; message: string } | null, t: Words): TemplateResult | typeof nothing {
  if (!error) return nothing
  const own = `error_${error.code}`
  const key = `advice_${error.code.toLowerCase()}`
  const advice = isKey(key) && t(key)
  return html`<div class="diagnosis">
    <p><bdi>${isKey(own) ? t(own) : clean(error.message, 500)}</bdi> <span class="badge mono">${
    clean(error.code, 60)
  }</span></p>
    ${advice ? html`<p>${advice}</p>` : nothing}
  </div>`
}
