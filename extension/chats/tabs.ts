import * as browser from '../browser.ts'
import { Stored } from '../stored.ts'
import { timeout } from '../timeout.ts'
import { ToolFault } from '../tools/tool.ts'
import type { PageScope } from './drivermessages.ts'
import { cancelled } from './queue.ts'
import { siteSpecs } from './sites/index.ts'
import { sites, type Site, type SiteSpec } from './sites/site.ts'

/** In narrower windows the sites show their mobile pages. */
const width = 1280
const height = 900
/** The longest time until a page is loaded, in ms. A slow computer may load pages of all sites at once. */
const loadTimeout = 60_000
/** The longest time until a page reacts, in ms. */
const reactionTimeout = 3000
/** A tab that no run used for this long is closed, in ms. */
const idle = 5 * 60_000

interface TabRecord {
  tabId: number
  windowId: number
  usedAt: number
  /** The site sent the tab to its log-in at another host. */
  away?: boolean
}
type Places = Partial<Record<Site, TabRecord>>

/** The tabs that runs drive: one for each site, in windows of their own behind the user's. */
export class ChatTabs extends Stored<Places> {
  /** By site, the last work on its tab. One waits for the other, so that a site has one window. */
  readonly #turns = new Map<Site, Promise<unknown>>()
  /** The same tabs. An extension that is reloaded or updated loses its session, but not its tabs. */
  readonly #lasting = new Stored<Places>('local', 'places', {})

  constructor() {
    super('session', 'places', {})
  }

  /**
   * Reads the tabs. In a new session it takes those that are where they were, at their site. Firefox counts tabs from 1
   * in each session, so another tab may have the id.
   */
  override async load(): Promise<void> {
    await Promise.all([super.load(), this.#lasting.load(), browser.undoInjections()])
    if (this.#records().length || browser.inFirefox()) return
    const found: Places = {}
    for (const site of sites) {
      const record = this.#lasting.value[site]
      const tab = record && await browser.getTab(record.tabId)
      if (tab && tab.windowId === record.windowId && isAt(siteSpecs[site], tab.url)) found[site] = record
    }
    await this.set(found)
  }

  override set(value: Places): Promise<unknown> {
    void this.#lasting.set(value)
    return super.set(value)
  }

  tabOf(site: Site): number | undefined {
    return this.value[site]?.tabId
  }

  /** Returns a site's tab as it is, or a new one. */
  async any(spec: SiteSpec, signal: AbortSignal): Promise<number> {
    await this.#turns.get(spec.site)
    return this.tabOf(spec.site) ?? this.open(spec, spec.newChat, true, signal)
  }

  /**
   * Returns a site's tab with a freshly loaded page, before the deadline (ms of performance.now()). With `stay`, a page
   * that is at the address already is not loaded again.
   */
  open(spec: SiteSpec, url: string, stay: boolean, signal: AbortSignal, deadline = Infinity): Promise<number> {
    const { site } = spec
    return this.#inTurn(site, async () => {
      if (signal.aborted) throw cancelled()
      let there = await browser.getTab(this.tabOf(site) ?? -1)
      const before = there && await this.#begunAt(site, there)
      if (stay && before && there?.complete && there.url === url) {
        await this.#used(site, there)
        return there.id
      }
      if (there && (before === undefined || before === -1)) {
        await this.abandon(site) // the page hangs, or is the user's
        there = undefined
      }
      // A hidden page would never get an animation frame that it requested before the shim.
      const undo = await browser.injectFirst(`shim-${site}`, 'shim.js', spec.matches)
      try {
        // The user's own tabs do not cover a page in a window of its own.
        const tab = there ?? await browser.openWindow(url, width, height).catch(() => browser.openBackgroundTab(url))
        await this.#used(site, tab)
        if (tab === there) await browser.goTo(tab.id, url)
        await this.#loaded(tab.id, spec, before, signal, deadline)
        return tab.id
      } finally {
        await undo()
      }
    })
  }

  #inTurn<T>(site: Site, work: () => Promise<T>): Promise<T> {
    const done = Promise.resolve(this.#turns.get(site)).then(work)
    this.#turns.set(site, done.catch(() => {}))
    return done
  }

  /** Closes a site's tab, because its page failed or is idle. One that the user writes in or has taken is theirs. */
  async abandon(site: Site): Promise<void> {
    const tab = await browser.getTab(this.tabOf(site) ?? -1)
    const begun = tab && this.#begunAt(site, tab)
    await this.#forget(site)
    if (tab && await begun !== -1) await browser.closeTab(tab.id)
  }

  /** When the document of a site's tab began, as `loadedAt`. -1 too if the user took it elsewhere; 0: an error page. */
  async #begunAt(site: Site, tab: browser.Tab): Promise<number | false | undefined> {
    const isTaken = tab.complete && !this.value[site]?.away && !isAt(siteSpecs[site], tab.url)
    return isTaken ? -1 : loadedAt(tab.id, siteSpecs[site]).catch(() => 0)
  }

