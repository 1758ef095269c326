import { html, nothing, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import { AppPart } from './context.ts'
import { define, freshId } from '../../web/ui/part.ts'
import { options } from '../../web/ui/fields.ts'
import { copy } from '../../web/ui/save.ts'
import { line } from '../../web/ui/text.ts'
import { clientConfigs } from './client-configs.ts'
import type { ClientView, Grant } from '../messages.ts'
import { confirm } from './confirm.ts'

const grants: Grant[] = ['allow', 'ask', 'deny']

/** The clients that called, under the names they gave, and the rules of each. */
class Clients extends AppPart {
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const clients = [...this.state.clients].sort((a, b) => b.lastSeen - a.lastSeen)
    return html`<section class="card plain" aria-labelledby=${this.id_}>
      <header><h2 id=${this.id_}>${this.t('clients')}</h2></header>
      ${
      clients.length
        ? html`<p class="dim">${this.t('clients_claimed')}</p><ul class="rows">${
          repeat(clients, (c) => c.key, (c) => html`<li>${this.client(c)}</li>`)
        }</ul>`
        : html`<p class="dim">${
          this.t(this.state.links.some((l) => l.status === 'connected') ? 'clients_ready' : 'clients_none')
        }</p>`
    }
      <div class="row" role="group" aria-label=${this.t('config_for')}><span class="dim">${
      this.t('config_for')
    }</span>${
      Object.entries(clientConfigs).map(([client, text]) =>
        html`<button type="button" class="small" @click=${() => copy(this.panel, text)}>${client}</button>`
      )
    }</div>
    </section>`
  }

  private client(c: ClientView): TemplateResult {
    const { words: t } = this.panel
    const name = `${line(c.name, 60)}${c.number ? ` ${t.number(c.number)}` : ''}`
    const given = Object.keys(c.grants).sort()
    const others = this.state.tools.filter((tool) => !Object.hasOwn(c.grants, tool.name))
    const { links } = this.state
    const bridge = links.length > 1 && links.find((l) => c.key.startsWith(`${l.pairing}\n`))?.address
    const id = `${this.id_}-${c.key.replace(/\W/g, '_')}`
    return html`<div class="stack tight"><p><bdi class="client">${name}</bdi> <bdi class="dim">${
      line(c.version ?? '', 30)
    }</bdi></p>
      <ul class="facts">${c.project ? html`<li><bdi>${line(c.project, 60)}</bdi></li>` : nothing}${
      bridge ? html`<li><bdi dir="ltr">${line(bridge, 80)}</bdi></li>` : nothing
    }<li>${t('seen', { ago: t.ago(c.lastSeen, Math.max(this.now, c.lastSeen)) })}</li></ul></div>
      ${
      confirm(this.panel, {
        label: t('forget'),
        name: t('forget_of', { name }),
        question: t('forget_question', { name }),
        yes: t('forget_yes'),
        small: true,
        act: () => this.panel.send('forgetClient', { client: c.key }),
      })
    }
      <details class="wide"><summary>${given.length ? t('grants', { n: given.length }) : t('grants_none')}</summary>
        <ul class="rows">${
      repeat(given, (tool) =>
        tool, (tool) =>
        html`<li><span class="mono"><bdi>${line(tool, 120)}</bdi></span>${this.choose(c, tool)}</li>`)
    }</ul>
        ${
      others.length
        ? html`<form class="row lined" @submit=${(e: Event) => this.add(e, c)}>
          <label class="dim" for="${id}-tool">${t('grant_add')}</label>
          <select id="${id}-tool" class="grow" name="tool">${
          repeat(
            others,
            (tool) => tool.name,
            (tool) => html`<option value=${tool.name}>${line(tool.name, 80)}</option>`,
          )
        }</select>
          <select name="grant" aria-label=${t('grant')}>${options(grants, undefined, (g) => t(`grant_${g}`))}</select>
          <button class="small" aria-label=${t('grant_set_for', { name })}>${t('grant_set')}</button></form>`
        : nothing
    }
      </details>`
  }

  private choose(c: ClientView, tool: string): TemplateResult {
    const changed = async (event: Event) => {
      const select = event.target as HTMLSelectElement
      const grant = (select.value || undefined) as Grant | undefined
      if (!await this.panel.send('setGrant', { client: c.key, tool, grant })) select.value = c.grants[tool] ?? ''
    }
    return html`<select aria-label=${this.t('grant_of', { tool: line(tool, 80) })} @change=${changed}>
      ${options(grants, c.grants[tool], (g) => this.t(`grant_${g}`))}
      <option value="">${this.t('grant_default')}</option></select>`
  }

  private add(event: Event, c: ClientView): void {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    void this.panel.send('setGrant', {
      client: c.key,
      tool: String(form.get('tool')),
      grant: form.get('grant') as Grant,
    })
  }
}

define('portolan-clients', Clients)
