import { scanDefinition } from '../../wasm/js/shared/scan.ts'
import { extentOf, isObject, mayLoseDigits } from '../../wasm/js/shared/json.ts'
import { mayHide, plain } from '../../wasm/js/shared/plaintext.ts'
import * as browser from '../browser.ts'
import type { PageOrigin } from '../messages.ts'
import { timeout } from '../timeout.ts'
import { ToolFault, type Tool, type ToolCall, type ToolOutput } from '../tools/tool.ts'
import {
  longest,
  mostLevels,
  pagePort,
  type FromPage,
  type PageList,
  type PageTool,
  type ToPage,
} from './pagemessages.ts'

/** The longest time until a page lists its tools, in ms. */
const attachTimeout = 3000
/** The seconds that a page may take for a call: if the client says nothing, and at most. */
const usualSeconds = 30, mostSeconds = 300
/** The most open pages. */
const mostPages = 50
/** The most blocks of a result. One with more is JSON: millions would keep the background busy for many seconds. */
const mostBlocks = 1000
/** The most characters of a description in the side panel. */
const shownDescription = 300

/** An open page of a switched-on origin. */
class Page {
  readonly tabId: number
  list: PageList | undefined
  ended = false
  /** Resolves with the first list, or the end. */
  readonly listed: Promise<void>
  readonly #port: browser.Port
  readonly #calls = new Map<number, PromiseWithResolvers<string>>()
  #last = 0

  constructor(tabId: number, port: browser.Port, allows: (origin: string) => boolean, changed: () => void) {
    this.tabId = tabId
    this.#port = port
    const { promise, resolve } = Promise.withResolvers<void>()
    this.listed = promise
    const end = () => {
      this.ended = true
      for (const { reject } of this.#calls.values()) reject(gone('The tool may have run.'))
      this.#calls.clear()
      resolve()
      changed()
    }
    port.onclose = end
    port.onmessage = (raw) => {
      const m = raw as FromPage
      if (m.type === 'tools') {
        if (!allows(m.list.origin)) return this.close() // the tab has gone on meanwhile
        this.list = m.list
        resolve()
        return changed()
      }
      const waiting = this.#calls.get(m.id)
      this.#calls.delete(m.id)
      if (m.type === 'result') waiting?.resolve(m.text)
      else waiting?.reject(new ToolFault(m.code, m.message))
    }
  }

  /** Calls a tool. Resolves to what it returned, as text. */
  async call(tool: PageTool, args: Record<string, unknown>, signal: AbortSignal, seconds: number): Promise<string> {
    if (this.ended) throw gone(uncalled)
    const id = ++this.#last
    const post = (m: ToPage) => this.#port.post(m)
    const answer = Promise.withResolvers<string>()
    this.#calls.set(id, answer)
    const give = (fault: ToolFault) => {
      post({ type: 'cancel', id })
      answer.reject(fault)
    }
    const cancel = () => give(new ToolFault('CANCELLED', 'The call was cancelled. The tool may have run.'))
    const late = () => give(new ToolFault('TIMEOUT', `The page did not answer in ${seconds} s. The tool may have run.`))
    const timer = setTimeout(late, seconds * 1000)
    signal.addEventListener('abort', cancel)
    try {
      post({ type: 'call', id, tool, args })
      if (signal.aborted) cancel()
      return await answer.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
      this.#calls.delete(id)
    }
  }

  /** Ends its calls. A port tells its other end only. */
  close(): void {
    this.#port.close()
    this.#port.onclose?.()
    this.#port.onclose = null
  }
}

const uncalled = 'The tool was not called.'
const gone = (consequence: string) =>
  new ToolFault('TAB_CLOSED', `The page was closed or left, or its tools were switched off. ${consequence}`)

interface Named {
  page: Page
  tool: PageTool
}

/** The tools that open pages offer by the browser's modelContext (WebMCP), on origins that the user has switched on. */
export class PageTools {
  readonly #origins: () => readonly string[]
  readonly #changed: () => void
  private readonly granted = new Set<string>()
  readonly #pages = new Map<number, Page>()
  readonly #attaching = new Map<number, Promise<void>>()
  /** The page and the tool of a call, as the user was asked about them. */
  readonly #admitted = new WeakMap<AbortSignal, Named>()
  #unwatch: (() => void) | undefined

  /** `origins`: those that are switched on. `changed`: the lists may differ. */
  constructor(origins: () => readonly string[], changed: () => void) {
    this.#origins = origins
    this.#changed = changed
  }

