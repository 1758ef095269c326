// A tool's pin: registry/pin/pin.go says what it is, and testdata/pins holds the
// two to each other.

import { isObject, type JsonObject } from './plane-json.ts'
import { sha256 } from './sha256.ts'

/** What a pin covers, in the order of its parts. */
const fields = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']

/** How many characters of a part's digest a pin has. */
const short = 12

const isUI = (key: string) => key === 'ui' || key.startsWith('ui/') || key.startsWith('openai/') || key.startsWith('io.modelcontextprotocol/ui')

/** The digest, and the start of the digest of each part, with a dot before each. */
export function pinOf(tool: JsonObject): string {
  let parts = '', all = ''
  const add = (v: unknown) => {
    const digest = v === undefined ? '' : sha256(canonical(v))
    all += digest + '\n'
    parts += '.' + digest.slice(0, short)
  }
  for (const field of fields) add(tool[field])
  const meta = isObject(tool['_meta']) ? Object.entries(tool['_meta']).filter(([key]) => isUI(key)) : []
  add(meta.length ? Object.fromEntries(meta) : undefined)
  return sha256(all) + parts
}

/** JSON as RFC 8785 writes it; a number beyond the doubles is ±1e999. */
export function canonical(v: unknown): string {
  if (typeof v === 'string') return JSON.stringify(/\p{Surrogate}/u.test(v) ? v.replace(/\p{Surrogate}/gu, '\ufffd') : v)
  if (typeof v === 'number') return Number.isFinite(v) ? String(v) : v > 0 ? '1e999' : '-1e999'
  if (typeof v !== 'object' || v === null) return String(v)
  if (Array.isArray(v)) {
    let out = '['
    for (let i = 0; i < v.length; i++) out += (i ? ',' : '') + canonical(v[i])
    return out + ']'
  }
  let out = '{'
  for (const key of Object.keys(v).sort()) out += (out.length > 1 ? ',' : '') + canonical(key) + ':' + canonical((v as JsonObject)[key])
  return out + '}'
}
