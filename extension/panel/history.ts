import { html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { AppPart } from './context.ts'
import { searchField, selectField } from '../../web/ui/fields.ts'
import { standingIcon } from '../../web/ui/icons.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { copy, download } from '../../web/ui/save.ts'
import { clean, line } from '../../web/ui/text.ts'
import { openTab } from '../browser.ts'
import { sites, type Site } from '../chats/drivermessages.ts'
import type { HistoryEntry, HistoryPage, HistoryQuery, Requests } from '../messages.ts'
import { confirm } from './confirm.ts'

type Trouble = ReturnType<Requests['troubles']>[number]

/** The search begins when nobody typed for this long, in ms. */
const pause = 200

/** Questions and answers that were kept, and the bundles about trouble. */
class History extends AppPart {
  static override properties = reactive('page', 'troubles', 'text', 'site', 'project')
  static override initial = { text: '', site: 'all', project: '' }
  declare private page: HistoryPage | undefined
  declare private troubles: Trouble[] | undefined
  declare private text: string
  declare private site: Site | 'all'
  declare private project: string
  private readonly id_ = freshId()
  private timer: ReturnType<typeof setTimeout> | undefined
  /** Counts the searches, because an earlier one may be answered later. */
  private searches = 0

  protected override firstUpdated(changed: PropertyValues): void {
    super.firstUpdated(changed)
    void this.search()
    void this.panel.run(async () => {
      this.troubles = (await this.panel.ask('troubles', {})).reverse()
    })
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.timer)
  }

  private get query(): HistoryQuery {
    return {
      ...(this.text && { text: this.text }),
      ...(this.site !== 'all' && { site: this.site }),
      ...(this.project && { project: this.project }),
    }
  }

  /** Reads the first entries, or those after the ones that are shown. */
  private async search(more = false): Promise<void> {
    const number = ++this.searches
    const before = more ? this.page?.entries.at(-1)?.id : undefined
    await this.panel.run(async () => {
      const next = await this.panel.ask('history', { ...this.query, ...(before !== undefined && { before }) })
      if (number !== this.searches) return
      this.page = more && this.page ? { ...next, entries: [...this.page.entries, ...next.entries] } : next
    })
  }

  protected override render(): TemplateResult {
    const { page, state } = this
    return html`
      ${
      state.options.history
        ? nothing
        : html`<div class="diagnosis"><p>${this.t('history_off')}</p><div class="row"><button type="button"
          class="primary" @click=${() => this.panel.send('setOptions', { history: true })}>${
          this.t('history_on')
        }</button></div></div>`
    }
      ${page && (page.entries.length || this.filtered) ? this.filters(page) : nothing}
      ${
      page?.entries.length
        ? html`<ol class="log" aria-label=${this.t('place_history')}>${
          repeat(page.entries, (e) => e.id, (e) => this.row(e))
        }</ol>`
        : page
        ? html`<p class="empty dim">${this.t(this.filtered ? 'history_none_such' : 'history_none')}</p>`
        : nothing
    }
      ${
      page?.more
        ? html`<button type="button" @click=${() => this.search(true)}>${this.t('history_older')}</button>`
        : nothing
    }
      ${this.troubles?.length ? this.troubleCard(this.troubles) : nothing}`
  }

  private get filtered(): boolean {
    return !!this.text || this.site !== 'all' || !!this.project
  }

  private filters({ projects }: HistoryPage): TemplateResult {
    const { id_: id } = this
    const changed = (change: () => void) => {
      change()
      clearTimeout(this.timer)
      this.timer = setTimeout(() => void this.search(), pause)
    }
    return html`<div class="filters">
        ${searchField(`${id}-text`, this.t('history_search'), this.text, (text) => changed(() => (this.text = text)))}
        ${
      selectField(`${id}-site`, this.t('history_site'), ['all', ...sites] as const, this.site, (s) =>
        s === 'all' ? this.t('history_all') : this.state.chats[s].label, (s) =>
        changed(() => (this.site = s)))
    }
        ${
      projects.length
        ? selectField(`${id}-project`, this.t('history_project'), ['', ...projects], this.project, (p) =>
          p === '' ? this.t('history_all') : line(p, 40), (p) =>
          changed(() => (this.project = p)))
        : nothing
    }
      </div>
      <div class="row"><button type="button" class="small" @click=${this.exportAll}>${
      this.t('history_export')
    }</button>${
      confirm(this.panel, {
        label: this.t('history_clear'),
        question: this.t('history_question'),
        yes: this.t('history_yes'),
        small: true,
        act: () => this.clear(),
      })
    }</div>`
  }

  private row(e: HistoryEntry): TemplateResult {
    const { words: t } = this.panel
    const ok = e.outcome === 'ok'
    const id = `${this.id_}-${e.id}`
    return html`<li data-outcome=${ok ? 'ok' : 'error'}>${ok ? standingIcon.connected : standingIcon.failed}
      <p class="asked" id=${id}><bdi>${clean(e.question, 300)}</bdi></p>
      <time datetime=${e.ts}>${t.ago(Date.parse(e.ts), Math.max(this.now, Date.parse(e.ts)))}</time>
      <ul class="facts"><li>${this.state.chats[e.site]?.label ?? e.site}</li>${
      e.project ? html`<li><bdi>${line(e.project, 60)}</bdi></li>` : nothing
    }<li><bdi>${line(e.clientName, 60)}</bdi></li>${
      e.model ? html`<li><bdi>${line(e.model, 60)}</bdi></li>` : nothing
    }${e.timings.totalMs === undefined ? nothing : html`<li>${t.duration(e.timings.totalMs)}</li>`}${
      ok ? nothing : html`<li><span class="badge mono">${clean(e.outcome, 60)}</span></li>`
    }${e.flags.length ? html`<li><span class="badge warn">${t('history_suspicious')}</span></li>` : nothing}</ul>
      ${
      e.answer
        ? html`<details class="facts"><summary>${t('history_answer')}</summary><p class="answer"><bdi>${
          clean(e.answer, 4000)
        }${e.cut ? '…' : ''}</bdi></p></details>`
        : nothing
    }
      <div class="row facts">
        ${
      e.url
        ? html`<button type="button" class="small" id="${id}-open" aria-labelledby="${id}-open ${id}" @click=${() =>
          openTab(e.url)}>${t('history_open')}</button>`
        : nothing
    }${
      e.conversationId
        ? html`<button type="button" class="small" id="${id}-resume" aria-labelledby="${id}-resume ${id}" title=${
          t('history_resume_means')
        } @click=${() => copy(this.panel, e.conversationId!)}>${t('history_resume')}</button>`
        : nothing
    }<button type="button" class="small danger" id="${id}-delete" aria-labelledby="${id}-delete ${id}" @click=${(
      click: MouseEvent,
    ) => click.detail < 2 && this.forget(e)}>${t('history_delete')}</button></div></li>`
  }

  private troubleCard(troubles: Trouble[]): TemplateResult {
    const { words: t } = this.panel
    return html`<section class="card plain" aria-labelledby="${this.id_}-troubles">
      <header><h2 id="${this.id_}-troubles">${t('troubles')} <span class="count">${
      t.number(troubles.length)
    }</span></h2></header>
      <p class="dim">${t(this.state.options.debugTexts ? 'troubles_texts' : 'troubles_means')}</p>
      <ul class="rows">${
      troubles.map((trouble) =>
        html`<li><span>${this.state.chats[trouble.site]?.label ?? trouble.site} · <span class="mono">${
          clean(trouble.code, 60)
        }</span> · <time class="dim" datetime=${trouble.at}>${
          t.ago(Date.parse(trouble.at), Math.max(this.now, Date.parse(trouble.at)))
        }</time></span><button type="button" class="small" aria-label=${
          t('troubles_save_of', { code: trouble.code })
        } @click=${() => download(`${trouble.site}-${trouble.at.replace(/\W/g, '-')}.json`, trouble.file)}>${
          t('troubles_save')
        }</button></li>`
      )
    }</ul></section>`
  }

  /** The next row's button comes under the pointer, so the second click of a double click does not count. */
  private async forget({ id }: HistoryEntry): Promise<void> {
    if (!await this.panel.send('deleteHistory', { id }) || !this.page) return
    this.page = { ...this.page, entries: this.page.entries.filter((e) => e.id !== id) }
  }

  private async clear(): Promise<void> {
    if (!await this.panel.send('clearHistory', {})) return
    this.panel.tell(this.t('history_cleared'))
    await this.search()
  }

  private readonly exportAll = async (): Promise<void> => {
    await this.panel.run(async () => {
      const parts: string[] = []
      for (let after: number | null = 0; after !== null;) {
        const part: { lines: string; next: number | null } = await this.panel.ask('exportHistory', { after })
        parts.push(part.lines)
        after = part.next
      }
      download('portolan-history.jsonl', new Blob(parts, { type: 'application/jsonl' }))
    })
  }
}

define('portolan-history', History)
