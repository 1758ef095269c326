import type { Options } from '../messages.ts'
import { Stored } from '../stored.ts'

const initial: Options = {
  aliases: true,
  bookmarks: false,
  pages: false,
  publishRegistry: true,
  focus: false,
  reuseChats: false,
  history: false,
  historyDays: 30,
}
const mostOrigins = 100

/** What the person chose, beside the chats. */
export class Settings {
  private readonly kept: Stored<Options>
  private readonly pages: Stored<string[]>
  private readonly off: Stored<{ stopped: boolean }>
  private readonly who: Stored<{ id: string; label: string }>

  constructor(changed: () => void) {
    this.kept = new Stored('local', 'options', initial, changed)
    this.pages = new Stored<string[]>('local', 'origins', [], changed)
    this.off = new Stored('local', 'stopped', { stopped: false }, changed)
    this.who = new Stored('local', 'install', { id: '', label: '' }, changed)
  }

  async load(): Promise<void> {
    await Promise.all([this.kept, this.pages, this.off, this.who].map((s) => s.load()))
    if (!this.who.value.id) await this.who.set({ id: crypto.randomUUID(), label: browserName() })
  }

  get options(): Options {
    return this.kept.value
  }
  get install(): { id: string; label: string } {
    return this.who.value
  }
  get origins(): string[] {
    return this.pages.value
  }
  get stopped(): boolean {
    return this.off.value.stopped
  }

  set(patch: Partial<Options>): void {
    const known = Object.entries(patch).filter(([name]) => name in initial)
    const next = { ...this.options, ...Object.fromEntries(known) }
    next.historyDays = Math.min(365, Math.max(1, Math.round(next.historyDays) || initial.historyDays))
    void this.kept.set(next)
  }

  setLabel(label: string): void {
    const clean = label.replace(/\p{C}/gu, '').trim().slice(0, 64)
    if (!clean) throw new TypeError('a profile needs a name')
    void this.who.set({ ...this.install, label: clean })
  }

  setStopped(stopped: boolean): void {
    void this.off.set({ stopped })
  }

  /** Throws for what is no page's origin. */
  approve(origin: string, approved: boolean): void {
    const rest = this.origins.filter((o) => o !== origin)
    if (!approved) return void this.pages.set(rest)
    const { protocol, origin: own } = new URL(origin)
    if (own !== origin || !/^https?:$/.test(protocol)) throw new TypeError(`${origin} is not the origin of a page`)
    void this.pages.set([...rest, origin].slice(-mostOrigins))
  }
}

function browserName(): string {
  const { userAgentData } = navigator as { userAgentData?: { brands: { brand: string }[]; platform: string } }
  const brand = userAgentData?.brands.map((b) => b.brand).filter((b) => !/not.?a.?brand/i.test(b)).sort((
    a,
  ) => (a === 'Chromium' ? 1 : -1))[0]
  return `${brand ?? 'Browser'}${userAgentData?.platform ? ` on ${userAgentData.platform}` : ''}`
}
