import { get, isObject, pairs, strings, text, type JsonObject } from './json.ts'
import type { Draft } from './draft.ts'
import { splitHeader } from './headers.ts'
import { substitute } from './placeholders.ts'
import { commands } from './shell-words.ts'

// Where the clients differ for no reason, all their words are taken.
const words = (s: string) => s.split(' ')
// Gemini CLI takes its `httpUrl` before its `url`.
const urlKeys = words('httpUrl url serverUrl uri server_url sseUrl endpoint')
const nameKeys = words('name server_label id')
const allowKeys = words('includeTools enabledTools allowedTools allowed_tools enabled_tools')
const denyKeys = words('excludeTools disabledTools disabled_tools')
/** Members that say nothing to a registry. */
const remarks = words('title description note comment $comment $schema icon version source gallery')
/** The members of a server that are read. */
export const read = [
  ...urlKeys,
  ...nameKeys,
  ...allowKeys,
  ...denyKeys,
  ...words(
    'type transport transportType headers http_headers env_http_headers ' +
      'requestOptions requestInit bearer_token_env_var authorization_token authorization enabled disabled isActive ' +
      'proxy timeoutMs tools command cmd args env envs',
  ),
]
const known = new Set([...read, ...remarks])

/**
 * The transport of `type` and `transport`; undefined: the word is unknown. `http` is VS Code's, which falls back to
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
export const isServer = (v: unknown): v is JsonObject =>
  isObject(v) &&
  (text(v, ...urlKeys, 'command', 'cmd') !== undefined || isObject(get(v, 'command')) ||
    isObject(get(v, 'transport')) ||
    Array.isArray(get(v, 'command')))

/** One server of any client that writes an object for it. */
export function readServer(o: JsonObject, name?: string): Draft {
  const inner = get(o, 'transport')
  if (isObject(inner)) return readServer({ ...inner, ...o, transport: get(inner, 'type') }, name)
  const draft: Draft = { headers: headersOf(o), lints: [] }
  draft.name = name ?? text(o, ...nameKeys)
  draft.url = text(o, ...urlKeys)

  const word = text(o, 'type', 'transport', 'transportType')
  const transport = transportOf(word)
  if (text(o, 'httpUrl')) draft.transport = 'streamable-http'
  else if (transport === 'sse' || transport === 'streamable-http') draft.transport = transport
  else if (draft.url && word && !transport)
    draft.lints.push({ code: 'unknown_transport', level: 'warning', values: { transport: word.slice(0, 50) } })

  if (get(o, 'enabled') === false || get(o, 'isActive') === false || get(o, 'disabled') === true) draft.enabled = false
  const proxy = get(o, 'proxy')
  if (typeof proxy === 'boolean' || proxy === 'auto') draft.proxy = proxy
  const timeoutMs = get(o, 'timeoutMs')
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= 864e5) draft.timeoutMs = timeoutMs
  const tools = toolsOf(o)
  if (tools) draft.tools = tools

  // Remarks have the names of fields, never their values.
  const ignored = Object.keys(o).filter((key) => !known.has(key)).slice(0, 20)
  if (draft.url) {
    for (const field of ignored)
      draft.lints.push({ code: 'ignored_field', level: 'info', values: { field: field.slice(0, 100) } })
  }
  return draft.url ? draft : withStdio(draft, o)
}

function withStdio(draft: Draft, o: JsonObject): Draft {
  const command = get(o, 'command') ?? get(o, 'cmd')
  const line = Array.isArray(command) ? strings(command) : [text(o, 'command', 'cmd') ?? text(command, 'path') ?? '']
  const args = [...line.slice(1), ...strings(get(o, 'args') ?? get(command, 'args'))]
  const env = Object.fromEntries(pairs(get(o, 'env') ?? get(o, 'envs') ?? get(o, 'environment') ?? get(command, 'env')))
  if (!line[0]) return draft
  return wrapped({ command: line[0], args, env }, draft) ?? { ...draft, stdio: { command: line[0], args, env } }
}

