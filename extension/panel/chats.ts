import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { sites, type Mode, type Site } from '../chats/drivermessages.ts'
import { standingIcon } from '../../web/ui/icons.ts'
import { clean } from '../../web/ui/text.ts'
import { openTab, type Wanted } from '../browser.ts'
import type { Chat, ChatSettings } from '../messages.ts'
import { giveBack, permit } from './permissions.ts'
import { chosen } from './chosen.ts'
import './comparisons.ts'
import './options.ts'
import './profileeditor.ts'
import './runs.ts'

/** The chat sites, what is asked of them now, and how. */
class Chats extends AppPart {
  protected override render(): TemplateResult {
    const { panel, state, now } = this
    return html`
      <portolan-runs .panel=${panel} .state=${state} .now=${now}></portolan-runs>
      <portolan-comparisons .panel=${panel} .state=${state} .now=${now}></portolan-comparisons>
      <div class="pair"><div class="main">${
      sites.map((site) => html`<portolan-chat .panel=${panel} .state=${state} .site=${site}></portolan-chat>`)
    }</div>
        <portolan-options .panel=${panel} .state=${state}></portolan-options></div>`
  }
}

define('portolan-chats', Chats)

/** The terms of each site: who wrote them, and where they are. */
const terms: Record<Site, { by: string; url: string }> = {
  chatgpt: { by: 'OpenAI', url: 'https://openai.com/policies/terms-of-use/' },
  gemini: { by: 'Google', url: 'https://policies.google.com/terms' },
  aistudio: { by: 'Google', url: 'https://ai.google.dev/gemini-api/terms' },
  claude: { by: 'Anthropic', url: 'https://www.anthropic.com/legal/consumer-terms' },
  perplexity: { by: 'Perplexity', url: 'https://www.perplexity.ai/hub/legal/terms-of-service' },
  grok: { by: 'xAI', url: 'https://x.ai/legal/terms-of-service' },
  deepseek: { by: 'DeepSeek', url: 'https://cdn.deepseek.com/policies/en-US/deepseek-terms-of-use.html' },
  mistral: { by: 'Mistral AI', url: 'https://mistral.ai/terms' },
  copilot: { by: 'Microsoft', url: 'https://www.microsoft.com/en-us/servicesagreement' },
}
const modes: Mode[] = ['auto', 'assist']

/** One chat site. It is off until its note is accepted; then it has its mode and limit. */
class ChatCard extends AppPart {
  static override properties = reactive('site', 'reading', 'refused')
  declare site: Site
  /** The note is open. */
  declare private reading: boolean
  declare private refused: boolean
  private readonly id_ = freshId()

  private get chat(): Chat {
    return this.state.chats[this.site]
  }

  /** Its pages, and what drives them. */
  private get wanted(): Wanted {
    return { origins: this.chat.matches, permissions: ['scripting'] }
  }

  /** The hosts of the chat's pages, to be read. */
  private get hosts(): string {
    return [...new Set(this.chat.matches.map((m) => m.replace(/^[^:]*:\/\/|\/.*$/g, '')))].join(this.t('comma'))
  }

  protected override render(): TemplateResult {
    const { chat, id_: id } = this
    const missing = chat.enabled && !chat.granted
    const standing = missing ? 'paused' : chat.enabled ? 'connected' : 'off'
    return html`<section class="card" data-standing=${chat.enabled ? standing : 'idle'} aria-labelledby=${id}>
      <header><div class="title"><span class="standing">${standingIcon[standing]}</span>
        <h2 id=${id}>${clean(chat.label, 60)}</h2><span class="status">${
      missing ? this.t('chat_missing') : chat.enabled ? this.t(`mode_${chat.mode}`) : this.t('chat_off')
    }</span></div>
        <span class="actions"><input type="checkbox" role="switch" class="switch" .checked=${chat.enabled} aria-label=${
      this.t('chat_use', { chat: chat.label })
    } aria-expanded=${this.reading ? 'true' : nothing} @change=${this.switched}></span></header>
      ${this.reading ? this.note(chat) : nothing}
      <div role="alert">${
      this.refused
        ? html`<p class="hint warn">${this.t('chat_refused', { chat: chat.label, hosts: this.hosts })}</p>`
        : nothing
    }</div>
      ${
      missing
        ? html`<div class="diagnosis"><p>${
          this.t('chat_missing_means', { hosts: this.hosts })
        }</p><div class="row"><button type="button" class="primary" @click=${() => this.switchOn({})}>${
          this.t('chat_grant')
        }</button></div></div>`
        : nothing
    }
      ${chat.enabled ? this.settings(chat) : nothing}
    </section>`
  }

