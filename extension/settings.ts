import type { Options } from './messages.ts'
import { loadAll, Stored } from './stored.ts'

const usualDays = 30
const initial: Options = {
  aliases: true,
  bookmarks: false,
  pages: false,
  publishRegistry: true,
  focus: false,
  reuse: 'project',
  history: false,
  historyDays: usualDays,
  debugTexts: false,
}
const mostOrigins = 100

/** The user's settings, except those of the chat sites. */
export class Settings {
  private readonly stored

  constructor(changed: () => void) {
    this.stored = {
      options: new Stored('local', 'options', initial, changed),
      origins: new Stored<string[]>('local', 'origins', [], changed, ''),
      pageTools: new Stored<string[]>('local', 'pageTools', [], changed, ''),
      stopped: new Stored('local', 'stopped', { stopped: false }, changed),
      install: new Stored('local', 'install', { id: '', label: '' }, changed),
    }
  }

  async load(): Promise<void> {
    await loadAll(Object.values(this.stored))
    this.stored.options.value = valid(this.options)
    const { id, label } = this.install
    if (!id || !label)
      await this.stored.install.set({ id: id || crypto.randomUUID(), label: label || browserName() })
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

  set(patch: Partial<Options>): Promise<void> {
    const known = Object.entries(patch).filter(([name]) => name in initial)
    return this.stored.options.keep(valid({ ...this.options, ...Object.fromEntries(known) }))
  }

  async setLabel(label: string): Promise<void> {
    const clean = label.replace(/\p{C}/gu, '').trim().slice(0, 64)
    if (!clean) throw new TypeError('a profile needs a name')
    return this.stored.install.keep({ ...this.install, label: clean })
  }

  /** Resolves to the fault if it cannot be stored. Then it counts until the worker ends. */
  setStopped(stopped: boolean): Promise<unknown> {
    return this.stored.stopped.set({ stopped })
  }

  /** Adds or removes an origin of a list. Rejects for a text that is not an origin. */
  async setOrigin(list: 'origins' | 'pageTools', origin: string, on: boolean): Promise<void> {
    return this.stored[list].keep(withOrigin(this[list], origin, on))
  }
}

function valid({ reuse, historyDays, ...rest }: Options): Options {
  return {
    ...rest,
    reuse: ['off', 'project', 'client'].includes(reuse) ? reuse : initial.reuse,
    historyDays: Math.min(365, Math.max(1, Math.round(historyDays) || usualDays)),
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
