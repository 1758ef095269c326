import { Stored } from '../stored.ts'
import type { Site } from './drivermessages.ts'

const most = 30
/** A page's words reach models in the tool's description, so only what looks like a name is taken. */
const likely = /^[\p{L}\p{N}][\p{L}\p{N} .,()+\-/:_|]{0,99}$/u

/** The models that each site's page last offered. */
export class Models extends Stored<Partial<Record<Site, string[]>>> {
  /** Sites whose page was asked for its models since the background started. It may offer none. */
  private readonly asked = new Set<Site>()

  constructor(changed: () => void) {
    super('local', 'models', {}, changed, [])
  }

  of(site: Site): string[] {
    return this.value[site] ?? []
  }

  /** Reports once for each site whether its page is to be asked for its models. */
  wanted(site: Site): boolean {
    const wanted = this.of(site).length === 0 && !this.asked.has(site)
    this.asked.add(site)
    return wanted
  }

  /** Keeps what a page reported, which may be anything. */
  offered(site: Site, models: unknown): void {
    if (!Array.isArray(models)) return
    const names = models.filter((m): m is string => typeof m === 'string' && likely.test(m)).slice(0, most)
    if (names.length && names.join('\n') !== this.of(site).join('\n'))
      void this.set({ ...this.value, [site]: names })
  }
}
