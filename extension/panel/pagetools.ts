import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { define } from '../../web/ui/part.ts'
import { line } from '../../web/ui/text.ts'
import type { PageOrigin } from '../messages.ts'
import { OriginPart } from './originpart.ts'
import { covers, giveBack, permit } from './permissions.ts'
import { setting } from './setting.ts'

/** The tools that web pages offer (WebMCP), with a switch for each origin. */
class PageTools extends OriginPart {
  protected override render(): TemplateResult {
    const id = this.id_
    const { pageTools } = this.state
    // A trial of the browser gives a site modelContext that this page has not.
    const none = !('modelContext' in document) && !pageTools.some(({ tabs }) => tabs.some((tab) => tab.supported))
    return html`<section class="card plain" aria-labelledby=${id}>
      <header><h2 id=${id}>${this.t('pagetools')}</h2></header>
      <p class="dim">${this.t('pagetools_means')}</p>
      ${none ? html`<p class="hint warn">${this.t('pagetools_none')}</p>` : nothing}
      ${
      pageTools.length
        ? html`<ul class="rows">${
          repeat(pageTools, ({ origin }) => origin, (page) => html`<li>${this.origin(page)}</li>`)
        }</ul>`
        : nothing
    }
      ${this.form(this.t('pagetools_add'), this.t('pagetools_switch'))}
    </section>`
  }

  private origin({ origin, granted, tabs }: PageOrigin): TemplateResult {
    const name = line(origin, 200)
    return html`<div class="stack wide"><div class="wide">${
      setting({
        id: `${this.id_}-${origin.replace(/\W/g, '_')}`,
        label: name,
        means: granted && !tabs.length ? this.t('pagetools_closed') : '',
        on: true,
        change: () => this.leave(origin),
      })
    }</div>
      ${
      granted
        ? nothing
        : html`<p class="hint warn">${this.t('chat_missing_means', { hosts: name })}</p>
        <div><button type="button" class="small" @click=${() => this.take(origin)}>${
          this.t('chat_grant')
        }</button></div>`
    }
      ${repeat(tabs, (tab) => tab.id, (tab) => this.tab(tab))}
    </div>`
  }

  private tab({ title, supported, tools, left }: PageOrigin['tabs'][number]): TemplateResult {
    const named = line(title, 80)
    if (!supported) return html`<p class="dim"><bdi>${named}</bdi>: ${this.t('pagetools_unsupported')}</p>`
    return html`<details><summary>${this.t('pagetools_count', { n: tools.length })} · <bdi>${named}</bdi></summary>
      <ul class="rows">${
      repeat(tools, (tool) =>
        tool.name, (tool) =>
        html`<li><div class="stack tight"><p><span class="mono"><bdi>${line(tool.name, 128)}</bdi></span>${
          tool.title ? html` <bdi>${line(tool.title, 100)}</bdi>` : nothing
        }${tool.readOnly ? html` <span class="dim">${this.t('pagetools_reads')}</span>` : nothing}</p>
        <p class="dim"><bdi>${line(tool.description, 300)}</bdi></p></div></li>`)
    }</ul>
      ${left ? html`<p class="dim">${this.t('pagetools_left', { n: left })}</p>` : nothing}</details>`
  }

  /** Asks the browser for this origin only, and switches it on. */
  protected override async take(origin: string): Promise<boolean> {
    const has = covers(this.state.permissions.origins, origin)
    const wanted = { ...(!has && { origins: [`${origin}/*`] }), permissions: ['scripting'] }
    const granted = await this.panel.run(() => permit(wanted))
    if (granted === false) this.panel.warn(this.t('pagetools_refused', { origin: line(origin, 100) }))
    return !!granted && this.panel.send('setPageTools', { origin, on: true })
  }

  private async leave(origin: string): Promise<boolean> {
    const free = await this.panel.run(() => this.panel.ask('setPageTools', { origin, on: false }))
    if (free) await giveBack({ origins: [`${origin}/*`] })
    return free !== undefined
  }
}

define('portolan-page-tools', PageTools)
