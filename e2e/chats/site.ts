// For tests: the four layouts on the stand-ins of e2e/sites.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Browser } from 'playwright-core'
import { startPages, type Pages, type PageState } from '../sites/serve.ts'
import type { FromDriver, Order, Site } from '../../extension/chats/drivermessages.ts'
import { Driven, Tabs, type Outcome } from './drivenpage.ts'
import { launchChromium } from '../rig/harness.ts'
import { script } from './inpage.ts'
import type { Times } from '../../extension/chats/driver/times.ts'

export interface On {
  name: string
  site: Site
  query: Partial<PageState>
  layout: string
  path?: string
  times?: Partial<Times>
  slow?: boolean
}

export const article: On = { name: 'ChatGPT article', site: 'chatgpt', query: { layout: 'article' }, layout: 'article' }
export const turnKey: On = {
  name: 'ChatGPT turn-key',
  site: 'chatgpt',
  query: { layout: 'turn-key' },
  layout: 'turn-key',
}
export const gemini: On = { name: 'Gemini', site: 'gemini', query: {}, layout: 'shadow' }
export const aistudio: On = { name: 'AI Studio', site: 'aistudio', query: {}, layout: 'chunk-editor' }
export const layouts = [article, turnKey, gemini, aistudio]

/** The sites of which one layout is known. Their tests are in others.test.ts. */
export const others: On[] = [
  { name: 'Claude', site: 'claude', query: {}, layout: 'streaming' },
  { name: 'Perplexity', site: 'perplexity', query: {}, layout: 'lexical' },
  { name: 'Grok', site: 'grok', query: {}, layout: 'tiptap' },
  { name: 'DeepSeek', site: 'deepseek', query: {}, layout: 'ds-message' },
  { name: 'Mistral', site: 'mistral', query: {}, layout: 'message-parts' },
  { name: 'Copilot', site: 'copilot', query: {}, layout: 'messages' },
]

/** The number of plain prompts. If it is set, every test runs on every layout and in every language. */
export const runs = Number(process.env.DRIVER_RUNS ?? 2)
export const thorough = process.env.DRIVER_RUNS !== undefined

/** Returns two of a test's layouts, different ones for each test. A thorough run has all. */
export const some = (of: On[], nth: number) =>
  thorough || of.length < 3
    ? of
    : [of[nth % of.length]!, of[(nth + 1 + (nth >> 2)) % of.length]!].filter((on, i, all) => all.indexOf(on) === i)

/** Pages and a browser for the tests of one file. */
export class Sites {
  pages!: Pages
  #browser!: Browser
  #tabs!: Tabs
  #code = ''

  constructor() {
    before(async () => {
      ;[this.pages, this.#browser, this.#code] = await Promise.all([
        startPages(),
        launchChromium(),
        script('../../extension/chats/driver/serve.ts', 'driver'),
      ])
      this.#tabs = new Tabs(await this.#browser.newContext({ viewport: { width: 1280, height: 800 } }))
    })
    after(async () => {
      await this.#browser?.close()
      await this.pages?.close()
    })
  }

  /** Opens a page with a short time to settle, unless `times` has another. */
  async open(on: On): Promise<Driven> {
    const url = `${this.pages.httpUrl(on.site, on.path)}&${new URLSearchParams(
      Object.entries(on.query).map(([k, v]) => [k, String(v)]),
    )}`
    return Driven.in(this.#tabs, on.site, url, this.#code, { times: { settle: 200, ...on.times }, slow: on.slow })
  }

  async ask(on: On, prompt: string, order: Partial<Order> = {}): Promise<Outcome> {
    const driven = await this.open(on)
    try {
      return await driven.ask(prompt, order)
    } finally {
      driven.close()
    }
  }

  /** Sends a prompt with `[[think]]`. The site thinks until the driver has said so, and `meanwhile` is done. */
  async think(driven: Driven, prompt: string, meanwhile?: () => Promise<unknown>): Promise<Outcome> {
    await driven.start(prompt)
    await driven.phase('thinking')
    await meanwhile?.()
    this.pages.goOn(driven.site, prompt)
    return driven.outcome()
  }

  /** Returns the prompts about something that reached the site's backend. */
  received = (site: Site, about: string) => this.pages.prompts(site).filter(({ text }) => text.includes(about))
}

let count = 0
/** Returns a new subject for a prompt. */
export const token = (what: string) => `${what.replace(/\W+/g, '-')}-${++count}`.toLowerCase()

export const plain = (about: string, turn = 1) =>
  `Here is what I found about ${about}.\n\nThis was answer ${turn} of this conversation, and it ends with **${about}**.`

export function right(outcome: Outcome, want: string): NonNullable<Outcome['answer']> {
  assert.equal(outcome.failure, undefined)
  assert.equal(outcome.answer!.answer, want)
  return outcome.answer!
}

/** Lets a minute pass in a page: that of the deadline of its run. */
export const passMinute = (driven: Driven): Promise<void> =>
  driven.page.evaluate(() => {
    const passed = performance.now.bind(performance)
    performance.now = () => passed() + 60_000
  })

/** Enables a send button that `[[disabled]]` holds back. */
export const wake = (driven: Driven): Promise<unknown> => driven.page.evaluate(() => dispatchEvent(new Event('wake')))

export const phases = (messages: FromDriver[]) => messages.flatMap((m) => m.type === 'phase' ? [m.phase] : [])
