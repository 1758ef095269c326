import type { RedactedConfig } from '../../wasm/js/shared/types.ts'
import { outsideStrings } from '../../wasm/js/shared/json.ts'
import { secretAuthFields } from '../../wasm/js/shared/wire.gen.ts'
import { isSecretName, variables, withoutSecrets } from './headers.ts'
import { parsed } from './address.ts'
import { set, type JsonObject } from './json.ts'

/**
 * The servers as the configuration of another client. No secret is in it: header
 * values become ${input:name-header} with `inputs` (VS Code), or ${NAME_HEADER}.
 */
export function writeConfig(
  servers: Record<string, RedactedConfig>,
  dialect: 'mcpServers' | 'vscode' = 'mcpServers',
): string {
  if (!['mcpServers', 'vscode'].includes(dialect))
    throw new TypeError(`unknown dialect ${JSON.stringify(dialect)}. Known are mcpServers, vscode.`)
  if (typeof servers !== 'object' || !servers)
    throw new TypeError('the servers are not an object of configurations by name')
  const vscode = dialect === 'vscode'
  const inputs: JsonObject[] = []
  const variable = variables()
  const out: Record<string, JsonObject> = {}
  for (const [name, config] of Object.entries(servers)) {
    if (typeof config?.url !== 'string')
      throw new TypeError(`the server ${JSON.stringify(name)} has no url: give an object of configurations by name`)
    if (config.url === 'builtin:page') continue // functions of this page are in no other client
    const ask = (secret: string, password: boolean) => {
      const id = vscode
        ? variable(name, secret).toLowerCase().replaceAll('_', '-').replace(/^-/, 'n')
        : variable(name, secret)
      inputs.push({
        type: 'promptString',
        id,
        description: `${secret} (${parsed(config.url)?.hostname ?? name})`,
        password,
      })
      return vscode ? '${input:' + id + '}' : '${' + id + '}'
    }
    const { url, transport, enabled, proxy, timeoutMs, tools } = config
    const o: JsonObject = {
      type: transport === 'sse' ? 'sse' : transport === 'streamable-http' && !vscode ? 'streamable-http' : 'http',
    }
    o.url = withoutSecrets(url, (parameter) => ask(parameter, true))
    const names = headerNames(config)
    if (names.length) o.headers = Object.fromEntries(names.map((header) => [header, ask(header, isSecretName(header))]))
    if (enabled === false) o.disabled = true
    if (proxy !== undefined && proxy !== false) o.proxy = proxy
    if (timeoutMs !== undefined) o.timeoutMs = timeoutMs
    if (tools?.allow) o.includeTools = tools.allow
    if (tools?.deny?.length) o.excludeTools = tools.deny
    set(out, name, o)
  }
  return JSON.stringify(vscode ? { ...(inputs.length && { inputs }), servers: out } : { mcpServers: out }, null, 2) +
    '\n'
}

/** The headers of a server, also those whose values this visit does not have. */
export const headerNames = ({ headers, missingHeaders = [] }: RedactedConfig) => [
  ...Object.keys(headers ?? {}),
  ...missingHeaders,
]

/** A call as code for `portolan`; secrets are members of an object that the reader declares. `args` is JSON text. */
export function asTypeScript(tool: { name: string; server: string }, args: string, config: RedactedConfig): string {
  const variable = variables()
  const q = (s: string) => JSON.stringify(s).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  const { headers: _, missingHeaders: __, url, auth, ...rest } = config
  const names = headerNames(config)
  let secret = false
  const ask = (name: string) => {
    secret = true
    return 'secrets.' + variable(tool.server, name)
  }
  const member = ([k, v]: [string, unknown]) => `${k}: ${secretAuthFields.includes(k) ? ask(k) : JSON.stringify(v)}`
  const address = withoutSecrets(url, (p) => '\u0000' + ask(p) + '\u0000').split('\u0000')
    .flatMap((part, i) => (i % 2 ? `encodeURIComponent(${part})` : part ? q(part) : [])).join(' + ')
  const lines = [
    `url: ${address}`,
    ...names.length ? [`headers: { ${names.map((h) => `${q(h)}: ${ask(h)}`).join(', ')} }`] : [],
    ...auth ? [`auth: { ${Object.entries(auth).map(member).join(', ')} }`] : [],
    ...Object.entries(rest).filter(([, v]) => v !== undefined).map(([k, v]) => `${k}: ${JSON.stringify(v)}`),
  ]
  // As text where an object literal would mean something else.
  const said = args.trim() || '{}'
  const literal = /__proto__|\d{16}|\\u005f/i.test(said)
    ? q(said)
    : said.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `import { createRegistry } from 'portolan'

${secret ? 'declare const secrets: Record<string, string>\n' : ''}const registry = await createRegistry({
  servers: { [${q(tool.server)}]: {
    ${lines.join(',\n    ')},
  } },
})
await registry.discover()
console.log(await registry.dispatch(${q(tool.name)}, ${literal}))
`
}

const version = '2025-06-18'

/**
 * A call as a shell script of three requests, for servers with and without
 * sessions; secrets are variables. undefined for what curl cannot reach by POST
 * alone. `tool` is the server's own name for it, `args` JSON text.
 */
export function asCurl(server: string, config: RedactedConfig, tool: string, args: string): string | undefined {
  if (config.transport === 'sse' || !/^https?:/i.test(config.url)) return undefined
  const variable = variables()
  const needed: string[] = []
  const ask = (name: string) => {
    const v = variable(server, name)
    needed.push(v)
    return v
  }
  const url = withoutSecrets(config.url, (p) => `\u0000${ask(p)}\u0000`).split('\u0000').map((
    part,
    i,
  ) => (i % 2 ? `"$${part}"` : part && quote(part))).join('')
  const headers = headerNames(config).map((h) => ` \\\n  -H ${quote(h + ': ')}"$${ask(h)}"`).join('')
  const message = (method: string, params: string, id?: number) =>
    quote(`{"jsonrpc":"2.0",${id ? `"id":${id},` : ''}"method":"${method}"${params && `,"params":${params}`}}`)
  const check = needed.map((v) => `: "\${${v}:?}"\n`).join('')
  return `#!/bin/sh
${check}mcp() { curl -sS -g --url ${url} -H 'Content-Type: application/json' \\
  -H 'Accept: application/json, text/event-stream'${headers} "$@"; }
session=$(mcp -D - -o /dev/null --data-raw ${
    message(
      'initialize',
      `{"protocolVersion":"${version}","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}`,
      1,
    )
  } |
  tr -d '\\r' | sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii]d: *//p')
set -- -H 'MCP-Protocol-Version: ${version}'
[ -z "$session" ] || set -- "$@" -H "Mcp-Session-Id: $session"
mcp "$@" -o /dev/null --data-raw ${message('notifications/initialized', '')}
mcp "$@" --data-raw ${message('tools/call', `{"name":${JSON.stringify(tool)},"arguments":${compact(args)}}`, 2)}
`
}

/** One word of sh. */
export const quote = (s: string) => `'${s.replaceAll('\u0000', '').replaceAll("'", "'\\''")}'`

/** Without line breaks between its parts, and with all its digits. */
const compact = (json: string) => outsideStrings(json, /\s+/g, () => '') || '{}'
