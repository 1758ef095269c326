import type { ClientView, Grant } from '../messages.ts'
import { Stored } from '../stored.ts'
import type { Client } from '../tools/tool.ts'

const most = 100

/** The desktop clients that have called, by the name that they claim, and what each may do. */
export class Clients {
  private readonly stored: Stored<Record<string, ClientView>>

  constructor(changed: () => void) {
    this.stored = new Stored<Record<string, ClientView>>('local', 'clients', {}, changed)
  }

  load(): Promise<void> {
    return this.stored.load()
  }

  get list(): ClientView[] {
    return Object.values(this.stored.value).sort((a, b) => b.lastSeen - a.lastSeen)
  }

  /** Takes note of a client that calls. */
  seen(said: { id?: string; name?: string; version?: string } | null | undefined): Client {
    const name = clean(said?.name) || 'unnamed client'
    const version = clean(said?.version) || undefined
    const key = name
    const known = this.stored.value[key]
    const now = Date.now()
    if (!known || known.version !== version || now - known.lastSeen > 60_000) {
      const next = { ...this.stored.value, [key]: { grants: {}, ...known, key, name, version, lastSeen: now } }
      const oldest = this.list.slice(most - 1).filter((c) => !Object.keys(c.grants).length)
      for (const c of oldest) delete next[c.key]
      void this.stored.set(next)
    }
    return { id: clean(said?.id), key, name, version }
  }

  grant(client: string, tool: string): Grant | undefined {
    const c = this.stored.value[client]
    return c && Object.hasOwn(c.grants, tool) ? c.grants[tool] : undefined
  }

  setGrant(client: string, tool: string, grant: Grant | undefined): void {
    const c = this.stored.value[client]
    if (!c) return
    const { [tool]: _, ...grants } = c.grants
    void this.stored.set({
      ...this.stored.value,
      [client]: { ...c, grants: grant ? { ...grants, [tool]: grant } : grants },
    })
  }

  forget(client: string): void {
    const { [client]: _, ...rest } = this.stored.value
    void this.stored.set(rest)
  }
}

/** A foreign word, as it may be shown and kept. */
function clean(text: unknown): string {
  return typeof text === 'string' ? text.replace(/[\p{C}]/gu, '').trim().slice(0, 80) : ''
}
