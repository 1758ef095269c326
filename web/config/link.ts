import { declaredIn, readDocument, type Found } from './documents.ts'
import { decoded, isObject, parseJSON, text } from './json.ts'

/** The servers of an install link; null: it is one, and broken; undefined: it is none. */
export function readLink(link: string, depth = 0): Found | null | undefined {
  const s = link.trim()
  const code = /^(?:vscode|vscode-insiders):\/?\/?mcp\/install\?/i.exec(s)
  if (code) return document(decoded(s.slice(code[0].length)))
  if (!/^[a-z][a-z0-9+.-]{1,30}:\/\/\S+$/i.test(s) || !URL.canParse(s)) return undefined
  const u = new URL(s)
  const nested = u.searchParams.get('url')
  if (/\/redirect$/.test(u.pathname) && nested && depth < 2) return readLink(nested, depth + 1)
  if (u.protocol === 'goose:') return goose(u.searchParams)
  const config = u.searchParams.get('config')
  const installs = !/^https?:$/.test(u.protocol) || /mcp/.test(u.pathname) && /install|add/.test(u.pathname)
  if (!config || !installs) return undefined
  const found = document(/^\s*[{[]/.test(config) ? config : fromBase64(config), u.searchParams.get('name') ?? undefined)
  const inputs = u.searchParams.get('inputs')
  const declared = inputs ? parseJSON(inputs) : undefined
  if (found && declared && !declared.problem) declaredIn(declared.value, found.declared)
  return found
}

function document(json: string | undefined, name?: string): Found | null {
  const parsed = json === undefined ? undefined : parseJSON(json)
  if (!parsed || parsed.problem || !isObject(parsed.value)) return null
  const found = readDocument(parsed.value, name ?? text(parsed.value, 'name'))
  return found ? { ...found, kind: 'install-link' } : null
}

/** goose://extension?type=streamable_http&url=…&header=K%3DV, or cmd=…&arg=…&env=K%3DV */
function goose(q: URLSearchParams): Found | null {
  const two = (s: string) => [s.slice(0, Math.max(0, s.indexOf('='))), s.slice(s.indexOf('=') + 1)]
  const all = { args: q.getAll('arg').slice(0, 100), env: Object.fromEntries(q.getAll('env').slice(0, 100).map(two)) }
  const headers = q.getAll('header').slice(0, 100).map(two).map(([name, value]) => ({ name, value }))
  const o: Record<string, unknown> = {
    name: q.get('name') ?? q.get('id'),
    url: q.get('url'),
    type: q.get('type') ?? undefined,
    headers,
    command: q.get('cmd'),
    ...all,
  }
  for (const key of Object.keys(o)) if (o[key] === null) delete o[key]
  const found = readDocument(o)
  return found ? { ...found, kind: 'install-link' } : null
}

/** Decodes either alphabet; a + may have become a space. */
function fromBase64(s: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(s.replace(/[ -]/g, '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
