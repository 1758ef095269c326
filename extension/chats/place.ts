import {
  closeTab,
  getTab,
  goTo,
  injectFirst,
  openBackgroundTab,
  openWindow,
  runInTab,
  seesTab,
  showTab,
} from '../browser.ts'
import { Stored } from '../stored.ts'
import { ToolFault } from '../tools/tool.ts'
import type { SiteProfile } from './profile.ts'
import { within } from './within.ts'
import type { Site } from './wire.ts'

/** Narrower windows get the sites' mobile pages. */
const width = 1280
const height = 900
/** How long a page may take to be there, in ms. */
const loadTimeout = 30_000
/** How long a page may take to answer that it is there, in ms. */
const reaction = 3000
/** A tab that no run has used for so long is closed, in ms. */
const idle = 5 * 60_000

interface Place {
  tabId: number
  windowId: number
  usedAt: number
}

/** The tabs that runs drive: one for each site, in windows of their own behind the person's. */
export class Places {
  private readonly stored = new Stored<Partial<Record<Site, Place>>>('session', 'places', {})

  load(): Promise<void> {
    return this.stored.load()
  }

  tabOf(site: Site): number | undefined {
    return this.stored.value[site]?.tabId
  }

  /**
   * The tab of a site, with a page that was loaded for this before the deadline (ms since the epoch). `stay`: not if
   * it shows that address already.
   */
  async open(
    profile: SiteProfile,
    url: string,
    stay: boolean,
    signal: AbortSignal,
    deadline = Infinity,
  ): Promise<number> {
    const { site } = profile
    const place = this.stored.value[site]
    const there = place && await getTab(place.tabId)
    const before = there && await born(there.id).catch(() => -1) // an error page, or another site's
    const hangs = there && before === undefined
    if (hangs) await this.abandon(site)
    if (there && !hangs && stay && before !== -1 && there.complete && there.url === url) {
      await this.used(site, there.id, there.windowId)
      return there.id
    }
    // A frame that the page asks for before the shim is there would never come to a hidden page.
    const undo = await injectFirst(`shim-${site}`, 'shim.js', profile.matches)
    try {
      // A window that shows nothing else is not covered by the person's own tab.
      const tab = there && !hangs ? there : await openWindow(url, width, height).catch(() => openBackgroundTab(url))
      await this.used(site, tab.id, tab.windowId)
      if (tab === there) await goTo(tab.id, url)
      await this.loaded(tab.id, profile, before, signal, deadline)
      return tab.id
    } finally {
      await undo()
    }
  }

  show(tabId: number): Promise<void> {
    return showTab(tabId)
  }

  /** For pages that went wrong. */
  async abandon(site: Site): Promise<void> {
    const place = this.stored.value[site]
    if (!place) return
    await this.forget(site)
    await closeTab(place.tabId)
  }

  /** A run has ended: from now on the tab is idle. */
  async leave(site: Site): Promise<void> {
    const place = this.stored.value[site]
    if (place) await this.used(site, place.tabId, place.windowId)
  }

  /** Closes what no run has used for a while, and nobody looks at. */
  async tidy(busy: (site: Site) => boolean): Promise<void> {
    for (const [site, place] of Object.entries(this.stored.value) as [Site, Place][]) {
      if (busy(site) || Date.now() - place.usedAt < idle) continue
      if (!await seesTab(place.tabId)) await this.abandon(site)
    }
  }

  /** A tab was closed, by whomever. */
  closed(tabId: number): void {
    for (const [site, place] of Object.entries(this.stored.value) as [Site, Place][])
      if (place.tabId === tabId) void this.forget(site)
  }

  private used(site: Site, tabId: number, windowId: number): Promise<void> {
    return this.stored.set({ ...this.stored.value, [site]: { tabId, windowId, usedAt: Date.now() } })
  }

  private forget(site: Site): Promise<void> {
    const { [site]: _, ...rest } = this.stored.value
    return this.stored.set(rest)
  }

  /** Resolves when a document of the site that is not the one before can be driven. */
  private async loaded(
    tabId: number,
    { label, matches }: SiteProfile,
    before: number | undefined,
    signal: AbortSignal,
    deadline: number,
  ): Promise<void> {
    const begun = Date.now()
    const origins = matches.map((m) => m.replace(/\/\*$/, ''))
    for (let why = '';; await new Promise((resolve) => setTimeout(resolve, 50))) {
      if (signal.aborted) throw new ToolFault('CANCELLED', 'The prompt was cancelled. Nothing was sent.')
      const tab = await getTab(tabId)
      if (!tab) throw new ToolFault('TAB_CLOSED', `The tab of ${label} was closed. Try again.`)
      const elsewhere = /^https?:/.test(tab.url) && !origins.some((o) => tab.url.startsWith(`${o}/`))
      const now = elsewhere ? undefined : await born(tabId).catch((e: Error) => {
        why = e.message
      })
      if (now !== undefined && now !== before) return
      if (elsewhere && tab.complete && Date.now() - begun > 3000) {
        throw new ToolFault(
          'LOGIN_REQUIRED',
          `${label} sent the browser to ${new URL(tab.url).host}. Log in there in your own window, and try again.`,
        )
      }
      if (/error page/.test(why) && tab.complete)
        throw new ToolFault('NETWORK_ERROR', `${label} could not be loaded. Check the connection, and try again.`)
      if (Date.now() > deadline) throw new ToolFault('TIMEOUT', `${label} did not load in time. Nothing was sent.`)
      if (Date.now() - begun > loadTimeout)
        throw new ToolFault('NETWORK_ERROR', `${label} did not load in ${loadTimeout / 1000} s. ${why}`)
    }
  }
}

/** When the tab's document began; undefined while its page does not react. Rejects where the extension may not look. */
const born = (tabId: number): Promise<number | undefined> =>
  within(reaction, runInTab(tabId, () => performance.timeOrigin, []))
