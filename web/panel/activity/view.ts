import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { PanelPart } from '../context.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { download } from '../../ui/save.ts'
import { searchField, selectField } from '../../ui/fields.ts'
import type { Key } from '../translations.ts'
import { clean } from '../../ui/text.ts'
import { exportRows, type ActivityLog, type Row } from './log.ts'

const kinds = ['all', 'call', 'connection', 'failed'] as const
type Kind = typeof kinds[number]

/** Height of a row in px, and rows made beyond what can be seen. */
const rowHeight = 34, spare = 12

/** The timeline: the newest row first, of which only those in sight are made. */
class ActivityView extends PanelPart {
  static override properties = reactive('log', 'query', 'kind', 'held', 'top', 'chosen')
  static override initial = { query: '', kind: 'all', top: 0 }
  declare log: ActivityLog
  declare private query: string
  declare private kind: Kind
  /** The rows as they were when paused. */
  declare private held: readonly Row[] | undefined
  /** The first row in sight. */
  declare private top: number
  declare private chosen: Row | undefined
  private readonly ids = { search: freshId(), kind: freshId() }
  private stop: (() => void) | undefined
  private drawing = false
  private found: { of: string; rows: Row[] } = { of: '', rows: [] }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('log')) return
    this.stop?.()
    this.stop = this.log.subscribe(() => {
      if (this.drawing) return
      this.drawing = true
      requestAnimationFrame(() => {
        this.drawing = false
        this.requestUpdate()
      })
    })
  }

  override connectedCallback(): void {
    super.connectedCallback()
    if (this.hasUpdated) this.requestUpdate('log') // it has been moved, and listens again
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop?.()
  }

  /** The rows that match, newest first; found once for each state. */
  private rows(): Row[] {
    const source = this.held ?? this.log.rows
    const of = JSON.stringify([this.query, this.kind, this.held ? -1 : this.log.version])
    if (this.found.of === of) return this.found.rows
    const q = this.query.trim().toLowerCase()
    const rows = source.filter((r) =>
      (this.kind === 'all' ||
        (this.kind === 'failed' ? r.outcome !== undefined && r.outcome !== 'ok' : r.kind === this.kind)) &&
      (!q || r.server.toLowerCase().includes(q) || !!r.tool?.toLowerCase().includes(q) || !!r.errorCode?.includes(q))
    ).reverse()
    this.found = { of, rows }
    return rows
  }

  protected override render(): TemplateResult {
    const { ids } = this
    const rows = this.rows()
    const first = Math.max(0, Math.min(this.top, rows.length - 1) - spare)
    const shown = rows.slice(first, first + 2 * spare + 20)
    return html`
      <div class="filters">
        ${searchField(ids.search, this.t('search_activity'), this.query, (q) => (this.query = q))}
        ${
      selectField(ids.kind, this.t('show'), kinds, this.kind, (k) => this.t(`activity_${k}`), (k) => (this.kind = k))
    }
        <div class="row">
          <button type="button" aria-pressed=${!!this
      .held} @click=${() => (this.held = this.held ? undefined : [...this.log.rows])}>${this.t('pause')}</button>
          <button type="button" @click=${() => {
      this.held = this.chosen = undefined
      this.log.clear()
    }}>${this.t('clear')}</button>
          <button type="button" ?disabled=${!rows.length} @click=${() =>
      download('portolan-activity.json', exportRows(rows))}>${this.t('export')}</button>
        </div>
      </div>
      ${
      rows.length
        ? html`<div class="timeline" part="timeline" role="region" aria-label=${
          this.t('view_activity')
        } tabindex="0" @scroll=${this.scrolled}>
        <div role="table" aria-rowcount=${rows.length + 1} aria-label=${this.t('view_activity')}>
          <div role="row" aria-rowindex="1" class="line heads">${
          (['time', 'what', 'outcome', 'took'] as const).map((h) =>
            html`<span role="columnheader">${this.t(`column_${h}`)}</span>`
          )
        }</div>
          <div class="space" style-height=${first}></div>
          ${repeat(shown, (r) => r.id, (r, i) => this.row(r, first + i))}
          <div class="space" style-height=${rows.length - first - shown.length}></div>
        </div></div>`
        : html`<p class="nothing">${this.t(this.log.rows.length ? 'no_match' : 'no_activity')}</p>`
    }
      ${this.chosen ? this.details(this.chosen) : nothing}`
  }

  protected override updated(): void {
    // A style attribute would need 'unsafe-inline'; the property does not.
    for (const space of this.querySelectorAll<HTMLElement>('.space'))
      space.style.blockSize = `${Number(space.getAttribute('style-height')) * rowHeight}px`
  }

  private readonly scrolled = (e: Event) => {
    const top = Math.floor((e.target as HTMLElement).scrollTop / rowHeight)
    if (Math.abs(top - this.top) >= spare / 2 || top === 0) this.top = top
  }

  private row(r: Row, i: number): TemplateResult {
    return html`<div role="row" aria-rowindex=${i + 2} class="line" data-outcome=${
      r.over ? r.outcome ?? 'ok' : 'running'
    }>
      <span role="cell" class="dim">${this.panel.words.time(r.at)}</span>
      <span role="cell" class="clip"><button type="button" class="quiet small" aria-expanded=${
      this.chosen?.id === r.id
    } @click=${() => (this.chosen = this.chosen?.id === r.id ? undefined : r)}><bdi>${
      this.what(r)
    }</bdi></button></span>
      <span role="cell">${this.t(r.over ? `outcome_${r.outcome ?? 'ok'}` : 'outcome_running')}</span>
      <span role="cell" class="dim">${r.durationMs === undefined ? '' : this.panel.words.duration(r.durationMs)}</span>
    </div>`
  }

  private details(r: Row): TemplateResult {
    const { words: t } = this.panel
    const sum = r.parts?.reduce((n, p) => n + p.ms, 0) || 1
    const facts: [label: Key, fact: string | undefined][] = [
      ['column_what', this.what(r)],
      ['server', clean(r.server, 80)],
      ['column_time', t.time(r.at)],
      ['column_took', r.durationMs === undefined ? undefined : t.duration(r.durationMs)],
      ['error_code', r.errorCode && clean(r.errorCode, 60)],
      ['message', r.message && clean(r.message, 500)],
    ]
    return html`<section class="card" aria-label=${t('details')}>
      <dl class="pairs">${
      facts.map(([label, fact]) => fact ? html`<dt>${t(label)}</dt><dd><bdi>${fact}</bdi></dd>` : nothing)
    }</dl>
      ${
      r.parts?.length
        ? html`<ul class="phases">${
          r.parts.map((p) =>
            html`<li><span>${this.phase(p.name)}</span>
        <meter min="0" max=${sum} value=${p.ms} aria-label=${this.phase(p.name)}></meter><span class="dim">${
              this.panel.words.duration(p.ms)
            }</span></li>`
          )
        }</ul>`
        : nothing
    }
    </section>`
  }

  private what(r: Row): string {
    return clean(r.tool ?? '', 128) || this.t('connection_to', { name: clean(r.server, 80) })
  }

  private phase(name: string): string {
    return name === 'waiting' || name === 'server' || name === 'connect' || name === 'list'
      ? this.t(`phase_${name}`)
      : clean(name, 30)
  }
}

define('portolan-activity', ActivityView)
