import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { PanelPart } from '../context.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { searchField, selectField } from '../../ui/fields.ts'
import { copy } from '../../ui/save.ts'
import { clean, line } from '../../ui/text.ts'
import type { LogEntry, LogLevel } from '../../../wasm/js/shared/types.ts'
import { logLevels } from '../../../wasm/js/shared/wire.gen.ts'

/** Entries that are kept, and rows that are shown. */
const most = 2000, rows = 300

const levels = logLevels as readonly LogLevel[]

const isAtLeast = (e: LogEntry, level: LogLevel) => levels.indexOf(e.level) >= levels.indexOf(level)

/** The logs of all servers, the newest entry first. */
class LogView extends PanelPart {
  static override properties = reactive('entries', 'query', 'level', 'held')
  static override initial = { query: '', level: 'debug' }
  declare private entries: readonly LogEntry[] | undefined
  declare private query: string
  declare private level: LogLevel
  /** The entries as they were when paused. */
  declare private held: readonly LogEntry[] | undefined
  private readonly ids = { search: freshId(), level: freshId() }
  private stop: (() => void) | undefined
  private arrived: LogEntry[] = []

  override connectedCallback(): void {
    super.connectedCallback()
    if (this.hasUpdated) this.listen() // it has been moved
  }

  protected override firstUpdated(): void {
    this.listen()
  }

  private listen(): void {
    void this.panel.run(async () => {
      const { registry } = this.panel
      const hear = registry.observe(({ log }) => log && this.take(log), { logs: true })
      if (!this.isConnected) return hear()
      this.stop = hear
      const before = await registry.logs()
      const known = new Set(this.entries?.map((e) => JSON.stringify(e)))
      this.entries = [...before.filter((e) => !known.has(JSON.stringify(e))), ...this.entries ?? []]
    })
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop?.()
  }

  /** Adds an entry with the next frame. */
  private take(entry: LogEntry): void {
    if (this.arrived.push(entry) > 1) return
    requestAnimationFrame(() => {
      this.entries = [...this.entries ?? [], ...this.arrived.splice(0)].slice(-most)
    })
  }

  protected override render(): TemplateResult {
    const q = this.query.trim().toLowerCase()
    const found = (this.held ?? this.entries ?? []).filter((e) =>
      isAtLeast(e, this.level) &&
      [e.server, e.logger, e.text].join('\n').toLowerCase().includes(q)
    )
    return html`
      <div class="filters">
        ${searchField(this.ids.search, this.t('search_log'), this.query, (query) => (this.query = query))}
        ${
      selectField(this.ids.level, this.t('log_level'), levels, this.level, (l) =>
        this.t(`log_level_${l}`), (l) => (this.level = l))
    }
        <button type="button" aria-pressed=${!!this
      .held} @click=${() => (this.held = this.held ? undefined : this.entries ?? [])}>${this.t('pause')}</button>
        <button type="button" ?disabled=${!found.length} @click=${() =>
      copy(this.panel, found.map((e) => this.textOf(e)).join('\n'))}>${this.t('copy')}</button>
      </div>
      <p class="found" role="status">${
      found.length ? nothing : this.t(this.entries?.length ? 'no_match' : 'no_log')
    }</p>
      ${
      found.length
        ? html`<ul class="group log" part="log" aria-label=${this.t('view_log')}>${
          repeat(found.slice(-rows).reverse(), (e) => e, (e) => this.row(e))
        }</ul>${
          found.length > rows
            ? html`<p class="dim">${this.t('search_for_rest', { n: found.length - rows })}</p>`
            : nothing
        }`
        : nothing
    }`
  }

  private saying(e: LogEntry): string {
    return e.dropped ? this.t('log_dropped', { n: e.dropped }) : e.text
  }

  private textOf(e: LogEntry): string {
    return [new Date(e.at).toISOString(), e.level, e.server, e.logger, this.saying(e)].filter(Boolean).join(' ')
  }

  private row(e: LogEntry): TemplateResult {
    return html`<li><time class="dim" datetime=${new Date(e.at).toISOString()}>${this.panel.words.time(e.at)}</time>
      <span class="badge ${isAtLeast(e, 'warning') ? 'warn' : ''}">${this.t(`log_level_${e.level}`)}</span>
      <span class="dim"><bdi>${line(e.server, 60)}</bdi>${
      e.logger ? html` · <bdi>${line(e.logger, 60)}</bdi>` : nothing
    }</span>
      <span class="mono"><bdi>${clean(this.saying(e), 2000)}</bdi></span></li>`
  }
}

define('portolan-log', LogView)
