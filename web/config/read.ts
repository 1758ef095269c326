import { parse as parseTOML, TomlError } from 'smol-toml'
import { fieldFault } from '../../wasm/js/shared/fields.ts'
import { isCommand, readCommands } from './command.ts'
import { finish } from './finish.ts'
import { parseJSON } from './json.ts'
import { readLink } from './link.ts'
import { readDocument, type Found } from './documents.ts'
import { maxEntries, maxText } from './draft.ts'
import type { Problem, Reading } from './types.ts'
import { withScheme } from './address.ts'

/**
 * Finds out what a text is and which servers it describes. No text makes it throw. With
 * `page`, the URL of the page, it warns about servers that the page cannot reach. Problems:
 * too_large, too_many (the first 500 are read), json_…, yaml, toml, no_servers,
 * bad_link, open_quote, no_url, not_recognized.
 */
export function readConfig(text: string, options: { page?: string } = {}): Reading {
  if (typeof text !== 'string') throw new TypeError('readConfig reads a text: give JSON.stringify(value)')
  const fault = fieldFault('readConfig', options, 'page')
  if (fault) throw new TypeError(`${fault.message}. ${fault.hint}`)
  if (text.length > maxText) return { kind: 'unknown', entries: [], problem: { code: 'too_large', limit: maxText } }
  const whole = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
  const s = unwrap(whole)
  if (!s) return { kind: 'empty', entries: [] }
  const found = readAny(s, whole)
  if ('entries' in found) return found
  const taken = new Set<string>()
  const entries = found.drafts.slice(0, maxEntries).map((d) => finish(d, found.declared, taken, options.page))
  const reading: Reading = { kind: found.kind, entries }
  if (found.drafts.length > maxEntries) reading.problem = { code: 'too_many', limit: maxEntries }
  return reading
}

const nothing = (code: Problem['code'], kind: Reading['kind'] = 'unknown'): Reading => ({
  kind,
  entries: [],
  problem: { code },
})

function readAny(s: string, whole: string): Found | Reading {
  if (!/^[{"/]/.test(s) && /^\[\[?[A-Za-z_][^\]\n]{0,200}\]\]?[ \t]*(?:#.*)?$/m.test(s)) return readTOML(s, whole)
  if (/^[{["]/.test(s) || s.startsWith('//') && /[{[]/.test(s) || s.startsWith('/*')) return readJSON(s, whole)
  const link = readLink(s)
  if (link !== undefined) return link ?? nothing('bad_link', 'install-link')
  if (isCommand(s)) {
    const found = readCommands(s)
    const isCurl = /\bcurl\b/.test(s.slice(0, 50))
    return found ??
      nothing(found === null ? 'open_quote' : isCurl ? 'no_url' : 'no_servers', isCurl ? 'curl' : 'claude-command')
  }
  return readURLs(s) ?? nothing(/^[ \t-]*[\w"'-]{1,50}:(?:\s|$)/m.test(s) ? 'yaml' : 'not_recognized')
}

function readJSON(s: string, whole: string): Found | Reading {
  const parsed = parseJSON(s)
  const fragment = parsed.problem && s.startsWith('"') ? parseJSON('{' + s + '}') : parsed
  if (!fragment.problem) return readDocument(fragment.value) ?? nothing('no_servers', 'mcp-json')
  return { kind: 'mcp-json', entries: [], problem: placed(parsed.problem!, s, whole) }
}

/** Codex's config.toml. */
function readTOML(s: string, whole: string): Found | Reading {
  let document: unknown
  try {
    document = parseTOML(s, { maxDepth: 64 })
  } catch (e) {
    if (!(e instanceof TomlError)) throw e
    return { kind: 'toml', entries: [], problem: placed({ code: 'toml', line: e.line, column: e.column }, s, whole) }
  }
  const found = readDocument(document)
  return found ? { ...found, kind: 'toml' } : nothing('no_servers', 'toml')
}

/** Moves the place of a fault in s to its place in the pasted text. */
function placed({ line = 1, column = 1, ...problem }: Problem, s: string, whole: string): Problem {
  const before = whole.slice(0, whole.indexOf(s)).split('\n')
  if (line === 1) column += before.at(-1)!.length
  return { ...problem, line: line + before.length - 1, column }
}

/** One URL a line. */
function readURLs(s: string): Found | undefined {
  const drafts: Found['drafts'] = []
  for (const line of s.split('\n')) {
    const typed = line.trim().replace(/^[-*•]\s+/, '').replace(/^<(.*)>$/, '$1').replace(/[,;]$/, '').trim()
    if (!typed || typed.startsWith('#')) continue
    const url = withScheme(typed)
    if (!url) return undefined
    drafts.push({ url, headers: [], lints: [] })
  }
  return drafts.length ? { kind: 'url', drafts, declared: new Map() } : undefined
}

/** Without the fence of a Markdown block, and the quotes around a URL. */
function unwrap(text: string): string {
  const s = text.trim()
  const fence = /^(?:```|~~~)[^\n]{0,50}\n/.exec(s)
  if (fence) return s.slice(fence[0].length).replace(/\n(?:```|~~~)\s*$/, '').trim()
  return /^(["'`])[^\s"'`]{1,5000}\1$/.test(s) ? s.slice(1, -1) : s
}
