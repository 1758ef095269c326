import { isServer, readServer, transportOf } from './server.ts'
import { get, isObject, strings, text, type JsonObject } from './json.ts'
import { inputId } from './placeholders.ts'
import type { Declared, Draft } from './draft.ts'
import type { Input, Reading } from './types.ts'

export interface Found {
  kind: Reading['kind']
  drafts: Draft[]
  declared: Declared
}

// VS Code's is `servers`; opencode's `mcp` holds the servers themselves.
const containers = 'mcpServers amp.mcpServers servers context_servers mcp_servers mcp extensions remoteServers'.split(
  ' ',
)

/** The servers of a parsed document of any dialect; undefined: it holds none. */
export function readDocument(v: unknown, name?: string, depth = 0): Found | undefined {
  if (Array.isArray(v)) return readList(v, 'mcp-json')
  if (!isObject(v) || depth > 3) return undefined
  if (isServerJson(v)) return { kind: 'server-json', ...readServerJson(v) }
  const projects = get(v, 'projects') // of ~/.claude.json; some of them have the same server
  if (isObject(projects)) {
    const all = [v, ...Object.values(projects)].flatMap((o) => readMap(get(o, 'mcpServers'))?.drafts ?? [])
    const drafts = [...new Map(all.map((draft) => [JSON.stringify(draft), draft])).values()]
    if (drafts.length) return { kind: 'mcp-json', drafts, declared: new Map() }
  }
  for (const key of containers) {
    const inner = get(v, key)
    if (inner === undefined || (isServer(v) && !isObject(inner) && !Array.isArray(inner))) continue
    const found = Array.isArray(inner)
      ? readList(inner, key === 'mcpServers' ? 'continue' : 'mcp-json')
      : readMap(inner) ?? readDocument(inner, undefined, depth + 1)
    if (!found) continue
    if (found.kind === 'mcp-json' && (key === 'servers' || Array.isArray(get(v, 'inputs')))) found.kind = 'vscode'
    declaredIn(get(v, 'inputs'), found.declared)
    return found
  }
  if (isServer(v)) return { kind: 'mcp-json', drafts: [readServer(v, name)], declared: declaredIn(get(v, 'inputs')) }
  return readMap(v)
}

/** The first elements of a list; none of what is no list. */
const items = (v: unknown, most = 200): unknown[] => (Array.isArray(v) ? v.slice(0, most) : [])

/** Servers by name. One of them has to look like a server. */
function readMap(v: unknown): Found | undefined {
  if (!isObject(v)) return undefined
  const all = Object.entries(v)
  const servers = all.filter((e): e is [string, JsonObject] => isObject(e[1]))
  if (all.length && !servers.some(([, s]) => isServer(s))) return undefined
  return { kind: 'mcp-json', drafts: servers.map(([key, s]) => readServer(s, key)), declared: new Map() }
}

/** Continue's array, the catalogue's, or servers that say their own names. */
function readList(list: unknown[], kind: Reading['kind']): Found | undefined {
  const found: Found = { kind, drafts: [], declared: new Map() }
  for (const v of list) {
    if (isServerJson(v)) {
      found.kind = 'server-json'
      found.drafts.push(...readServerJson(v, found.declared).drafts)
    } else if (isServer(v)) found.drafts.push(readServer(v))
  }
  return found.drafts.length || !list.length ? found : undefined
}

/** VS Code's `inputs`. */
export function declaredIn(v: unknown, declared: Declared = new Map()): Declared {
  for (const o of items(v)) {
    const id = text(o, 'id')
    if (!id) continue
    const choices = items(get(o, 'options')).map((e) => (typeof e === 'string' ? e : text(e, 'value', 'label')))
    declared.set(inputId(id), inputOf(o, { password: get(o, 'password') === true }, choices))
  }
  return declared
}

