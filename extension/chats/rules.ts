import { hasPermissions } from '../browser.ts'
import type { ChatSettings, Tally } from '../messages.ts'
import { Stored } from '../stored.ts'
import { ToolFault } from '../tools/tool.ts'
import { profiles } from './profiles/index.ts'
import { sites, type Site } from './wire.ts'

const hour = 3_600_000
const perHour = 30
const mostPerHour = 1000

const each = <T>(value: () => T) => Object.fromEntries(sites.map((s) => [s, value()])) as Record<Site, T>

/** Which sites the person switched on, how they are used, and how often. */
export class Rules {
  private readonly settings: Stored<Record<Site, ChatSettings>>
  private readonly uses: Stored<Record<Site, number[]>>
  private readonly tallies: Stored<Record<Site, Tally>>
  private granted: Partial<Record<Site, boolean>> = {}

  constructor(changed: () => void) {
    this.settings = new Stored(
      'local',
      'chats',
      each<ChatSettings>(() => ({ enabled: false, mode: 'auto', perHour, acceptedAt: null })),
      changed,
    )
    this.uses = new Stored('local', 'uses', each<number[]>(() => []))
    this.tallies = new Stored(
      'session',
      'tallies',
      each<Tally>(() => ({ answered: 0, failed: 0, timedOut: 0 })),
      changed,
    )
  }

  async load(): Promise<void> {
    await Promise.all([this.settings, this.uses, this.tallies].map((s) => s.load()))
    await this.permissionsChanged()
  }

  async permissionsChanged(): Promise<void> {
    for (const site of sites)
      this.granted[site] = await hasPermissions({ origins: profiles[site].matches, permissions: ['scripting'] })
  }

  set(site: Site, patch: Partial<ChatSettings>): void {
    const next = { ...this.of(site), ...patch }
    next.perHour = Math.min(mostPerHour, Math.max(1, Math.round(next.perHour) || perHour))
    void this.settings.set({ ...this.settings.value, [site]: next })
  }

  of(site: Site): ChatSettings {
    return this.settings.value[site]
  }

  isGranted(site: Site): boolean {
    return !!this.granted[site]
  }

  usedThisHour(site: Site): number {
    return this.recent(site).length
  }

  tally(site: Site): Tally {
    return this.tallies.value[site]
  }

  /** A prompt has ended; without a fault it was answered. */
  count(site: Site, fault?: unknown): void {
    const code = fault instanceof ToolFault ? fault.code : ''
    if (code === 'CANCELLED') return
    const outcome = !fault ? 'answered' : code === 'TIMEOUT' ? 'timedOut' : 'failed'
    const tally = this.tally(site)
    void this.tallies.set({ ...this.tallies.value, [site]: { ...tally, [outcome]: tally[outcome] + 1 } })
  }

  /** Counts a prompt, or throws CHAT_DISABLED or RATE_LIMITED. */
  admit(site: Site): void {
    const { label } = profiles[site]
    const { enabled, perHour } = this.of(site)
    if (!enabled)
      throw new ToolFault(
        'CHAT_DISABLED',
        `${label} is switched off. The person can switch it on in the side panel of Portolan.`,
      )
    if (!this.granted[site])
      throw new ToolFault(
        'CHAT_DISABLED',
        `The extension may not use the pages of ${label}. The person can allow it in the side panel of Portolan.`,
      )
    const recent = this.recent(site)
    if (recent.length >= perHour) {
      const minutes = Math.ceil((recent[0]! + hour - Date.now()) / 60_000)
      throw new ToolFault(
        'RATE_LIMITED',
        `${perHour} prompts an hour go to ${label} at most, as the person set it. Try again in ${minutes} minutes.`,
      )
    }
    void this.uses.set({ ...this.uses.value, [site]: [...recent, Date.now()] })
  }

  private recent(site: Site): number[] {
    return this.uses.value[site].filter((t) => t > Date.now() - hour)
  }
}
