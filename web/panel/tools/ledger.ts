import type { Snapshot, ToolInfo } from '../../../wasm/js/types.ts'

/** A tool that a server lists; on says whether models are offered it. */
export interface Listed { readonly info: ToolInfo; readonly on: boolean }

/** All tools of a snapshot by server, the offered and the withheld, in the order of their names. */
export function listedTools({ tools, withheld }: Pick<Snapshot, 'tools' | 'withheld'>): Map<string, Listed[]> {
  const servers = new Map<string, Listed[]>()
  const add = (on: boolean) => (info: ToolInfo) => {
    const list = servers.get(info.server)
    if (list) list.push({ info, on })
    else servers.set(info.server, [{ info, on }])
  }
  tools.forEach(add(true))
  withheld.forEach(add(false))
  for (const list of servers.values()) list.sort((a, b) => (a.info.tool < b.info.tool ? -1 : a.info.tool > b.info.tool ? 1 : 0))
  return servers
}
