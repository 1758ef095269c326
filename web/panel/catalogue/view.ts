import { html, nothing, type TemplateResult } from 'lit'
import { PanelDialog } from '../context.ts'
import { define, focusSoon, freshId, reactive } from '../../ui/part.ts'
import { searchField } from '../../ui/fields.ts'
import { hostOf } from '../server/diagnosis.ts'
import { clean, line } from '../../ui/text.ts'
import '../add/preview.ts'
import { CatalogueError, Search } from './catalogue.ts'
import type { Listing } from './listing.ts'

/** The pause in typing after which a search begins, in ms. */
const rest = 300

/** Servers of a public catalogue, to choose from. */
class CatalogueDialog extends PanelDialog {
  static override properties = reactive('base', 'listings', 'chosen', 'loading', 'fault')
  static override initial = { listings: [] }
  declare base: string
  declare private listings: Listing[]
  declare private chosen: Listing | undefined
  declare private loading: boolean
  declare private fault: CatalogueError | undefined
  protected override wide = true
  private readonly id_ = freshId()
  private search: Search | undefined
  private typing: ReturnType<typeof setTimeout> | undefined
  private query = ''

  protected override firstUpdated(): void {
    super.firstUpdated()
    this.begin('')
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.typing)
  }

  protected heading(): string {
    return this.t('catalogue_title')
  }

  protected body(): TemplateResult {
    const { id_: id, chosen } = this
    if (chosen) {
      return html`<div class="content">
        <button type="button" class="small start" @click=${() => (this.chosen = undefined)}>${this.t('back')}</button>
        <div><h3><bdi>${line(chosen.title || chosen.name, 120)}</bdi></h3><p class="dim mono"><bdi>${
        line(chosen.name, 200)
      }</bdi></p></div>
        <p><bdi>${clean(chosen.description, 1000)}</bdi></p>
        ${
        chosen.website
          ? html`<p>${
            this.t('website')
          }: <a href=${chosen.website} target="_blank" rel="noopener noreferrer"><bdi dir="ltr">${
            line(hostOf(chosen.website), 100)
          }</bdi></a></p>`
          : nothing
      }
        <portolan-preview .panel=${this.panel} .entries=${chosen.entries} .servers=${this.panel.snapshot.servers} @added=${() =>
        this.close()}></portolan-preview>
      </div>`
    }
    return html`<div class="content">
      ${searchField(id, this.t('search_catalogue'), this.query, this.typed)}
      <p class="dim">${this.t('catalogue_from', { host: hostOf(this.base) })}</p>
      <div role="status">${this.state()}</div>
      <ul class="entries">${
      this.listings.map((l) =>
        html`<li class="listing">
        <div><h3><bdi>${line(l.title || l.name, 120)}</bdi>${
          l.deprecated ? html` <span class="badge warn">${this.t('deprecated')}</span>` : nothing
        }</h3>
          <p class="dim"><bdi class="mono">${line(l.name, 120)}</bdi> · <bdi dir="ltr">${
          line(hostOf(l.entries[0]!.config!.url).replace(/\$\{input:([^}]*)\}/g, '{$1}'), 80)
        }</bdi></p>
          <p><bdi>${line(l.description, 300)}</bdi></p></div>
        <button type="button" aria-label=${
          this.t('choose_entry_of', { name: line(l.title || l.name, 80) })
        } @click=${() => (this.chosen = { ...l, entries: l.entries.slice(0, 1) })}>${
          this.t('choose_entry')
        }</button></li>`
      )
    }</ul>
      ${
      !this.search?.done && !this.fault && (this.listings.length || !this.loading)
        ? html`<button type="button" aria-disabled=${this.loading} @click=${() => this.loading || this.more()}>${
          this.t('more')
        }</button>`
        : nothing
    }
    </div>`
  }

  private state(): TemplateResult | string | typeof nothing {
    if (this.fault) {
      return html`<div class="hint bad"><p>${this.t(`catalogue_${this.fault.code}`, { n: this.fault.status ?? 0 })} ${
        this.t('catalogue_text')
      }</p>
        ${
        this.fault.code === 'url'
          ? nothing
          : html`<button type="button" class="small" @click=${() => this.more()}>${this.t('fix_retry')}</button>`
      }</div>`
    }
    if (this.loading) return this.t('loading')
    return this.listings.length ? this.t('catalogue_found', { n: this.listings.length }) : this.t('catalogue_none')
  }

  private readonly typed = (query: string) => {
    this.query = query
    clearTimeout(this.typing)
    this.typing = setTimeout(() => this.begin(this.query), rest)
  }

  private begin(text: string): void {
    this.listings = []
    this.fault = undefined
    try {
      this.search = new Search({ baseUrl: this.base, signal: this.ends.signal, page: location.href }, text)
      void this.more()
    } catch (e) {
      this.fault = e as CatalogueError
    }
  }

  private async more(): Promise<void> {
    const { search, ends: { signal } } = this
    this.loading = true
    this.fault = undefined
    try {
      const found = await search!.more()
      if (search !== this.search) return // another search has begun
      // The button for more may have the focus, and may go.
      if (this.focused?.ariaDisabled) focusSoon(this, `.listing:nth-child(${this.listings.length + 1}) button`)
      this.listings = [...this.listings, ...found]
    } catch (e) {
      if (search !== this.search) return
      if (!signal.aborted) this.fault = e instanceof CatalogueError ? e : new CatalogueError('offline', undefined, e)
    }
    this.loading = false
  }
}

define('portolan-catalogue', CatalogueDialog)
