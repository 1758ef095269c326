import { hasPermissions } from '../browser.ts'
import type { ChatSettings, Tally } from '../messages.ts'
import { loadAll, Stored } from '../stored.ts'
import { ToolFault } from '../tools/tool.ts'
import { siteSpecs } from './sites/index.ts'
import { eachSite, sites, type Site } from './sites/site.ts'

const hour = 3_600_000
const usualPerHour = 30
const mostPerHour = 1000

/** The user's settings for each site, and how often the site is used. */
export class SiteSettings {
  private readonly settings
  private readonly uses = new Stored('local', 'uses', eachSite((): number[] => []))
  private readonly tallies
  private readonly granted = eachSite(() => false)

  constructor(changed: () => void) {
    const initial: ChatSettings = { enabled: false, mode: 'auto', perHour: usualPerHour, acceptedAt: null }
    const none: Tally = { answered: 0, failed: 0, timedOut: 0 }
    this.settings = new Stored('local', 'chats', eachSite(() => initial), changed)
    this.tallies = new Stored('session', 'tallies', eachSite(() => none), changed)
  }

  async load(): Promise<void> {
    await loadAll([this.settings, this.uses, this.tallies])
    await this.permissionsChanged()
  }

  async permissionsChanged(): Promise<void> {
    for (const site of sites)
      this.granted[site] = await hasPermissions({ origins: siteSpecs[site].matches, permissions: ['scripting'] })
  }

  set(site: Site, patch: Partial<ChatSettings>): Promise<void> {
    const next = { ...this.of(site), ...patch }
    next.perHour = Math.min(mostPerHour, Math.max(1, Math.round(next.perHour) || usualPerHour))
    return this.settings.keep({ ...this.settings.value, [site]: next })
  }

  of(site: Site): ChatSettings {
    return this.settings.value[site]
  }

  /** Returns the settings and the use of a site, for the extension's pages. */
  view(site: Site): ChatSettings & Tally & { granted: boolean; usedThisHour: number } {
    const usedThisHour = this.usedThisHour(site).length
    return { ...this.of(site), ...this.tallies.value[site], granted: this.granted[site], usedThisHour }
  }

  /** Counts the end of a prompt. Without a fault it was answered. */
  count(site: Site, fault?: unknown): void {
    const code = fault instanceof ToolFault ? fault.code : ''
    if (code === 'CANCELLED') return
    const outcome = !fault ? 'answered' : code === 'TIMEOUT' ? 'timedOut' : 'failed'
    const tally = this.tallies.value[site]
    void this.tallies.set({ ...this.tallies.value, [site]: { ...tally, [outcome]: tally[outcome] + 1 } })
  }

  /** Throws CHAT_DISABLED for a site that the extension may not use. */
  check(site: Site): void {
    const { label } = siteSpecs[site]
    const why = !this.of(site).enabled
      ? `${label} is switched off. The person can switch it on`
      : !this.granted[site] && `The extension may not use the pages of ${label}. The person can allow it`
    if (why) throw new ToolFault('CHAT_DISABLED', `${why} in the side panel of Portolan.`)
  }

  /** Admits and counts a prompt, and returns when. Throws CHAT_DISABLED or RATE_LIMITED. */
  admit(site: Site): number {
    this.check(site)
    const { perHour } = this.of(site)
    const recent = this.usedThisHour(site)
    if (recent.length >= perHour) {
      const minutes = Math.ceil((recent.at(-perHour)! + hour - Date.now()) / 60_000)
      throw new ToolFault(
        'RATE_LIMITED',
        `At most ${perHour} prompts an hour go to ${
          siteSpecs[site].label
        }, as the person set it. Try again in ${minutes} minutes.`,
      )
    }
    const now = Date.now()
    void this.uses.set({ ...this.uses.value, [site]: [...recent, now] })
    return now
  }

  /** Counts a prompt no more, because it was not sent. */
  release(site: Site, at: number): void {
    const uses = this.uses.value[site]
    void this.uses.set({ ...this.uses.value, [site]: uses.filter((_, i) => i !== uses.indexOf(at)) })
  }

  /** The number of prompts that the user's bound leaves in this hour. */
  left(site: Site): number {
    return Math.max(0, this.of(site).perHour - this.usedThisHour(site).length)
  }

  private usedThisHour(site: Site): number[] {
    const now = Date.now()
    return this.uses.value[site].filter((t) => Math.abs(now - t) < hour) // the clock may have been set back
  }
}
