import type { ClientClaim, ClientView } from '../messages.ts'
import { Stored } from '../stored.ts'
import type { Client, Grant, Tool } from '../tools/tool.ts'

const most = 100

/** The desktop clients that have called, with the user's grants. */
export class Clients extends Stored<Record<string, ClientView>> {
  constructor(changed: () => void) {
    super('local', 'clients', {}, changed, { name: '', lastSeen: 0, grants: {} })
  }

  get list(): ClientView[] {
    return Object.values(this.value).sort((a, b) => b.lastSeen - a.lastSeen)
  }

  /** Reads the clients. Older versions knew them by name only, so their grants may be another client's. */
  override async load(): Promise<void> {
    await super.load()
    this.value = Object.fromEntries(Object.entries(this.value).filter(([key]) => key.includes('\n')))
  }

  /** Records the client of a call over the bridge of a pairing. */
  seen(claim: ClientClaim | null | undefined, pairing: string): Client {
    const name = clean(claim?.name) || 'unnamed client'
    const version = clean(claim?.version) || undefined
    const project = clean(claim?.project) || undefined
    const key = [pairing, name, clean(claim?.instance)].join('\n')
    const known = this.value[key]
    const number = Number.parseInt(claim?.instance ?? '')
    const now = Date.now()
    const same = known && known.version === version && known.project === project
    if (!same || now - known.lastSeen > 60_000) {
      const next = {
        ...this.value,
        [key]: {
          grants: {},
          ...known,
          key,
          name,
          version,
          project,
          number: number > 1 ? number : undefined,
          lastSeen: now,
        },
      }
      const oldest = this.list.slice(most - 1).filter((c) => c.key !== key && !Object.keys(c.grants).length)
      for (const c of oldest) delete next[c.key]
      void this.set(next)
    }
    const { grants } = this.value[key]!
    return { pairing, key, name, project, grants, samples: claim?.samples === true }
  }

  grant(client: string, tool: string): Grant | undefined {
    const c = this.value[client]
    return c && Object.hasOwn(c.grants, tool) ? c.grants[tool] : undefined
  }

  /** The clients of a pairing that may use none of the reading tools unasked: the rest of each key. */
  denied(pairing: string, tools: Tool[]): string[] {
    const reading = tools.filter((tool) => tool.annotations?.readOnlyHint)
    return Object.entries(this.value).flatMap(([key, { grants }]) =>
      key.startsWith(pairing) && reading.every(({ name }) => (grants[name] ?? 'allow') !== 'allow')
        ? key.slice(pairing.length + 1)
        : []
    )
  }

  /** Sets the grant of a client and tool. Without a grant the tool's own default holds. */
  async setGrant(client: string, tool: string, grant: Grant | undefined): Promise<void> {
    const c = this.value[client]
    if (!c) return
    const { [tool]: _, ...others } = c.grants
    const grants = grant ? { ...others, [tool]: grant } : others
    return this.keep({ ...this.value, [client]: { ...c, grants } })
  }

  forget(client: string): Promise<void> {
    const { [client]: _, ...rest } = this.value
    return this.keep(rest)
  }
}

/** Returns a client's claim in a form that may be shown and kept. */
function clean(text: unknown): string {
  return typeof text === 'string' ? text.replace(/[\p{C}]/gu, '').trim().slice(0, 80) : ''
}