/** Reads the description, the default and the choices of an input. */
function inputOf(o: unknown, input: Partial<Input>, listed: unknown): Partial<Input> {
  const description = text(o, 'description', 'placeholder')
  const fallback = text(o, 'default')
  const choices = strings(items(listed))
  if (description) input.description = description.slice(0, 2000)
  if (fallback !== undefined) input.default = fallback
  if (choices.length) input.choices = choices
  return input
}

/** A server.json of the MCP Registry, bare or as its API wraps it: {server, _meta}. */
export const isServerJson = (v: unknown): v is JsonObject => {
  const s = get(v, 'server') ?? v
  return isObject(s) && (Array.isArray(get(s, 'remotes')) || Array.isArray(get(s, 'packages'))) &&
    text(s, 'name') !== undefined
}

const maxRemotes = 20
const variable = /\{([A-Za-z_][A-Za-z0-9_.-]{0,99})\}/g

/** One draft for each remote; a server with packages only is a local process. */
export function readServerJson(
  v: JsonObject,
  declared: Declared = new Map(),
): { drafts: Draft[]; declared: Declared } {
  const s = get(v, 'server') ?? v
  const name = text(s, 'name')!.split('/').at(-1)!
  const drafts = items(get(s, 'remotes'), maxRemotes).filter(isObject).map((r) => readRemote(r, name, declared))
  if (!drafts.length) drafts.push(...items(get(s, 'packages'), 1).filter(isObject).map((p) => readPackage(p, name)))
  return { drafts, declared }
}

function readRemote(r: JsonObject, name: string, declared: Declared): Draft {
  const draft: Draft = { name, headers: [], lints: [] }
  const transport = transportOf(get(r, 'type') ?? get(r, 'transport_type'))
  if (transport === 'sse' || transport === 'streamable-http') draft.transport = transport
  const url = text(r, 'url')
  if (url) draft.url = expand(url, get(r, 'variables'), declared)
  for (const h of items(get(r, 'headers'), 50)) {
    const header = text(h, 'name')
    if (!header) continue
    const value = text(h, 'value')
    const variables = get(h, 'variables')
    draft.headers.push([
      header,
      value ? expand(value, variables, declared, h, header) : ask(header, h, declared, header),
    ])
  }
  return draft
}

/** {name} becomes an input where the document declares it; elsewhere it stays as it is. */
function expand(
  template: string,
  variables: unknown,
  declared: Declared,
  header?: unknown,
  headerName?: string,
): string {
  return template.replace(variable, (whole, key: string) => {
    const v = get(variables, key)
    if (!isObject(v)) return whole
    const fixed = text(v, 'value')
    return fixed ??
      ask(
        key,
        { isSecret: get(header, 'isSecret'), isRequired: headerName ? get(header, 'isRequired') : true, ...v },
        declared,
        headerName,
      )
  })
}

function ask(id: string, o: unknown, declared: Declared, header?: string): string {
  const flags = { password: get(o, 'isSecret') === true, required: get(o, 'isRequired') === true }
  const input = inputOf(o, flags, get(o, 'choices'))
  let own = inputId(id)
  const before = declared.get(own)
  if (before && header && JSON.stringify(before) !== JSON.stringify(input)) own = inputId(header + '.' + own)
  declared.set(own, input)
  return '${input:' + own + '}'
}

const runtimes: Record<string, string> = { npm: 'npx', pypi: 'uvx', oci: 'docker', nuget: 'dnx' }

function readPackage(p: JsonObject, name: string): Draft {
  const identifier = text(p, 'identifier', 'name') ?? ''
  const variables = items(get(p, 'environmentVariables'))
  const env: Record<string, string> = Object.fromEntries(variables.map((e) => [text(e, 'name') ?? '', '']))
  const registry = text(p, 'registryType', 'registry_name') ?? ''
  return {
    name,
    headers: [],
    lints: [],
    stdio: {
      command: text(p, 'runtimeHint') ??
        (Object.hasOwn(runtimes, registry) ? runtimes[registry]! : (registry || 'package')),
      args: [identifier],
      env,
    },
  }
}