  private note({ label }: Chat): TemplateResult {
    const { by, url } = terms[this.site]
    return html`<div class="diagnosis note" data-standing="paused" role="group" aria-labelledby="${this.id_}-note"
      @keydown=${(
      e: KeyboardEvent,
    ) => {
      if (e.key === 'Escape') this.leave()
    }}>
      <h3 id="${this.id_}-note" tabindex="-1">${this.t('terms_title', { chat: label })}</h3>
      <p>${this.t('terms_may', { by, chat: label })}</p>
      <p>${this.t('terms_yours')}</p>
      <p><a href=${url} target="_blank" rel="noreferrer">${this.t('terms_link', { by })}</a></p>
      <div class="row"><button type="button" class="primary" @click=${() =>
      this.switchOn({ acceptedAt: Date.now() })}>${this.t('terms_accept')}</button>
        <button type="button" @click=${this.leave}>${this.t('terms_leave')}</button></div>
    </div>`
  }

  private settings(chat: Chat): TemplateResult {
    const { id_: id } = this
    const { words: t } = this.panel
    return html`
      <ul class="facts"><li>${t('chat_used', { n: chat.usedThisHour, most: chat.perHour })}</li>${
      chat.waiting ? html`<li>${t('chat_waiting', { n: chat.waiting })}</li>` : nothing
    }
        <li><button type="button" class="link" aria-label=${t('chat_open', { chat: chat.label })} @click=${() =>
      openTab(chat.newChat)}>${t('chat_open', { chat: chat.label })}</button></li></ul>
      <details><summary>${t('chat_settings')}</summary><div class="settings">
        <fieldset><legend>${t('mode')}</legend>${
      modes.map((mode) =>
        html`<label class="choice"><input type="radio" name="${id}-mode" value=${mode} ?checked=${
          chat.mode === mode
        } .checked=${chat.mode === mode} @change=${(e: Event) => chosen(e, this.set({ mode }))}>
          <span><strong>${t(`mode_${mode}`)}</strong> <span class="dim">${
          t(`mode_${mode}_means`)
        }</span></span></label>`
      )
    }</fieldset>
        <div class="field"><label for="${id}-hour">${t('per_hour')}</label>
          <input id="${id}-hour" class="short" type="number" min="1" max="1000" .value=${
      String(chat.perHour)
    } aria-describedby="${id}-hour-means" @change=${this.limit}>
          <p id="${id}-hour-means" class="dim">${t('per_hour_means')}</p></div>
      </div></details>
      <portolan-profile-editor .panel=${this.panel} .state=${this.state} .site=${this.site}></portolan-profile-editor>`
  }

  private set(patch: Partial<ChatSettings>): Promise<boolean> {
    return this.panel.send('setChat', { site: this.site, patch })
  }

  private readonly limit = async (event: Event): Promise<void> => {
    const input = event.target as HTMLInputElement
    const perHour = Math.round(Number(input.value))
    if (!(perHour >= 1 && perHour <= 1000) || !await this.set({ perHour })) input.value = String(this.chat.perHour)
  }

  private readonly switched = async (event: Event): Promise<void> => {
    const box = event.target as HTMLInputElement
    const on = box.checked
    box.checked = this.chat.enabled // until it is so
    this.refused = false
    if (!on) {
      if (!this.chat.enabled) this.leave()
      else if (await this.set({ enabled: false })) await giveBack({ origins: this.chat.matches })
    } else if (this.chat.acceptedAt !== null) {
      await this.switchOn({})
    } else if (this.reading) {
      this.leave()
    } else {
      this.reading = true
      await this.updateComplete
      this.querySelector<HTMLElement>('.note h3')?.focus()
    }
  }

  private readonly leave = (): void => {
    this.reading = false
    this.querySelector<HTMLElement>('.switch')?.focus()
  }

  /** In one click: what was accepted, the host permission, and on. */
  private async switchOn(patch: Partial<ChatSettings>): Promise<void> {
    const granted = await this.panel.run(() => permit(this.wanted))
    if (this.reading) this.leave()
    this.refused = granted === false
    if (granted) await this.set({ ...patch, enabled: true })
  }
}

define('portolan-chat', ChatCard)