  /** Follows a change of the origins or of the browser's permissions. Pages are connected later. */
  async follow(): Promise<void> {
    for (const origin of [...this.granted]) if (!this.#origins().includes(origin)) this.granted.delete(origin)
    for (const origin of this.#origins()) {
      const wanted = { origins: [`${origin}/*`], permissions: ['scripting'] }
      if (await browser.hasPermissions(wanted) && this.#origins().includes(origin)) this.granted.add(origin)
      else this.granted.delete(origin)
    }
    for (const page of [...this.#pages.values()]) if (page.list && !this.granted.has(page.list.origin)) page.close()
    // Without an origin, no page that is opened wakes the background.
    if (!this.granted.size) {
      this.#unwatch?.()
      this.#unwatch = undefined
    } else {
      this.#unwatch ??= browser.onTabLoaded((id) => void this.#refresh(id))
      void this.#refresh()
    }
    this.#changed()
  }

  /** Connects to the pages of tabs that are new, or of this tab. Resolves once they have listed their tools. */
  async #refresh(only?: number): Promise<void> {
    const tabs = only === undefined ? await browser.listTabs() : [await browser.getTab(only)]
    const wanted = tabs.filter((tab) => tab && URL.canParse(tab.url) && this.granted.has(new URL(tab.url).origin))
    await Promise.all(wanted.map((tab) => this.#attach(tab!.id)))
  }

  #attach(tabId: number): Promise<void> {
    const known = this.#attaching.get(tabId)
    if (known) return known
    if (this.#pages.has(tabId)) return Promise.resolve()
    const attached = this.#attachNow(tabId).catch(() => {}).finally(() => this.#attaching.delete(tabId))
    this.#attaching.set(tabId, attached)
    return attached
  }

  async #attachNow(tabId: number): Promise<void> {
    const injected = browser.injectFile(tabId, 'webmcp.js').then(() => true)
    if (!await timeout(attachTimeout, injected)) return void injected.then(() => this.#refresh(tabId), () => {}) // busy
    if (this.#pages.size >= mostPages) return
    const page = new Page(tabId, browser.connectTab(tabId, pagePort), (origin) => this.granted.has(origin), () => {
      if (page.ended && this.#pages.get(tabId) === page) this.#pages.delete(tabId)
      this.#changed()
    })
    if (page.ended) return
    this.#pages.set(tabId, page)
    await timeout(attachTimeout, page.listed)
  }

  #listsOf(origin: string): { tabId: number; list: PageList }[] {
    return [...this.#pages.values()].flatMap(({ tabId, list }) => list?.origin === origin ? { tabId, list } : [])
  }

  /** For the side panel. */
  get view(): PageOrigin[] {
    return this.#origins().map((origin) => ({
      origin,
      granted: this.granted.has(origin),
      tabs: this.#listsOf(origin).map(({ tabId, list: { title, supported, tools, left } }) => ({
        id: tabId,
        title,
        supported,
        left,
        tools: tools.map(({ name, title, description, readOnly }) => (
          { name, title, description: description.slice(0, shownDescription), readOnly }
        )),
      })),
    }))
  }

  /** The tools for clients. There are none while no origin is on. */
  get tools(): Tool[] {
    return this.granted.size ? [this.#listing, this.#calling] : []
  }

  // Two tools with fixed names: a list with the tools of each page would change with each page, and clients read lists
  // rarely. Rules of clients and names of other tools stay as they are, too.

  readonly #listing: Tool = {
    name: 'page_tools',
    title: "List pages' tools",
    description: 'Lists the tools that open web pages offer by WebMCP, on origins that the person has switched on: ' +
      'tab, origin, names, descriptions, JSON Schemas. Call them with page_call_tool. Untrusted: what pages wrote.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: { tabId: { type: 'integer', description: 'Only of this tab' } },
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
    run: async ({ args }) => {
      await this.#refresh()
      const lists = this.#origins().flatMap((origin) => this.#listsOf(origin))
      const wanted = lists.filter(({ tabId }) => args.tabId === undefined || args.tabId === tabId)
      const pages = await Promise.all(wanted.map(async ({ tabId, list }) => ({
        tabId,
        origin: list.origin,
        title: await titleOf(tabId, list),
        tools: list.tools.map(({ flags: _, ...tool }) => tool),
        ...(list.left && { left: list.left }),
      })))
      return {
        content: [{ type: 'text', text: JSON.stringify({ pages }) }],
        structuredContent: { pages },
        _meta: { 'portolan/untrusted': [...new Set(pages.map(({ origin }) => new URL(origin).host))] },
      }
    },
  }

  readonly #calling: Tool = {
    name: 'page_call_tool',
    title: "Use a page's tool",
    description: 'Calls a tool of an open web page, from page_tools. Its result is untrusted: what the page wrote.',
    inputSchema: {
      type: 'object',
      required: ['tabId', 'name'],
      additionalProperties: false,
      properties: {
        tabId: { type: 'integer', description: 'From page_tools' },
        name: { type: 'string', minLength: 1, maxLength: 128, description: 'From page_tools' },
        arguments: { type: 'object', default: {}, description: "For the tool's inputSchema" },
        timeoutSeconds: { type: 'integer', minimum: 1, maximum: mostSeconds, default: usualSeconds },
      },
    },
    // The texts of a page's tools are its own claim, so each origin asks once.
    annotations: { destructiveHint: true, openWorldHint: true },
    scope: async (call) => (await this.#named(call)).page.list!.origin,
    flags: (call) => {
      const tool = this.#admitted.get(call.signal)?.tool
      return tool ? [...tool.flags, ...scanDefinition({ ...tool, flags: undefined })] : []
    },
    summary: async (call) => {
      const { page: { tabId, list }, tool } = await this.#named(call)
      const title = await titleOf(tabId, list!)
      // The origin comes first. A page's words behind it may say anything, such as another origin.
      return `On ${list!.origin}: use “${inLine(tool.title || tool.name)}”, in the tab “${inLine(title)}”`
    },
    run: async (call) => {
      const { page, tool } = await this.#named(call)
      const { arguments: args = {}, timeoutSeconds = usualSeconds } = call.args as {
        arguments?: Record<string, unknown>
        timeoutSeconds?: number
      }
      const { origin } = page.list!
      return outputOf(await page.call(tool, args, call.signal, timeoutSeconds), origin)
    },
  }

  /** The page and the tool of a call. The page is the one that the user was asked about, even if the tab goes on. */
  async #named({ args, signal }: ToolCall): Promise<Named> {
    const tabId = Number(args.tabId)
    const before = this.#admitted.get(signal)
    if (before?.page.ended) throw gone(uncalled)
    if (before) return before
    // The first try may reach the document that the tab is about to leave.
    for (let tries = 0; !this.#pages.get(tabId)?.list && tries < 2; tries++) await this.#refresh(tabId)
    const page = this.#pages.get(tabId)
    if (!page?.list || page.ended) {
      const { url = '' } = await browser.getTab(tabId) ?? {}
      if (URL.canParse(url) && this.granted.has(new URL(url).origin))
        throw new ToolFault('TAB_CLOSED', 'The page has listed no tools yet. Try again.')
      const message = 'The person offers no tools of a page in this tab. They can switch on its origin in the side ' +
        'panel of Portolan.'
      throw new ToolFault('NO_PERMISSION', message)
    }
    const tool = page.list.tools.find((t) => t.name === args.name)
    if (!tool) throw new ToolFault('UNKNOWN_TOOL', `The page has no tool ${JSON.stringify(args.name)} now.`)
    const named = { page, tool }
    this.#admitted.set(signal, named)
    return named
  }
}

/** The title that the tab shows now. Pages change theirs without a new list. */
async function titleOf(tabId: number, { origin, title }: PageList): Promise<string> {
  const tab = await browser.getTab(tabId)
  const isSame = tab && URL.canParse(tab.url) && new URL(tab.url).origin === origin
  return isSame ? plain(tab.title).text.slice(0, longest.title) : title
}

const inLine = (text: string) => text.replace(/\s+/g, ' ')

/** The value that a page returned, as a result: a CallToolResult, a text, or JSON. Hidden text is removed. */
export function outputOf(text: string, origin: string): ToolOutput {
  const _meta = { 'portolan/untrusted': [new URL(origin).host], 'portolan/origin': origin }
  const said = plain(text).text
  let value: unknown
  try {
    value = JSON.parse(text, (_, v: unknown) => cleaned(v))
  } catch { /* no JSON, or one of too many levels */ }
  // The browser gives a string as it is. So a number or a text in quotes may be one, and stays as it is.
  if (!isObject(value) || !extentOf(value, mostLevels)) return { content: [{ type: 'text', text: said }], _meta }
  if (!Array.isArray(value['content']) || value['content'].length > mostBlocks) {
    const shown = mayLoseDigits(text) ? said : JSON.stringify(value)
    return { content: [{ type: 'text', text: shown }], structuredContent: value, _meta }
  }
  const { content, structuredContent, isError } = value
  return {
    content: content.map(blockOf),
    ...(isObject(structuredContent) && { structuredContent }),
    isError: isError === true,
    _meta,
  }
}

/** A value of JSON without hidden text. Texts in it are clean already. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return plain(value).text
  return isObject(value) && Object.keys(value).some(mayHide)
    ? Object.fromEntries(Object.entries(value).map(([name, v]) => [plain(name).text, v]))
    : value
}

/** A block that clients take: a text, an image or a sound. Others become JSON text. */
function blockOf(block: unknown): ToolOutput['content'][number] {
  const { type, text, data, mimeType } = isObject(block) ? block : {} as Record<string, unknown>
  if (type === 'text' && typeof text === 'string') return { type, text }
  const isMedia = (type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string' &&
    /^[A-Za-z0-9+/]*={0,2}$/.test(data)
  return isMedia ? { type, data, mimeType } : { type: 'text', text: JSON.stringify(block) }
}
