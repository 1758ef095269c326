import { isServer, readServer } from './server.ts'
import { get, isObject, strings, text, type Obj } from './value.ts'
import { inputId } from './placeholders.ts'
import { isServerJson, readServerJson } from './server-json.ts'
import type { Declared, Draft, Input, Reading } from './types.ts'

export interface Found {
  kind: Reading['kind']
  drafts: Draft[]
  declared: Declared
}

// VS Code's is `servers`; opencode's `mcp` holds the servers themselves.
const containers = [
  'mcpServers',
  'amp.mcpServers',
  'servers',
  'context_servers',
  'mcp_servers',
  'mcp',
  'extensions',
  'remoteServers',
]

/** The servers of a parsed document of any dialect; undefined: it holds none. */
export function readDocument(v: unknown, name?: string, depth = 0): Found | undefined {
  if (Array.isArray(v)) return readList(v, 'mcp-json')
  if (!isObject(v) || depth > 3) return undefined
  if (isServerJson(v)) return { kind: 'server-json', ...readServerJson(v) }
  for (const key of containers) {
    const inner = get(v, key)
    if (inner === undefined || (isServer(v) && !isObject(inner) && !Array.isArray(inner))) continue
    const found = Array.isArray(inner)
      ? readList(inner, key === 'mcpServers' ? 'continue' : 'mcp-json')
      : readMap(inner) ?? readDocument(inner, undefined, depth + 1)
    if (!found) continue
    if (found.kind === 'mcp-json' && (key === 'servers' || Array.isArray(get(v, 'inputs')))) found.kind = 'vscode'
    for (const [id, input] of declaredIn(get(v, 'inputs'))) found.declared.set(id, input)
    return found
  }
  if (isServer(v)) return { kind: 'mcp-json', drafts: [readServer(v, name)], declared: declaredIn(get(v, 'inputs')) }
  return readMap(v)
}

/** Servers by name. One of them has to look like a server. */
function readMap(v: unknown): Found | undefined {
  if (!isObject(v)) return undefined
  const all = Object.entries(v)
  const servers = all.filter((e): e is [string, Obj] => isObject(e[1]))
  if (all.length && !servers.some(([, s]) => isServer(s))) return undefined
  return { kind: 'mcp-json', drafts: servers.map(([key, s]) => readServer(s, key)), declared: new Map() }
}

/** Continue's array, the catalogue's, or servers that say their own names. */
function readList(list: unknown[], kind: Reading['kind']): Found | undefined {
  const found: Found = { kind, drafts: [], declared: new Map() }
  for (const v of list) {
    if (isServerJson(v)) {
      const one = readServerJson(v)
      found.kind = 'server-json'
      found.drafts.push(...one.drafts)
      for (const [id, input] of one.declared) found.declared.set(id, input)
    } else if (isServer(v)) found.drafts.push(readServer(v))
  }
  return found.drafts.length || !list.length ? found : undefined
}

/** VS Code's `inputs`. */
export function declaredIn(v: unknown): Declared {
  const declared: Declared = new Map()
  for (const o of Array.isArray(v) ? v.slice(0, 200) : []) {
    const id = text(o, 'id')
    if (!id) continue
    const input: Partial<Input> = { password: get(o, 'password') === true }
    const description = text(o, 'description')
    const fallback = text(o, 'default')
    const options = get(o, 'options')
    const choices = Array.isArray(options)
      ? options.map((e) => (typeof e === 'string' ? e : text(e, 'value', 'label')))
      : []
    if (description) input.description = description.slice(0, 2000)
    if (fallback !== undefined) input.default = fallback
    if (choices.length) input.choices = strings(choices).slice(0, 200)
    declared.set(inputId(id), input)
  }
  return declared
}
