import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { PanelPart, type PanelContext } from '../context.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { parsed } from '../../ui/json.ts'
import { download } from '../../ui/save.ts'
import { searchField, selectField } from '../../ui/fields.ts'
import type { Key } from '../translations.ts'
import { clean } from '../../ui/text.ts'
import { asCassette, asHAR } from './files.ts'
import { legible } from '../../../wasm/js/shared/json.ts'
import { exportRows, type ActivityLog, type Row } from './log.ts'
import type { HttpExchange } from '../../../wasm/js/shared/types.ts'
import { placeOf } from '../server/diagnosis.ts'
import type { MenuItem } from '../../ui/menu.ts'
import '../../ui/menu.ts'
import '../tool/json.ts'

const kinds = ['all', 'call', 'connection', 'exchange', 'failed'] as const
type Kind = typeof kinds[number]

/** Rows made beyond what can be seen. */
const spare = 12

/** The timeline: the newest row first, of which only those in sight are made. */
class ActivityView extends PanelPart {
  static override properties = reactive('log', 'records', 'query', 'kind', 'held', 'top', 'chosen')
  static override initial = { query: '', kind: 'all', top: 0 }
  declare log: ActivityLog
  declare records: PanelContext['records']
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
        if (this.isConnected) this.requestUpdate()
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
      [r.server, r.tool, r.errorCode, r.exchange?.url, r.exchange?.requestBody].some((text) =>
        text?.toLowerCase().includes(q)
      )
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
          <portolan-menu .panel=${this.panel} .label=${this.t('save_as')} .items=${this.menu}></portolan-menu>
        </div>
        <div class="row">
          ${this.switch('contents', this.t('record_contents'))}
          ${this.panel.registry.mode === 'remote' ? nothing : this.switch('exchanges', this.t('record_exchanges'))}
        </div>
      </div>
      <p class="found" role="status">${
      rows.length ? nothing : this.t(this.log.rows.length ? 'no_match' : 'no_activity')
    }</p>
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
          <div class="space" rows=${first}></div>
          ${repeat(shown, (r) => r.id, (r, i) => this.row(r, first + i))}
          <div class="space" rows=${rows.length - first - shown.length}></div>
        </div></div>`
        : nothing
    }
      ${this.chosen ? this.details(this.chosen) : nothing}`
  }

  private switch(name: keyof PanelContext['records'], label: string): TemplateResult {
    return html`<label class="choice"><input type="checkbox" .checked=${this.records[name]} @change=${(e: Event) =>
      this.panel.record({
        ...this.records,
        [name]: (e.target as HTMLInputElement).checked,
      })}><span>${label}</span></label>`
  }

  private readonly menu = (): MenuItem[] => {
    const rows = this.held ?? this.log.rows
    const { snapshot, registry } = this.panel
    return [
      { label: this.t('save_har'), act: () => download('portolan.har', asHAR(rows, registry.version)) },
      { label: this.t('save_cassette'), act: () => download('portolan.cassette.json', asCassette(rows, snapshot)) },
    ]
  }

  /** Calls a tool with the same arguments. The new call becomes the chosen row. */
  private again(r: Row): void {
    const stop = this.log.subscribe(() => {
      const begun = this.log.rows.findLast((row) => row.tool === r.tool)
      if (begun && begun.id !== r.id) this.chosen = begun
    })
    void this.panel.run(() => this.panel.registry.call(r.tool!, r.args!)).finally(stop)
  }

  protected override updated(): void {
    // A style attribute would need 'unsafe-inline'; the property does not.
    for (const space of this.querySelectorAll<HTMLElement>('.space'))
      space.style.setProperty('--_rows', space.getAttribute('rows'))
  }

  private readonly scrolled = (e: Event) => {
    const { scrollTop, scrollHeight } = e.target as HTMLElement
    const top = Math.floor(scrollTop * this.rows().length / scrollHeight)
    if (Math.abs(top - this.top) >= spare / 2 || top === 0) this.top = top
  }

  private row(r: Row, i: number): TemplateResult {
    return html`<div role="row" aria-rowindex=${i + 2} class="line" data-outcome=${
      r.over ? r.outcome ?? 'ok' : 'running'
    }>
      <span role="cell" class="dim clip">${this.panel.words.time(r.at)}</span>
      <span role="cell" class="clip"><button type="button" class="quiet small" dir="auto" aria-expanded=${
      this.chosen?.id === r.id
    } @click=${() => (this.chosen = this.chosen?.id === r.id ? undefined : r)}>${this.what(r)}</button></span>
      <span role="cell">${this.t(r.over ? `outcome_${r.outcome ?? 'ok'}` : 'outcome_running')}</span>
      <span role="cell" class="dim">${r.durationMs === undefined ? '' : this.panel.words.duration(r.durationMs)}</span>
    </div>`
  }

  private details(r: Row): TemplateResult {
    const { words: t } = this.panel
    r = this.log.rows.findLast((row) => row.id === r.id) ?? r // with what came since it was chosen
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
              t.duration(p.ms)
            }</span></li>`
          )
        }</ul>`
        : nothing
    }
      ${this.content('arguments', r.args)}
      ${this.content('result', r.answer)}
      ${r.exchange ? this.exchange(r.exchange) : nothing}
      ${
      r.kind === 'call' && r.args && parsed(r.args) !== undefined && !r.args.includes('[redacted]') &&
        this.panel.registry.has(r.tool ?? '')
        ? html`<div class="row"><button type="button" class="small" aria-disabled=${!r.over} @click=${() =>
          r.over && this.again(r)}>${t('run_again')}</button></div>`
        : nothing
    }
    </section>`
  }

  /** A JSON text as a tree, or what is left of one that was cut. */
  private content(label: Key, text: string | undefined): TemplateResult | typeof nothing {
    if (!text) return nothing
    const value = parsed(text, legible)
    return value === undefined
      ? html`<h4>${this.t(label)}</h4><pre tabindex="0"><bdi>${clean(text, 70_000)}</bdi></pre>`
      : html`<portolan-json .panel=${this.panel} .label=${this.t(label)} .value=${value} .levels=${4}></portolan-json>`
  }

  private exchange(x: HttpExchange): TemplateResult {
    const side = (label: Key, first: string, headers: [string, string][] = [], body?: string) =>
      html`<section aria-label=${this.t(label)}><h4>${this.t(label)}</h4>
        <p class="mono"><bdi dir="ltr">${clean(first, 2000)}</bdi></p>
        <dl class="pairs mono">${
        headers.map(([name, value]) =>
          html`<dt><bdi>${clean(name, 100)}</bdi></dt><dd><bdi>${clean(value, 500)}</bdi></dd>`
        )
      }</dl>${this.content('body', body)}</section>`
    return html`${side('request', `${x.method} ${x.url}`, x.requestHeaders, x.requestBody)}
      ${x.status === undefined ? nothing : side('response', String(x.status), x.responseHeaders, x.responseBody)}`
  }

  private what(r: Row): string {
    if (r.exchange) {
      const message = parsed(r.exchange.requestBody ?? '') as { method?: unknown } | undefined
      return clean(`${r.exchange.method} ${String(message?.method ?? placeOf(r.exchange.url))}`, 160)
    }
    return clean(r.tool ?? '', 128) || this.t('connection_to', { name: clean(r.server, 80) })
  }

  private phase(name: string): string {
    return ['waiting', 'server', 'connect', 'list'].includes(name) ? this.t(`phase_${name}` as Key) : clean(name, 30)
  }
}

define('portolan-activity', ActivityView)
