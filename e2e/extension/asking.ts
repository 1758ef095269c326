import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { answer } from '../sites/answer.ts'
import { Scenario } from '../sites/scenario.ts'
import { startPages, type Pages } from '../sites/serve.ts'
import type { Locale } from '../sites/state.ts'
import { siteSpecs } from '../../extension/chats/sites/index.ts'
import type { TurnState, Site } from '../../extension/chats/drivermessages.ts'
import { call, hasTool, Rig, type Outcome } from './rig.ts'

// For tests of the chats through all parts: prompts, and the answers that must come back.

export interface Answered {
  answer: string
  url: string
  conversationId: string
  timings: Record<string, number>
  profile: string
  confidence: string
  evidence: string[]
  truncated: boolean
  model: string | null
  flags: string[]
}
export interface Fault {
  text: string
  code: string
  kind?: string
  state?: TurnState
  health?: object
}

/** The sites' own addresses. */
export const hosts: Record<Site, string> = {
  chatgpt: 'https://chatgpt.com',
  gemini: 'https://gemini.google.com',
  aistudio: 'https://aistudio.google.com',
  claude: 'https://claude.ai',
  perplexity: 'https://www.perplexity.ai',
  grok: 'https://grok.com',
  deepseek: 'https://chat.deepseek.com',
  mistral: 'https://chat.mistral.ai',
  copilot: 'https://copilot.microsoft.com',
}

/** The sites whose stand-ins have all scenarios. The tests of the others are in `chat-others.test.ts`. */
export const sites = ['chatgpt', 'gemini', 'aistudio'] as const

export class Asking {
  readonly pages: Pages
  readonly rig: Rig
  readonly client: Client
  private last = 0

  private constructor(pages: Pages, rig: Rig, client: Client) {
    this.pages = pages
    this.rig = rig
    this.client = client
  }

  /** Switches sites on, and connects a client over stdio. A prompt begins a new chat. */
  static async create(options: Parameters<typeof Rig.create>[0] = {}, on: readonly Site[] = sites): Promise<Asking> {
    const pages = await startPages()
    try {
      const rig = await Rig.create({ granted: true, args: pages.flags, ...options })
      try {
        const client = await rig.bridge.stdioClient('desk')
        await rig.ask('setOptions', { reuse: 'off' })
        for (const site of on)
          await rig.ask('setChat', { site, patch: { enabled: true, acceptedAt: Date.now(), perHour: 1000 } })
        await hasTool(client, `chat_${on.at(-1)}`)
        return new Asking(pages, rig, client)
      } catch (e) {
        await rig.close()
        throw e
      }
    } catch (e) {
      await pages.close()
      throw e
    }
  }

  async close(): Promise<void> {
    await this.rig.close()
    await this.pages.close()
  }

  /** Returns a prompt of several lines with a unique answer. */
  prompt(marks = ''): { token: string; prompt: string } {
    const token = `tk${++this.last}x${Math.random().toString(36).slice(2, 8)}`
    return { token, prompt: `token:${token}\nsecond line, “quoted” & <b>\n\n    fourth line ${marks}` }
  }

  call(site: Site, prompt: string, more: Record<string, unknown> = {}, client = this.client): Promise<Outcome> {
    return call(client, `chat_${site}`, { prompt, ...more }, { timeout: 500_000 })
  }

  /** Sends a prompt, and compares the whole answer and the prompt that reached the site. */
  async ask(
    site: Site,
    marks = '',
    { locale = 'en', turn = 1, client, ...more }:
      & { locale?: Locale; turn?: number; client?: Client }
      & Record<string, unknown> = {},
  ): Promise<Answered> {
    const { token, prompt } = this.prompt(marks)
    const r = await this.call(site, prompt, more, client)
    assert.ok(!r.error, `${site} ${marks}: ${r.text} ${JSON.stringify(r.meta)}`)
    assert.equal(r.text, asRead(answer(prompt, new Scenario(prompt), locale, turn), site))
    assert.equal(r.structured.answer, r.text)
    assert.deepEqual(this.sent(site, token), [prompt])
    return r.structured as unknown as Answered
  }

  /** Returns the prompts about something that reached the site's backend. */
  sent(site: Site, about: string): string[] {
    return this.pages.prompts(site).map((p) => p.text).filter((text) => text.includes(about))
  }

  /** Sends a prompt that must fail. `sent` is how often the prompt reached the site. */
  async fails(
    site: Site,
    marks: string,
    code: string,
    more: Record<string, unknown> = {},
  ): Promise<Fault & { sent: number }> {
    const { token, prompt } = this.prompt(marks)
    const r = await this.call(site, prompt, more)
    assert.ok(r.error && r.text.endsWith(`(${code})`), `${site} ${marks}: ${r.text}`)
    const error = r.meta['portolan/error'] as Fault
    assert.equal(error.code, code)
    return { ...error, text: r.text, sent: this.sent(site, token).length }
  }

  /** Resolves when no run is left in the panel's state. */
  async idle(): Promise<void> {
    await this.rig.until('no runs', (s) => !s.runs.length)
  }

  /** Returns the tab that runs drive for a site. */
  async tab(site: Site): Promise<{ id: number; windowId: number; active: boolean; width: number; focused: boolean }> {
    const found = await this.rig.panel.evaluate(async (host) => {
      for (const w of await chrome.windows.getAll({ populate: true })) {
        const tab = w.tabs!.find((t) => t.url?.startsWith(`${host}/`))
        if (tab) return { id: tab.id!, windowId: w.id!, active: tab.active, width: w.width!, focused: w.focused }
      }
      return undefined
    }, hosts[site])
    assert.ok(found, `no tab of ${site}`)
    return found
  }

  /** Closes the tab that runs drive for a site. */
  async closeTab(site: Site): Promise<void> {
    const { id } = await this.tab(site)
    await this.rig.panel.evaluate((id) => chrome.tabs.remove(id), id)
  }

  /** Reads a tab without DevTools: whether it is hidden, and the text in its field. */
  look(tabId: number): Promise<{ hidden: boolean; field: string }> {
    return this.rig.panel.evaluate(async (tabId) => {
      const [seen] = await chrome.scripting.executeScript({
        target: { tabId },
        func: () => {
          const field = (root: ParentNode): Element | null =>
            root.querySelector('textarea[formcontrolname], [contenteditable=true]') ??
              [...root.querySelectorAll('*')].reduce<Element | null>(
                (found, el) => found ?? (el.shadowRoot && field(el.shadowRoot)),
                null,
              )
          const at = field(document)
          return {
            hidden: document.hidden,
            field: (at instanceof HTMLTextAreaElement ? at.value : at?.textContent) ?? '',
          }
        },
      })
      return seen!.result!
    }, tabId)
  }
}

/** The confidence in a whole answer: a site without a mark of complete answers is never `high`. */
export const sureness = (site: Site) => (siteSpecs[site].layouts.some((l) => l.end.length) ? 'high' : 'medium')

/** Sites whose marks of citations the profile does not know. */
const citing: readonly Site[] = ['claude', 'grok', 'deepseek', 'mistral']

/** The backend's Markdown as the driver reads it from a page's elements. */
export const asRead = (text: string, site: Site) =>
  text.replace('|---|---:|---|', '| --- | ---: | --- |').replace('[^1]', citing.includes(site) ? '¹' : '')
    .replace('quotation\n> of', 'quotation of').replaceAll('](/images', `](${hosts[site]}/images`)
