import type { Options } from './messages.ts'
import { loadAll, Stored } from './stored.ts'

const initial: Options = {
  aliases: true,
  bookmarks: false,
  pages: false,
  publishRegistry: true,
  focus: false,
  reuse: 'project',
  history: false,
  historyDays: 30,
  debugTexts: false,
}
const mostOrigins = 100

/** The user's settings, except those of the chat sites. */
export class Settings {
  private readonly stored

  constructor(changed: () => void) {
    this.stored = {
      options: new Stored('local', 'options', initial, changed),
      origins: new Stored<string[]>('local', 'origins', [], changed),
      pageTools: new Stored<string[]>('local', 'pageTools', [], changed),
      stopped: new Stored('local', 'stopped', { stopped: false }, changed),
      install: new Stored('local', 'install', { id: '', label: '' }, changed),
    }
  }

  async load(): Promise<void> {
    await loadAll(Object.values(this.stored))
    if (!this.install.id) await this.stored.install.set({ id: crypto.randomUUID(), label: browserName() })
  }

  get options(): Options {
    return this.stored.options.value
  }
  /** The id of this installation, and the label of the browser profile. */
  get install(): { id: string; label: string } {
    return this.stored.install.value
  }
  /** Origins of the pages that may use the bridge. */
  get origins(): string[] {
    return this.stored.origins.value
  }
  /** Origins whose pages' tools are offered. */
  get pageTools(): string[] {
    return this.stored.pageTools.value
  }
  get stopped(): boolean {
    return this.stored.stopped.value.stopped
  }

  set(patch: Partial<Options>): void {
    const known = Object.entries(patch).filter(([name]) => name in initial)
    const next = { ...this.options, ...Object.fromEntries(known) }
    if (!['off', 'project', 'client'].includes(next.reuse)) next.reuse = initial.reuse
    next.historyDays = Math.min(365, Math.max(1, Math.round(next.historyDays) || initial.historyDays))
    void this.stored.options.set(next)
  }

  setLabel(label: string): void {
    const clean = label.replace(/\p{C}/gu, '').trim().slice(0, 64)
    if (!clean) throw new TypeError('a profile needs a name')
    void this.stored.install.set({ ...this.install, label: clean })
  }

  setStopped(stopped: boolean): void {
    void this.stored.stopped.set({ stopped })
  }

  /** Adds or removes an approved origin. Throws for a text that is not an origin. */
  approve(origin: string, approved: boolean): void {
    void this.stored.origins.set(withOrigin(this.origins, origin, approved))
  }

  /** Adds or removes an origin whose pages' tools are offered. Throws for a text that is not an origin. */
  setPageTools(origin: string, on: boolean): void {
    void this.stored.pageTools.set(withOrigin(this.pageTools, origin, on))
  }
}

function withOrigin(origins: string[], origin: string, on: boolean): string[] {
  const rest = origins.filter((o) => o !== origin)
  if (!on) return rest
  const { protocol, origin: own } = new URL(origin)
  if (own !== origin || !/^https?:$/.test(protocol)) throw new TypeError(`${origin} is not the origin of a page`)
  return [...rest, origin].slice(-mostOrigins)
}

function browserName(): string {
  const { userAgentData } = navigator as { userAgentData?: { brands: { brand: string }[]; platform: string } }
  const brands = (userAgentData?.brands ?? []).map((b) => b.brand).filter((brand) => !/not.?a.?brand/i.test(brand))
  // A browser names itself beside Chromium.
  const other = navigator.userAgent.includes('Firefox/') ? 'Firefox' : 'Browser'
  const name = brands.find((brand) => brand !== 'Chromium') ?? brands[0] ?? other
  return userAgentData?.platform ? `${name} on ${userAgentData.platform}` : name
}
