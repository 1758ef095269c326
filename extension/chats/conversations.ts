import type { Options } from '../messages.ts'
import { Stored } from '../stored.ts'
import type { Client } from '../tools/tool.ts'
import type { Answer, Site } from './drivermessages.ts'

const most = 500

/** A conversation that a client began or continued. */
export interface Conversation {
  /** The client's key. */
  client: string
  project?: string
  site: Site
  id: string
  url: string
  /** In ms since the epoch. */
  usedAt: number
}

/** The conversations of each client with the sites, the last used at the end. */
export class Conversations extends Stored<Conversation[]> {
  constructor() {
    super('local', 'conversations', [], undefined, { client: '', usedAt: 0 })
  }

  /** Returns the id of the conversation that a prompt without one continues. */
  last(client: Client, site: Site, reuse: Options['reuse']): string | undefined {
    if (reuse === 'off' || (reuse === 'project' && !client.project)) return undefined
    return this.value.findLast((c) =>
      c.client === client.key && c.site === site && (reuse === 'client' || c.project === client.project)
    )?.id
  }

  remember({ key: client, project }: Client, site: Site, { conversationId: id, url }: Answer): void {
    if (!id) return
    const others = this.value.filter((c) => !(c.client === client && c.site === site && c.id === id))
    void this.set([...others, { client, project, site, id, url, usedAt: Date.now() }].slice(-most))
  }

  /** Returns a client's own conversations, the last used first. */
  of(client: Client, { project, site, limit = 20 }: { project?: string; site?: Site; limit?: number }): Conversation[] {
    const own = this.value.filter((c) =>
      c.client === client.key && (!project || c.project === project) && (!site || c.site === site)
    )
    return own.reverse().slice(0, limit)
  }

  /** Forgets a client's conversations. */
  forget(client: string): void {
    void this.set(this.value.filter((c) => c.client !== client))
  }
}
