import { isObject } from '../../wasm/js/shared/object.ts'
import type { Tool, ToolInfo } from '../../wasm/js/shared/types.ts'
import { fail } from './failed.ts'
import { address, oneLine } from './results.ts'
import type { RunOptions, RunRoles } from './types.ts'

/** The longest time until the servers of the roles are connected, in ms. */
const patience = 2000

const usualHint = 'Try again, or look at the servers in the settings.'

/** A tool of a role. */
export interface RoleTool {
  name: string
  server: string
  /** The tool and the connection, on which its answers depend. Another connection may be that of another user. */
  source: string
  /** The names of its parameters; none if the schema does not name them. */
  parameters: string[]
  /** It claims that it changes nothing. */
  readOnly: boolean
}

/** The tools of the roles; `search` in the order of preference. */
export interface RoleTools {
  list: RoleTool | undefined
  search: RoleTool[]
  link: RoleTool | undefined
  /** The servers that the run needs. */
  servers: string[]
  /** The address for people of the server that has most of them, or the origin of its endpoint. */
  home: string | undefined
}

const unhealthy = (detail: string, hint = usualHint): never =>
  fail({ code: 'unhealthy', detail, hint: oneLine(hint, 300) })

const searchNames = ({ search }: RunRoles): string[] => [search].flat()

type Listed = Pick<ToolInfo, 'server' | 'tool' | 'name'> & Partial<Pick<ToolInfo, 'definition'>>

/** The tools that there are, by server. A view has no servers, and its names tell them. */
function listed({ registry, view }: RunOptions): readonly Listed[] {
  if (registry) return registry.getSnapshot().tools.filter(({ name }) => view?.has(name) ?? true)
  return view!.getTools({ format: 'openai' }).map((t) => {
    const { name } = (t as Extract<Tool, { function: unknown }>).function
    const at = name.indexOf('__')
    return { server: name.slice(0, at), tool: name.slice(at + 2), name }
  })
}

/** The registry's knowledge of a server. */
const healthOf = ({ registry }: RunOptions, server = '') => registry?.getSnapshot().servers[server]

function homeOf(health: ReturnType<typeof healthOf>): string | undefined {
  const url = health?.config.url ?? ''
  return address(health?.serverInfo?.websiteUrl) ?? (URL.canParse(url) ? address(new URL(url).origin) : undefined)
}

/** The tools of the roles. A name that several servers have is that of the server with the most of them. */
function rolesOf(options: RunOptions): RoleTools {
  const { roles } = options
  const all = listed(options)
  const wanted = [roles.list, ...searchNames(roles), roles.link]
  const counts = new Map<string, number>()
  for (const { server, tool, name } of all) {
    if (wanted.includes(tool) || wanted.includes(name)) counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  const server = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
  const find = (role: string | undefined): RoleTool | undefined => {
    const found = all.find(({ name }) => name === role) ?? all.find((t) => t.tool === role && t.server === server)
    if (!found) return undefined
    const { name, server: its, definition: { inputSchema, annotations } = {} } = found
    const parameters = inputSchema?.['properties']
    const health = healthOf(options, its)
    return {
      name,
      server: its,
      source: `${name} ${health?.config.url} ${health?.lastConnected}`,
      parameters: isObject(parameters) ? Object.keys(parameters) : [],
      readOnly: annotations?.['readOnlyHint'] === true,
    }
  }
  const search = searchNames(roles).map(find).filter((tool) => tool !== undefined)
  const list = find(roles.list), link = find(roles.link)
  const servers = [...new Set([list, search[0], link].flatMap((tool) => tool?.server ?? []))]
  return { list, search, link, servers, home: homeOf(healthOf(options, server)) }
}

/** Fails if something keeps the run from beginning. */
function check(options: RunOptions, tools: RoleTools, servers: string[]): void {
  const { roles, registry } = options
  for (const server of servers) {
    const health = healthOf(options, server)
    if (!registry || (health?.status === 'connected' && !health.suspended && !health.consecutiveFailures)) continue
    const what = health?.suspended ? 'is suspended' : health ? 'does not answer' : 'is gone'
    unhealthy(`The server ${server} ${what}.`, health?.hint)
  }
  const missing = (!tools.search.length && searchNames(roles).join(' or ')) ||
    (!tools.list && roles.list) || (!tools.link && roles.link)
  if (!missing) return
  const failed = Object.entries(registry?.getSnapshot().servers ?? {}).find(([, h]) => h.lastError)
  const why = failed ? ` The server ${failed[0]} has failed.` : ''
  unhealthy(`No connected server has the tool ${missing}.${why}`, failed?.[1].hint)
}

/**
 * The tools of the roles, once their servers have shown that they answer: they are asked for their tools. That takes
 * at most 2 s. A view alone tells of health by its tools, because those of suspended servers leave its list.
 */
export async function healthyTools(options: RunOptions, signal: AbortSignal): Promise<RoleTools> {
  const { registry } = options
  const before = rolesOf(options).servers
  if (registry) {
    const late = AbortSignal.timeout(patience)
    const over = AbortSignal.any([signal, late])
    await registry.discover(before.length ? before : undefined, { signal: over }).catch(() => {})
    signal.throwIfAborted()
    // Where the servers of the roles were not known, one that has nothing to do with the run may be the late one.
    if (late.aborted && before.length) unhealthy(`The server ${before.join(' or ')} did not answer in 2 s.`)
  }
  const tools = rolesOf(options)
  check(options, tools, tools.servers.length ? tools.servers : before) // the tools of a server that fails leave the list
  return tools
}
