import { strict as assert } from 'node:assert'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import type { Site } from '../../extension/chats/drivermessages.ts'
import { hosts, newChat } from './hosts.ts'
import type { PageState } from './state.ts'

/** A site's visible parts, for the tests of the pages. Playwright's selectors pierce open shadow roots. */
export interface Sight {
  site: Site
  state: Partial<PageState>
  field: string
  /** Keys for a new line, and for sending. */
  newline: string
  enter: string
  send: string
  stop: string
  user: string
  answer: string
  /** The buttons beside a complete answer. */
  end: string
  skip: string
  thought: string
  trouble: string
}

const chatgpt = {
  site: 'chatgpt',
  field: '#prompt-textarea.ProseMirror[contenteditable=true]',
  newline: 'Shift+Enter',
  enter: 'Enter',
  skip: '.thinking .skip',
  thought: '.thinking .thought',
  trouble: '[role=alert]',
} as const

export const sights: Record<string, Sight> = {
  'chatgpt, articles': {
    ...chatgpt,
    state: {},
    send: 'button[data-testid="send-button"]',
    stop: 'button[data-testid="stop-button"]',
    user: 'article[data-turn=user] [data-message-author-role=user] .whitespace-pre-wrap',
    answer: 'article[data-turn=assistant] [data-message-author-role=assistant][data-message-id] .markdown.prose',
    end: 'button[data-testid="copy-turn-action-button"]',
  },
  'chatgpt, turn keys': {
    ...chatgpt,
    state: { layout: 'turn-key' },
    send: 'form button[type=submit]',
    stop: 'form button.stop',
    user: '[data-turn-key] [data-user-message-bubble] .whitespace-pre-wrap',
    answer:
      '[data-app-action-timeline-scroll] [data-turn-key] h4.sr-only[data-conversation-role=assistant] ~ div[data-markdown-text-style="assistant-message"]',
    end: '[data-turn-key] [role=group]',
  },
  gemini: {
    site: 'gemini',
    state: {},
    field: 'rich-textarea .ql-editor[contenteditable=true][role=textbox]',
    newline: 'Shift+Enter',
    enter: 'Enter',
    send: 'button:has(mat-icon[data-mat-icon-name=send])',
    stop: 'button:has(mat-icon[fonticon="stop"])',
    user: 'user-query .query-text',
    answer: 'model-response message-content .markdown',
    end: 'model-response img[alt=thumb_up]',
    skip: 'model-thoughts .skip',
    thought: 'model-thoughts .thoughts-header-button',
    trouble: 'model-response [role=alert]',
  },
  aistudio: {
    site: 'aistudio',
    state: {},
    field: 'textarea[formcontrolname="promptText"]',
    newline: 'Enter',
    enter: 'Control+Enter',
    send: 'ms-run-button button:not(.stoppable)',
    stop: 'ms-run-button button.stoppable',
    user: 'ms-chat-turn .user .user-chunk',
    answer: 'ms-chat-turn .model ms-text-chunk > ms-cmark-node',
    end: 'button[iconname="thumb_up"]',
    skip: 'ms-thought-chunk .skip',
    thought: 'ms-thought-chunk [aria-expanded]',
    trouble: 'ms-chat-turn [role=alert]',
  },
}

const other = (site: Site, field: string, send: string, stop: string, user: string, answer: string): Sight => ({
  site,
  state: {},
  field,
  newline: 'Shift+Enter',
  enter: 'Enter',
  send,
  stop,
  user,
  answer,
  end: '.actions',
  skip: '.skip',
  thought: '.thought',
  trouble: '[role=alert]',
})
const proseMirror = '.ProseMirror[contenteditable=true]'

/** The sites that share a page. */
export const otherSights: Sight[] = [
  other(
    'claude',
    proseMirror,
    'button[aria-label="Send message"]',
    'button[aria-label="Stop response"]',
    '[data-testid=user-message]',
    '[data-is-streaming] .font-claude-response',
  ),
  other(
    'perplexity',
    '#ask-input[data-lexical-editor=true]',
    'button[aria-label=Submit]',
    'button[aria-label="Stop generating response"]',
    'h1',
    '[id^=markdown-content-] .prose',
  ),
  other(
    'grok',
    proseMirror,
    'button[type=submit]',
    'button[aria-label="Stop model response"]',
    '.items-end',
    '.items-start .markdown',
  ),
  other(
    'deepseek',
    'textarea',
    '.ds-button:has([d^="M8.3"])',
    '.ds-button:has([d^="M2 4"])',
    '[data-virtual-list-item-key] .ds-message',
    '.ds-markdown',
  ),
  other(
    'mistral',
    proseMirror,
    'button[type=submit]',
    'button[aria-label="Stop generation"]',
    '[data-message-author-role=user]',
    '[data-message-part-type=answer]',
  ),
  other(
    'copilot',
    '#userInput',
    '[data-testid=submit-button]',
    '[data-testid=stop-button]',
    '[data-content=user-message]',
    '[data-content=ai-message] .text',
  ),
]

/** A user at a page. */
export class Person {
  readonly page: Page
  readonly sight: Sight
  readonly faults: string[] = []

  private constructor(page: Page, sight: Sight) {
    this.page = page
    this.sight = sight
    page.setDefaultTimeout(60_000)
    page.on('pageerror', (error) => this.faults.push(error.stack ?? error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
        this.faults.push(message.text())
    })
  }

  /** Opens the site's own address. The state is only for this page. */
  static async open(
    browser: Browser | BrowserContext,
    sight: Sight,
    state: Partial<PageState> = {},
    path = newChat[sight.site],
  ): Promise<Person> {
    const person = new Person(await browser.newPage(), sight)
    const query = new URLSearchParams(
      Object.entries({ ...sight.state, ...state }).map(([name, value]) => [name, String(value)]),
    )
    await person.page.goto(`https://${hosts[sight.site]}${path}?${query}`)
    return person
  }

  see(what: keyof Omit<Sight, 'site' | 'state' | 'newline' | 'enter'>): Locator {
    return this.page.locator(this.sight[what])
  }

  /** Types with the keyboard. */
  async type(text: string): Promise<void> {
    await this.see('field').click()
    for (const [n, line] of text.split('\n').entries()) {
      if (n) await this.page.keyboard.press(this.sight.newline)
      await this.page.keyboard.type(line)
    }
  }

  /** Sends a prompt without typing each key. */
  async ask(text: string): Promise<void> {
    await this.see('field').focus()
    await this.page.keyboard.insertText(text)
    await this.page.keyboard.press(this.sight.enter)
  }

  /** Returns the last answer, once the site shows it as complete. */
  async answer(): Promise<string> {
    await this.complete()
    return this.text('answer')
  }

  async complete(): Promise<void> {
    await this.see('stop').waitFor({ state: 'detached' })
    await this.see('end').nth(await this.see('user').count() - 1).waitFor()
  }

  async text(what: 'answer' | 'user' | 'trouble'): Promise<string> {
    return (await this.see(what).last().innerText()).trim()
  }

  /** Returns the last prompt as the page shows it. Gemini gives each line a paragraph. */
  async prompt(): Promise<string> {
    const user = this.see('user').last()
    return await user.locator('p').count()
      ? (await user.locator('p').allTextContents()).join('\n')
      : await user.textContent() ?? ''
  }

  /** ms since the page was requested. It proves a wait on a busy machine too. */
  age(): Promise<number> {
    return this.page.evaluate(() => performance.now())
  }

  async leave(): Promise<void> {
    assert.deepEqual(this.faults, [])
    await this.page.close()
  }
}
