import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { AppPart } from './context.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { selectField } from '../../web/ui/fields.ts'
import { standingIcon } from '../../web/ui/icons.ts'
import { clean, line } from '../../web/ui/text.ts'
import type { Activity } from '../messages.ts'
import { confirm } from './confirm.ts'
import { cancelled, denied } from './icons.ts'

type Outcome = Activity['outcome']
const outcomes: Outcome[] = ['running', 'ok', 'error', 'denied', 'cancelled']
const icons = {
  running: standingIcon.connecting,
  ok: standingIcon.connected,
  error: standingIcon.failed,
  denied,
  cancelled,
}

/** Until then a time of day says when it was, in ms. */
const halfADay = 12 * 3_600_000

/** The number of rows at first, and of each addition. */
const page = 60

/** Calls, connections and decisions, newest first. */
class Log extends AppPart {
  static override properties = reactive('outcome', 'most')
  static override initial = { outcome: 'all', most: page }
  declare private outcome: Outcome | 'all'
  declare private most: number
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { id_: id } = this
    const { activity } = this.state
    const found = activity.filter((a) => this.outcome === 'all' || a.outcome === this.outcome).reverse()
    const rest = found.length - this.most
    return html`
      <div class="filters">
        ${
      selectField(id, this.t('log_show'), ['all', ...outcomes] as const, this.outcome, (o) =>
        this.t(`log_${o}`), this.choose)
    }
        ${
      activity.length
        ? confirm(this.panel, {
          label: this.t('clear'),
          question: this.t('log_question'),
          yes: this.t('log_yes'),
          act: () => this.panel.send('clearActivity', {}),
        })
        : nothing
    }
      </div>
      ${
      found.length
        ? html`<ol class="log" aria-label=${this.t('place_activity')}>${
          repeat(found.slice(0, this.most), (a) => a.id, (a) => this.row(a))
        }</ol>`
        : html`<p class="empty dim">${this.t(activity.length ? 'log_none_such' : 'log_none')}</p>`
    }
      ${
      rest > 0
        ? html`<button type="button" @click=${() => (this.most += page)}>${
          this.t('show_rest', { n: Math.min(rest, page) })
        }</button>`
        : nothing
    }`
  }

  private readonly choose = (outcome: Outcome | 'all') => {
    this.outcome = outcome
    this.most = page
  }

  private row(a: Activity): TemplateResult {
    const { words: t } = this.panel
    return html`<li data-outcome=${a.outcome}>${icons[a.outcome]}
      <p><bdi>${clean(a.text, 300)}</bdi></p>
      <time datetime=${new Date(a.at).toISOString()}>${
      this.now - a.at < halfADay ? t.time(a.at) : t.ago(a.at, this.now)
    }</time>
      <ul class="facts"><li>${t(`log_kind_${a.kind}`)}</li><li>${t(`log_${a.outcome}`)}</li>
        ${a.client ? html`<li><bdi>${line(a.client, 60)}</bdi></li>` : nothing}${
      a.tool ? html`<li class="mono"><bdi>${line(a.tool, 80)}</bdi></li>` : nothing
    }
        ${a.durationMs === undefined ? nothing : html`<li>${t.duration(a.durationMs)}</li>`}${
      a.code ? html`<li><span class="badge mono">${clean(a.code, 60)}</span></li>` : nothing
    }</ul></li>`
  }
}

define('portolan-log', Log)
