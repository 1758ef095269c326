import { Stored } from '../stored.ts'
import type { Site } from './drivermessages.ts'

const most = 50
const longest = 200

/** The models that each site's page last offered. */
export class Models extends Stored<Partial<Record<Site, string[]>>> {
  constructor(changed: () => void) {
    super('local', 'models', {}, changed)
  }

  of(site: Site): string[] {
    return this.value[site] ?? []
  }

  /** Keeps what a page reported, which may be anything. */
  offered(site: Site, models: unknown): void {
    if (!Array.isArray(models)) return
    const names = models.filter((m) => typeof m === 'string').slice(0, most).map((m) =>
      m.replace(/[\p{C}]/gu, '').trim().slice(0, longest)
    ).filter(Boolean)
    if (names.length && names.join('\n') !== this.of(site).join('\n'))
      void this.set({ ...this.value, [site]: names })
  }
}
