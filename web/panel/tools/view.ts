import { html, nothing, type TemplateResult } from 'lit'
import { guard } from 'lit/directives/guard.js'
import { live } from 'lit/directives/live.js'
import { repeat } from 'lit/directives/repeat.js'
import { PanelPart } from '../context.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { searchField, selectField } from '../../ui/fields.ts'
import type { Snapshot } from '../../../wasm/js/shared/types.ts'
import { chevron, flag as flagIcon } from '../../ui/icons.ts'
import { clean } from '../../ui/text.ts'
import { budgetView } from './budget.ts'
import { chosen } from './ledger.ts'
import type { Flag } from './flag-rules.ts'
import type { ToolSearch } from './found.ts'
import type { Listed } from './ledger.ts'

const filters = ['all', 'on', 'off', 'flagged'] as const
type Filter = typeof filters[number]

/** Rows of a server that are shown unasked; the rest waits behind a button. */
const rows = 200

/** Rows that are made for the first picture, and then with each idle moment. */
const atFirst = 100, step = 300

/** All tools by server, on and off. */
class ToolsView extends PanelPart {
  static override properties = reactive(
    'listed',
    'servers',
    'known',
    'budget',
    'query',
    'found',
    'filter',
    'made',
    'closed',
    'whole',
  )
  static override initial = {
    query: '',
    found: new Set(),
    filter: 'all',
    made: atFirst,
    closed: new Set(),
    whole: new Set(),
  }
  declare listed: Map<string, Listed[]>
  declare servers: Snapshot['servers']
  /** Grows when more is known of the tools. */
  declare known: number
  declare budget: number
  declare private query: string
  /** The names of tools that the search has found. */
  declare private found: ReadonlySet<string>
  declare private filter: Filter
  declare private made: number
  declare private closed: Set<string>
  declare private whole: Set<string>
  /** Rows that this picture may still have. */
  private left = 0
  private making = false
  private revealed: Element | undefined
  private choices: Promise<unknown> = Promise.resolve()
  private search: Promise<ToolSearch> | undefined
  private readonly ids = { search: freshId(), filter: freshId() }

  protected override render(): TemplateResult {
    const { ids } = this
    const groups = [...this.listed].map(([server, list]) => ({ server, list, shown: list.filter((l) => this.fits(l)) }))
      .filter((g) => g.shown.length)
    const n = groups.reduce((sum, g) => sum + g.shown.length, 0)
    this.left = this.made
    if (n > this.made) this.makeMore()
    return html`
      ${budgetView(this.panel, this.listed, this.budget)}
      <div class="filters">
        ${searchField(ids.search, this.t('search_tools'), this.query, (q) => this.look(q))}
        ${
      selectField(
        ids.filter,
        this.t('show'),
        filters,
        this.filter,
        (f) => this.t(`show_${f}`),
        (f) => (this.filter = f),
      )
    }
      </div>
      <p class="found" role="status">${this.says(n)}</p>
      ${repeat(groups, (g) => g.server, (g) => this.group(g.server, g.list, g.shown))}`
  }

  private says(n: number): string {
    if (!n) return this.t(this.listed.size ? 'no_match' : 'no_tools')
    return this.query || this.filter !== 'all' ? this.t('found', { n }) : ''
  }