  /** Starts the idle time of a tab after a run. */
  async leave(site: Site): Promise<void> {
    const record = this.value[site]
    if (record) await this.#used(site, { id: record.tabId, ...record })
  }

  /**
   * Closes idle tabs. A tab stays if its page is seen, or was clicked or typed in: it may be on a second screen. One
   * whose page is silent stays, too.
   */
  async tidy(busy: (site: Site) => boolean): Promise<void> {
    for (const [site, { tabId, usedAt }] of this.#records()) {
      if (busy(site) || Date.now() - usedAt < idle) continue
      // A prompt that comes meanwhile waits, and gets another window.
      await this.#inTurn(site, async () => {
        if (this.value[site]?.usedAt !== usedAt || await browser.seesTab(tabId)) return
        const isUsed = browser.runInTab(tabId, () => navigator.userActivation.hasBeenActive, []).catch(() => false)
        if (await timeout(reactionTimeout, isUsed) === false) await this.abandon(site)
      })
    }
  }

  /** Follows a tab that got another id. */
  replaced(tabId: number, replaced: number): void {
    for (const [site, record] of this.#records())
      if (record.tabId === replaced) void this.set({ ...this.value, [site]: { ...record, tabId } })
  }

  /** Forgets a tab that was closed. */
  closed(tabId: number): void {
    for (const [site, record] of this.#records()) if (record.tabId === tabId) void this.#forget(site)
  }

  #records(): [Site, TabRecord][] {
    return Object.entries(this.value) as [Site, TabRecord][]
  }

  #used(
    site: Site,
    { id: tabId, windowId }: Pick<browser.Tab, 'id' | 'windowId'>,
    away?: boolean,
  ): Promise<unknown> {
    return this.set({ ...this.value, [site]: { tabId, windowId, usedAt: Date.now(), away } })
  }

  #forget(site: Site): Promise<unknown> {
    const { [site]: _, ...rest } = this.value
    return this.set(rest)
  }

  /** Resolves when a new document of the site can be driven. `before` is the old document's time. */
  async #loaded(
    tabId: number,
    spec: SiteSpec,
    before: number | false | undefined,
    signal: AbortSignal,
    deadline: number,
  ): Promise<void> {
    const { label } = spec
    const begun = performance.now()
    for (let why = '';; await new Promise((resolve) => setTimeout(resolve, 50))) {
      if (signal.aborted) throw cancelled()
      const tab = await browser.getTab(tabId)
      if (!tab) throw new ToolFault('TAB_CLOSED', `The tab of ${label} was closed. Try again.`)
      const elsewhere = /^https?:/.test(tab.url) && !isAt(spec, tab.url)
      const now = elsewhere ? undefined : await loadedAt(tabId, spec).catch((e: Error) => {
        why = e.message
      })
      if (now && now !== before) return
      const left = elsewhere || (!tab.url && /cannot access|permission/i.test(why)) // a page we may not see
      if (left && tab.complete && performance.now() - begun > 3000) {
        await this.#used(spec.site, tab, true)
        // Google's page for a log-in that it refused.
        if (/^https:\/\/accounts\.google\.com\/.*\/signin\/rejected/.test(tab.url)) {
          throw new ToolFault(
            'AUTHENTICATION_FAILED',
            `Authentication failed: Google refused the log-in. Log in to ${label} in your own window, and try again.`,
          )
        }
        throw new ToolFault(
          'LOGIN_REQUIRED',
          `Login required: ${label} sent the browser to ${tab.url ? new URL(tab.url).host : 'another site'}. ` +
            'Log in there in your own window, and try again.',
        )
      }
      if (/error page/.test(why) && tab.complete)
        throw new ToolFault('NETWORK_ERROR', `${label} could not be loaded. Check the connection, and try again.`)
      if (performance.now() > deadline)
        throw new ToolFault('TIMEOUT', `${label} did not load in time. Nothing was sent.`)
      if (performance.now() - begun > loadTimeout)
        throw new ToolFault(
          'NETWORK_ERROR',
          `${label} did not load in time. ${why || 'The page does not react.'} Check the connection, and try again.`,
        )
    }
  }
}

/** A site's patterns are its origins with a star. */
const isAt = ({ matches }: SiteSpec, url: string) => matches.some((m) => url.startsWith(m.slice(0, -1)))

/**
 * Returns when a tab's document began, -1 if the user's words are there, false if it is not the site's, or undefined if
 * its page hangs. Rejects without access to the page. The document itself is asked for its address, because the tab's
 * may be older.
 */
const loadedAt = (tabId: number, spec: SiteSpec): Promise<number | false | undefined> =>
  timeout(
    reactionTimeout,
    browser.runInTab(
      tabId,
      (matches) =>
        matches.some((m) => location.href.startsWith(m.slice(0, -1))) &&
        ((globalThis as PageScope).portolanWords?.() ? -1 : performance.timeOrigin),
      [spec.matches],
    ),
  )
