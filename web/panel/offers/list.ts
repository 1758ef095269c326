import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { PanelPart } from '../context.ts'
import { freshId, reactive } from '../../ui/part.ts'
import { type Fault, faultView, searchField } from '../../ui/fields.ts'
import { flag as flagIcon } from '../../ui/icons.ts'
import { line } from '../../ui/text.ts'
import type { PromptInfo, Snapshot } from '../../../wasm/js/shared/types.ts'

/** Rows of a server that are shown. The search finds the rest. */
const rows = 200

/** The members that all rows share. */
export type Offer = Pick<PromptInfo, 'server' | 'name' | 'title' | 'description' | 'flags'>

/** A list of what servers offer beside tools, by server. It asks the servers when it is first shown. */
export abstract class OfferList<O extends Offer> extends PanelPart {
  static override properties = reactive('servers', 'query', 'offers', 'loading', 'fault')
  static override initial = { query: '' }
  declare servers: Snapshot['servers']
  declare private query: string
  declare protected offers: O[] | undefined
  declare private loading: boolean
  declare private fault: Fault | undefined
  private readonly searchId = freshId()
  /** The state of the servers for which the lists were last asked for. */
  private asked = ''

  protected abstract load(): Promise<O[]>
  /** The field in a server's health that is absent while its list is unknown. */
  protected abstract readonly counts: readonly ('resourceCount' | 'templateCount' | 'promptCount')[]
  protected abstract readonly kind: 'resources' | 'prompts' | 'skills'
  protected abstract keyOf(offer: O): string
  protected abstract row(offer: O): TemplateResult

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('servers')) void this.follow()
  }

  /** Asks again when a server has come, is back, or has changed its list. */
  private async follow(): Promise<void> {
    const on = Object.entries(this.servers).filter(([, s]) => s.status !== 'disabled' && !s.suspended)
    const now = JSON.stringify(on.map(([name, s]) => [
      name,
      // A length that is not known after a connection is asked for.
      this.counts.map((count) => s[count] ?? s.lastConnected),
    ]))
    if (this.loading || (now === this.asked && this.offers)) return
    this.asked = now
    this.loading = true
    try {
      this.offers = await this.load()
      this.fault = undefined
    } catch (e) {
      this.offers ??= []
      this.fault = e as Fault
    }
    this.loading = false
    await this.follow() // the servers may have changed meanwhile
  }

  /** Asks again although no server has changed. */
  protected reload(): void {
    this.asked = ''
    void this.follow()
  }

  protected override render(): TemplateResult {
    const q = this.query.trim().toLowerCase()
    const found = (this.offers ?? []).filter((o) =>
      this.servers[o.server] &&
      [o.server, o.name, o.title, o.description, this.keyOf(o)].join('\n').toLowerCase().includes(q)
    )
    const groups = Map.groupBy(found, (o) => o.server)
    return html`
      <div class="filters">${
      searchField(this.searchId, this.t(`search_${this.kind}`), this.query, (query) => (this.query = query))
    }</div>
      <p class="found" role="status">${this.says(found.length)}</p>
      ${faultView(this.fault)}
      ${repeat(groups, ([server]) => server, ([server, list]) => this.group(server, list))}`
  }

  /** The number of rows, for screen readers. */
  private says(n: number): string {
    if (!this.offers) return this.t('loading')
    if (n || this.fault) return this.t(this.query ? 'matches' : 'listed', { n })
    return this.t(this.offers.length ? 'no_match' : `no_${this.kind}`)
  }

  private group(server: string, list: O[]): TemplateResult {
    return html`<section class="group" part="offer-group">
      <div class="group-head"><div role="heading" aria-level=${this.panel.headingLevel}><bdi>${
      line(server, 80)
    }</bdi></div><span class="dim">${this.panel.words.number(list.length)}</span></div>
      <ul>${
      repeat(list.slice(0, rows), (o) =>
        this.keyOf(o), (o) =>
        html`<li class="tool" part="offer">${this.row(o)}${
          o.flags?.length
            ? html`<span class="badge warn">${flagIcon}<span>${this.t('flags_title')}</span></span>`
            : nothing
        }</li>`)
    }</ul>
      ${list.length > rows ? html`<p class="dim">${this.t('search_for_rest', { n: list.length - rows })}</p>` : nothing}
    </section>`
  }
}