  private makeMore(): void {
    if (this.making) return
    this.making = true
    const idle = globalThis.requestIdleCallback ?? ((fn: () => void) => setTimeout(fn, 20))
    idle(() => {
      this.making = false
      this.made += step
    }, { timeout: 200 })
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('listed')) void this.find()
  }

  /** Shows the tools with exactly this text, and the others when they are found. */
  private look(query: string): void {
    this.query = query
    this.made = atFirst
    this.found = new Set()
    void this.find()
  }

  private async find(): Promise<void> {
    const { query, listed } = this
    if (!query.trim()) return
    this.search ??= import('./found.ts').then(({ ToolSearch }) => new ToolSearch())
    try {
      const found = await (await this.search).find(listed, query)
      if (this.query === query) this.found = found
    } catch {
      this.search = undefined // the part could not be loaded
    }
  }

  private fits({ info, on }: Listed): boolean {
    if (this.filter === 'on' && !on || this.filter === 'off' && on) return false
    if (this.filter === 'flagged' && !this.panel.flags.of(info).length) return false
    const q = this.query.trim().toLowerCase()
    return !q || this.found.has(info.name) || info.name.toLowerCase().includes(q) ||
      info.tool.toLowerCase().includes(q) ||
      String(info.definition.title ?? '').toLowerCase().includes(q) ||
      String(info.definition.description ?? '').toLowerCase().includes(q)
  }

  private group(server: string, list: Listed[], shown: Listed[]): unknown {
    const open = !this.closed.has(server) || !!this.query
    const wanted = this.whole.has(server) ? shown : shown.slice(0, rows)
    const part = open ? wanted.slice(0, Math.max(0, this.left)) : []
    this.left -= part.length
    return guard(
      [
        list,
        this.query,
        this.found,
        this.filter,
        open,
        part.length,
        wanted.length,
        this.known,
        this.panel.words,
        this.panel.headingLevel,
      ],
      () => this.groupView(server, list, part, shown.length - wanted.length, open),
    )
  }

  private groupView(server: string, list: Listed[], part: Listed[], left: number, open: boolean): TemplateResult {
    const on = list.filter((l) => l.on)
    const name = clean(server, 80)
    const id = `tools-${[...this.listed.keys()].indexOf(server)}`
    const tokens = this.panel.tokenCounts.total(on.map((l) => l.info))
    return html`<section class="group" part="tool-group">
      <div class="group-head">
        <input type="checkbox" .checked=${live(on.length === list.length)} .indeterminate=${
      live(on.length > 0 && on.length < list.length)
    } aria-label=${this.t('all_tools_of', { name })}
          @change=${(e: Event) => this.choose(server, list, list, (e.target as HTMLInputElement).checked)}>
        <div role="heading" aria-level=${this.panel.headingLevel}><button type="button" class="quiet" aria-expanded=${open} aria-controls=${id} @click=${() =>
      this.fold(server)}>${chevron}<bdi>${name}</bdi></button></div>
        <span class="dim">${this.t('tools_of', { n: on.length, total: list.length })}${
      tokens ? ` · ${this.t('tokens', { n: tokens })}` : nothing
    }</span>
      </div>
      <ul id=${id} ?hidden=${!open}>${
      repeat(part, (l) => l.info.name, (l) =>
        guard([
          l.info.definition,
          l.on,
          this.panel.tokenCounts.of(l.info),
          this.panel.flags.of(l.info),
          this.panel.words,
        ], () => this.row(server, list, l)))
    }</ul>
      ${
      open && left
        ? html`<button type="button" class="small" @click=${() => (this.whole = new Set(this.whole).add(server))}>${
          this.t('show_rest', { n: left })
        }</button>`
        : nothing
    }
    </section>`
  }

  private row(server: string, list: Listed[], { info, on }: Listed): TemplateResult {
    const { definition } = info
    const name = clean(info.tool, 128)
    const tokens = this.panel.tokenCounts.of(info)
    const flags = this.panel.flags.of(info)
    return html`<li class="tool" part="tool">
      <input type="checkbox" .checked=${live(on)} aria-label=${this.t('offer', { name })} data-tool=${info.name}
        @change=${(e: Event) => this.choose(server, list, [{ info, on }], (e.target as HTMLInputElement).checked)}>
      <button type="button" class="quiet about" @click=${() => this.panel.show({ kind: 'tool', name: info.name })}>
        <span class="mono"><bdi>${name}</bdi></span>
        <span class="dim clip" dir="auto">${clean(String(definition.title ?? definition.description ?? ''), 160)}</span>
      </button>
      ${flags.length ? this.badge(flags) : nothing}
      ${
      tokens === undefined
        ? nothing
        : html`<span class="dim tokens" title=${this.t('tokens', { n: tokens })}>${
          this.panel.words.number(tokens)
        }</span>`
    }
    </li>`
  }

  private badge(flags: readonly Flag[]): TemplateResult {
    const label = [...new Set(flags.map((f) => this.t(`flag_${f.code}`)))].join(this.t('comma'))
    return html`<span class="badge warn" title=${label}>${flagIcon}<span>${label}</span></span>`
  }

  private choose(server: string, list: Listed[], some: Listed[], on: boolean): void {
    const names = (tools: Listed[]) => tools.map((l) => l.info.tool)
    const { registry } = this.panel
    // Each choice is made of the one before, so that none is lost.
    this.choices = this.choices.then(() =>
      this.panel.run(() => {
        const { tools } = registry.getSnapshot().servers[server]?.config ?? {}
        return registry.updateServer(server, { tools: chosen(tools, names(list), names(some), on) })
      })
    ).finally(() => this.requestUpdate())
  }

  /** Brings a server's tools into sight. There they stay while rows above them are made, unless the person acts. */
  reveal(server: string): void {
    const group = this.querySelectorAll<HTMLElement>('.group')[[...this.listed.keys()].indexOf(server)]
    group?.scrollIntoView({ block: 'start' })
    group?.querySelector<HTMLElement>('[role=heading] button')?.focus()
    if (this.making) this.revealed = group
  }

  protected override firstUpdated(): void {
    for (const act of ['wheel', 'pointerdown', 'keydown'])
      this.addEventListener(act, () => (this.revealed = undefined), { passive: true })
  }

  protected override updated(): void {
    this.revealed?.scrollIntoView({ block: 'start' })
    if (!this.making) this.revealed = undefined
  }

  private fold(server: string): void {
    const closed = new Set(this.closed)
    if (!closed.delete(server)) closed.add(server)
    this.closed = closed
  }
}

define('portolan-tools', ToolsView)
