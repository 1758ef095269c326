import type { ServerConfig } from '../../wasm/js/shared/types.ts'
import { isSecretName, withoutSecrets } from './headers.ts'
import { isLoopback, isPrivate, parsed } from './address.ts'
import type { Lint } from './types.ts'
import { decoded } from './json.ts'
import { replace } from './placeholders.ts'

/** A placeholder that somebody forgot to replace: YOUR_API_KEY, <token>, [your key], xxxx, changeme, … */
const left = new RegExp(
  /\b(?:your|my|insert|replace|enter|paste)[-_ ](?:[a-z0-9]{1,20}[-_ ]){0,4}/.source +
    /(?:key|token|secret|pat|password|here|id|value|jwt)\b|<[^<>]{1,80}>|^\S{0,10}\s?\[[^[\]]{1,80}\]$|/.source +
    /\bx{4,}\b|\bchange[-_ ]?me\b|\.{3}$|…$|^(?:bearer\s)?(?:api[-_]?key|token|secret|password)$/.source,
  'i',
)

const docsHost =
  /^(?:github\.com|gitlab\.com|(?:www\.)?npmjs\.com|pypi\.org|smithery\.ai|glama\.ai|mcp\.so|modelcontextprotocol\.io)$/
const docsFolder = /(?:^|\/)(?:docs?|documentation|readme(?:\.md)?|guides?|blog|wiki|swagger|redoc|reference)(?:\/|$)/i
const docsFile = /\.(?:html?|md|pdf)$/i

/** The most parameters of a URL that are looked over. */
const maxParameters = 100

/**
 * Looks over a configuration whose inputs may still be open. `page` is where the
 * panel runs. With it, there are remarks about servers that the page cannot reach.
 */
export function lint(config: ServerConfig, page?: string): Lint[] {
  const lints: Lint[] = []
  const say = (code: Lint['code'], level: Lint['level'], values?: Record<string, string>) =>
    lints.push(values ? { code, level, values } : { code, level })
  for (const [header, value] of Object.entries(config.headers ?? {})) headerLints(header, value, say)

  if (config.url.startsWith('builtin:')) return lints
  const u = parsed(config.url)
  if (!u || !/^https?:$/.test(u.protocol)) {
    say(u && /^wss?:$/.test(u.protocol) ? 'websocket' : 'bad_url', 'error')
    return lints
  }
  const host = u.hostname
  const here = isLoopback(host)
  const near = isPrivate(host)
  const origin = page && parsed(page)
  if (u.protocol === 'http:' && !here && !near) say('http_public_host', 'warning', { host })
  if (here && origin && !isLoopback(origin.hostname))
    say('localhost_from_public', 'info', { host, page: origin.hostname })
  if (near) say('private_address', 'info', { host })
  if (u.username || u.password) say('secret_in_url', 'error', { where: 'userinfo' })
  for (const [name, value] of [...u.searchParams].slice(0, maxParameters)) {
    if (isSecretName(name) && value && value !== '1') say('secret_in_url', 'warning', { where: name.slice(0, 100) })
    if (left.test(value)) say('placeholder_left', 'warning', { where: name.slice(0, 100) })
  }
  if (left.test((decoded(u.pathname) ?? u.pathname).slice(0, 2000)))
    say('placeholder_left', 'warning', { where: 'url' })

  if (
    (here && /^627[47]$/.test(u.port)) || u.searchParams.has('MCP_PROXY_AUTH_TOKEN') ||
    (u.searchParams.has('transportType') && u.searchParams.has('url'))
  ) {
    const target = u.searchParams.get('serverUrl') ?? u.searchParams.get('url')
    say('inspector_proxy_url', 'warning', target ? { url: withoutSecrets(target.slice(0, 500), () => '…') } : undefined)
  }
  const last = u.pathname.toLowerCase().split('/').findLast(Boolean)
  if (
    docsHost.test(host) ||
    (last !== 'mcp' && last !== 'sse' && (docsFolder.test(u.pathname) || docsFile.test(u.pathname)))
  )
    say('path_is_docs', 'warning')
  else if (!last || last === 'index')
    say('path_looks_like_homepage', host.startsWith('mcp.') || here ? 'info' : 'warning')
  const wrong = config.transport === 'streamable-http' ? 'sse' : config.transport === 'sse' ? 'mcp' : undefined
  if (wrong && last === wrong) say('transport_mismatch', 'warning', { transport: config.transport!, path: '/' + wrong })
  return lints
}

function headerLints(
  header: string,
  value: string,
  say: (code: Lint['code'], level: Lint['level'], values: Record<string, string>) => void,
): void {
  const values = { header }
  const authorization = /^authorization$/i.test(header)
  if (authorization && /^bearer$/i.test(value.trim())) say('empty_bearer', 'error', values)
  else if (!value.trim()) say('empty_header', 'warning', values)
  else if (authorization && !/\s/.test(value) && !value.startsWith('${'))
    say('bearer_missing_scheme', 'warning', values)
  const literal = replace(value, () => '').slice(0, 2000)
  if (left.test(literal)) say('placeholder_left', 'warning', { where: header })
  if (/[^\t\x20-\x7e]/.test(value)) say('invalid_header_value', 'error', values)
}
