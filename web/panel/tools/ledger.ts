import type { Snapshot, ToolDefinition, ToolInfo, ServerConfig } from '../../../wasm/js/shared/types.ts'

/** A tool that a server lists; on says whether models are offered it. */
export interface Listed {
  readonly info: ToolInfo
  readonly on: boolean
}

/**
 * All tools of a registry by server, the offered and the withheld, in the order of their names. A list that stays the
 * same is the same object.
 */
export class ToolLists {
  servers = new Map<string, Listed[]>()
  private known = new Map<string, ToolInfo>()
  private seen: Partial<Pick<Snapshot, 'tools' | 'withheld'>> = {}

  /**
   * Reports whether the lists changed. Most snapshots change only health, and have the same lists.
   */
  see({ tools, withheld }: Pick<Snapshot, 'tools' | 'withheld'>): boolean {
    if (tools === this.seen.tools && withheld === this.seen.withheld) return false
    this.seen = { tools, withheld }
    const listed = (on: boolean) => (now: ToolInfo): Listed => ({ info: this.same(now), on })
    const all = [...tools.map(listed(true)), ...withheld.map(listed(false))]
    const servers = Map.groupBy(all, ({ info }) => info.server)
    for (const [name, list] of servers) {
      list.sort((a, b) => (a.info.tool < b.info.tool ? -1 : a.info.tool > b.info.tool ? 1 : 0))
      const before = this.servers.get(name)
      if (before?.length === list.length && list.every((l, i) => l.info === before[i]!.info && l.on === before[i]!.on))
        servers.set(name, before)
    }
    this.servers = servers
    this.known = new Map(all.map(({ info }) => [info.name, info]))
    return true
  }

  /**
   * The tool as it was known, if it says the same. A list that is sent again, as
   * with every switched tool, is made of new objects: what was drawn, weighed and
   * looked over for the old ones still holds.
   */
  private same(now: ToolInfo): ToolInfo {
    const before = this.known.get(now.name)
    return before && before.server === now.server &&
        (before.definition === now.definition || alike(before.definition, now.definition))
      ? before
      : now
  }
}

const alike = (a: ToolDefinition, b: ToolDefinition) =>
  a.description === b.description && JSON.stringify(a) === JSON.stringify(b)

type Choice = NonNullable<ServerConfig['tools']>

/**
 * The choice after some tools are switched, as small as it can be said. All off
 * is an empty `allow`, so that tools which the server adds later are off as well;
 * all on is no choice.
 */
export function chosen(
  choice: Choice | undefined,
  all: readonly string[],
  names: readonly string[],
  on: boolean,
): Choice | undefined {
  const change = new Set(names)
  if (all.every((name) => change.has(name))) return on ? undefined : { allow: [] }
  const deny = (choice?.deny ?? []).filter((name) => !change.has(name))
  if (choice?.allow) {
    const allow = choice.allow.filter((name) => !change.has(name))
    if (on) allow.push(...names)
    return { allow, ...(deny.length && { deny }) }
  }
  if (!on) deny.push(...names)
  return deny.length ? { deny } : undefined
}
