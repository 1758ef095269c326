import { get, isObject, pairs, strings, text, type Obj } from './value.ts'
import { wrapped } from './wrapper.ts'
import type { Draft } from './types.ts'

// Where the clients differ for no reason, all their words are taken.
const words = (s: string) => s.split(' ')
const urlKeys = words('url serverUrl httpUrl uri server_url sseUrl endpoint')
const nameKeys = words('name server_label id')
const allowKeys = words('includeTools enabledTools allowedTools allowed_tools enabled_tools')
const denyKeys = words('excludeTools disabledTools disabled_tools')
const known = new Set([
  ...urlKeys,
  ...nameKeys,
  ...allowKeys,
  ...denyKeys,
  ...words(
    'type transport transportType headers http_headers env_http_headers ' +
      'requestOptions requestInit bearer_token_env_var authorization_token authorization enabled disabled isActive proxy timeoutMs tools command cmd args env envs ' +
      'title description note comment $comment $schema icon version source gallery',
  ),
])

/**
 * What `type` and `transport` are called; undefined: the word is unknown. `http` is VS Code's, which falls back to
 * SSE: auto.
 */
export function transportOf(word: unknown): 'streamable-http' | 'sse' | 'auto' | 'stdio' | 'websocket' | undefined {
  const w = typeof word === 'string' ? word.toLowerCase().replace(/[^a-z]/g, '') : ''
  if (/^streamable(?:http)?$|^httponly$/.test(w)) return 'streamable-http'
  if (/^sse(?:only)?$/.test(w)) return 'sse'
  if (/^(?:https?|remote|url|mcp|auto|httpfirst|ssefirst|custom)$/.test(w)) return 'auto'
  if (/^(?:stdio|local|command|docker)$/.test(w)) return 'stdio'
  return /^ws|^websocket/.test(w) ? 'websocket' : undefined
}

/** Whether the object looks like the description of one server. */
export const isServer = (v: unknown): v is Obj =>
  isObject(v) &&
  (text(v, ...urlKeys, 'command', 'cmd') !== undefined || isObject(get(v, 'command')) ||
    isObject(get(v, 'transport')) ||
    Array.isArray(get(v, 'command')))

/** One server of any client that writes an object for it. */
export function readServer(o: Obj, name?: string): Draft {
  const inner = get(o, 'transport')
  if (isObject(inner)) return { ...readServer({ ...inner, ...o, transport: get(inner, 'type') }, name) }
  const draft: Draft = { headers: headersOf(o), lints: [] }
  draft.name = name ?? text(o, ...nameKeys)
  draft.url = text(o, ...urlKeys)

  const word = get(o, 'type') ?? inner ?? get(o, 'transportType')
  const transport = transportOf(word)
  if (text(o, 'httpUrl')) draft.transport = 'streamable-http'
  else if (transport === 'sse' || transport === 'streamable-http') draft.transport = transport
  else if (draft.url && word !== undefined && transport === undefined) {
    draft.lints.push({ code: 'unknown_transport', level: 'warning', values: { transport: String(word).slice(0, 50) } })
  }

  if (get(o, 'enabled') === false || get(o, 'isActive') === false || get(o, 'disabled') === true) draft.enabled = false
  const proxy = get(o, 'proxy')
  if (typeof proxy === 'boolean' || proxy === 'auto') draft.proxy = proxy
  const timeoutMs = get(o, 'timeoutMs')
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs < 1e9) draft.timeoutMs = timeoutMs
  const tools = toolsOf(o)
  if (tools) draft.tools = tools

  // The names are told, never the values.
  const ignored = Object.keys(o).filter((key) => !known.has(key)).slice(0, 20)
  if (draft.url) {
    for (const field of ignored)
      draft.lints.push({ code: 'ignored_field', level: 'info', values: { field: field.slice(0, 100) } })
  }
  return draft.url ? draft : withStdio(draft, o)
}

function withStdio(draft: Draft, o: Obj): Draft {
  const command = get(o, 'command') ?? get(o, 'cmd')
  const line = Array.isArray(command) ? strings(command) : [text(o, 'command', 'cmd') ?? text(command, 'path') ?? '']
  const args = [...line.slice(1), ...strings(get(o, 'args') ?? get(command, 'args'))]
  const env = Object.fromEntries(pairs(get(o, 'env') ?? get(o, 'envs') ?? get(o, 'environment') ?? get(command, 'env')))
  if (!line[0]) return draft
  return wrapped({ command: line[0], args, env }, draft) ?? { ...draft, stdio: { command: line[0], args, env } }
}

function headersOf(o: Obj): Draft['headers'] {
  const list: Draft['headers'] = []
  for (
    const h of [
      get(o, 'headers'),
      get(get(o, 'requestOptions'), 'headers'),
      get(get(o, 'requestInit'), 'headers'),
      get(o, 'http_headers'),
    ]
  ) {
    list.push(...pairs(h))
    if (Array.isArray(h)) {
      for (const e of h) {
        const name = text(e, 'name', 'key')
        if (name) list.push([name, text(e, 'value') ?? ''])
      }
    }
  }
  for (const [name, variable] of pairs(get(o, 'env_http_headers'))) list.push([name, '${env:' + variable + '}'])
  const token = text(o, 'authorization_token', 'authorization')
  const variable = text(o, 'bearer_token_env_var')
  if (token) list.push(['Authorization', /\s/.test(token) ? token : 'Bearer ' + token])
  if (variable) list.push(['Authorization', 'Bearer ${env:' + variable + '}'])
  return list
}

const maxTools = 1000

function toolsOf(o: Obj): Draft['tools'] {
  const own = get(o, 'tools')
  const first = (keys: string[]) => keys.map((k) => get(o, k)).find(Array.isArray)
  const allow = first(allowKeys) ?? get(own, 'allow') ?? (Array.isArray(own) ? own : undefined)
  const deny = first(denyKeys) ?? get(own, 'deny')
  const tools: NonNullable<Draft['tools']> = {}
  if (Array.isArray(allow) && !allow.includes('*')) tools.allow = strings(allow).slice(0, maxTools)
  if (Array.isArray(deny) && deny.length) tools.deny = strings(deny).slice(0, maxTools)
  return tools.allow || tools.deny ? tools : undefined
}
