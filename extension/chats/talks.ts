import { Stored } from '../stored.ts'
import type { Site } from './wire.ts'

const most = 200

/** Each client's last conversation with a site (B27). */
export class Talks {
  private readonly stored = new Stored<Record<string, string>>('local', 'talks', {})

  load(): Promise<void> {
    return this.stored.load()
  }

  last(client: string, site: Site): string | undefined {
    return this.stored.value[key(client, site)]
  }

  remember(client: string, site: Site, id: string): void {
    const { [key(client, site)]: _, ...rest } = this.stored.value
    void this.stored.set(Object.fromEntries([...Object.entries(rest), [key(client, site), id]].slice(-most)))
  }
}

const key = (client: string, site: Site) => `${site} ${client}`
