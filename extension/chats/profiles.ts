import { Stored } from '../stored.ts'
import type { SiteProfile } from '../messages.ts'
import { siteSpecs } from './sites/index.ts'
import { applied, changes, profileVersion, readOverride, type ProfileOverride } from './sites/profile.ts'
import { sites, type Site, type SiteSpec } from './sites/site.ts'

/** The profiles of the sites: the shipped ones, with the user's changes. They are data, and nothing fetches them. */
export class Profiles extends Stored<Partial<Record<Site, ProfileOverride>>> {
  constructor(changed: () => void) {
    super('local', 'profiles', {}, changed)
  }

  /** Reads the changes. Those that this version cannot use are left out. */
  override async load(): Promise<void> {
    await super.load()
    for (const site of sites) {
      const own = this.value[site]
      if (own === undefined) continue
      try {
        readOverride(JSON.stringify(own), siteSpecs[site])
      } catch {
        const { [site]: _, ...rest } = this.value
        this.value = rest
      }
    }
  }

  /** Returns the profile in use. */
  of(site: Site): SiteSpec {
    return applied(siteSpecs[site], this.value[site])
  }

  /** Uses a user's profile from now on, or the shipped one for an empty text. Throws for one that cannot be used. */
  async use(site: Site, json: string): Promise<SiteProfile> {
    const { [site]: _, ...rest } = this.value
    await this.keep(json.trim() ? { ...rest, [site]: readOverride(json, siteSpecs[site]) } : rest)
    return this.view(site)
  }

  /** Returns what the settings show of a site's profile. */
  view(site: Site): SiteProfile {
    const own = this.value[site]
    const { layouts, notices, newChat, conversation, conversationUrl } = siteSpecs[site]
    const shipped = { version: profileVersion, newChat, conversation, conversationUrl, layouts, notices }
    return {
      shipped: JSON.stringify(shipped, null, 2),
      own: own ? JSON.stringify(own, null, 2) : '',
      changes: changes(siteSpecs[site], this.of(site)),
    }
  }
}