function headersOf(o: JsonObject): Draft['headers'] {
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

function toolsOf(o: JsonObject): Draft['tools'] {
  const own = get(o, 'tools')
  // OpenAI has a list, or an object with `tool_names`.
  const first = (keys: string[]) => keys.map((k) => get(get(o, k), 'tool_names') ?? get(o, k)).find(Array.isArray)
  const allow = first(allowKeys) ?? get(own, 'allow') ?? (Array.isArray(own) ? own : undefined)
  const deny = first(denyKeys) ?? get(own, 'deny')
  const tools: NonNullable<Draft['tools']> = {}
  if (Array.isArray(allow) && !allow.includes('*')) tools.allow = strings(allow).slice(0, maxTools)
  if (Array.isArray(deny) && deny.length) tools.deny = strings(deny).slice(0, maxTools)
  return tools.allow || tools.deny ? tools : undefined
}

/** Whether a word is the URL of a server, or a variable in place of one. */
export const isAddress = (word: string): boolean => /^(?:https?:\/\/|\$\{)/i.test(word)

const wrappers = /^(?:mcp-remote|supergateway|mcp-proxy)$/
const urlFlags = /^--(?:sse|streamableHttp|url)$/
const headerFlags = /^(?:--headers?|-H)$/
/** Flags that take no word; of others the next one is skipped. */
const alone = /^(?:--(?:allow-http|debug|silent|enable-proxy|stateless|yes|no-verify-ssl)|-y)$/

/**
 * A local process that does nothing but forward to a remote server is that
 * server: `npx mcp-remote URL --header 'K: V'`, supergateway, mcp-proxy.
 */
export function wrapped(stdio: NonNullable<Draft['stdio']>, draft: Draft): Draft | undefined {
  const all = [stdio.command, ...stdio.args].flatMap((
    a,
  ) => (/^(?:npx(?:\.cmd)? |uvx )/.test(a) ? commands(a)?.[0] ?? [a] : [a]))
  const at = all.findIndex((a) => wrappers.test(packageName(a)))
  if (at < 0) return undefined
  const wrapper = packageName(all[at]!)
  const args = all.slice(at + 1)
  const headers = [...draft.headers]
  let url: string | undefined
  let transport = draft.transport
  for (let i = 0; i < args.length; i++) {
    const [, flag = args[i]!, joined] = /^(--[^=]*)=(.*)/s.exec(args[i]!) ?? []
    const next = () => joined ?? args[++i] ?? ''
    if (headerFlags.test(flag)) {
      const said = next()
      // mcp-proxy takes name and value as two words.
      const h = wrapper === 'mcp-proxy' && !/[:=]/.test(said)
        ? [said, args[++i] ?? ''] as [string, string]
        : splitHeader(said)
      if (h) headers.push(h)
    } else if (flag === '--oauth2Bearer') headers.push(['Authorization', 'Bearer ' + next()])
    else if (flag === '--transport') transport = /^sse/.test(next()) ? 'sse' : 'streamable-http'
    else if (urlFlags.test(flag)) {
      url ??= next()
      if (flag === '--sse') transport = 'sse'
      if (flag === '--streamableHttp') transport = 'streamable-http'
    } else if (isAddress(flag)) url ??= flag
    else if (
      flag.startsWith('-') && joined === undefined && !alone.test(flag) && !/^(?:-|https?:)/.test(args[i + 1] ?? '-')
    ) i++
  }
  if (!url) return undefined
  const known = (s: string) => substitute(s, stdio.env)
  return {
    ...draft,
    url: known(url),
    ...(transport && { transport }),
    headers: headers.map(([k, v]): [string, string] => [k, known(v)]),
    lints: [...draft.lints, { code: 'wrapped_remote', level: 'info', values: { wrapper } }],
  }
}

const packageName = (arg: string) => arg.replace(/^.*[\\/](?=[^\\/]*$)/, '').replace(/(?<=.)@.*$/s, '')
