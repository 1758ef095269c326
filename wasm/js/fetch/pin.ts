// The pin of a tool. registry/pin/pin.go defines it. The rows of testdata/pins hold both to one output.

import { isObject, type JsonObject } from '../shared/json.ts'
import { sha256 } from './sha256.ts'

/** The members that a pin covers, in the order of its parts. */
const fields = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']

/** The characters of a part's digest in a pin. */
const short = 12

const isUI = (key: string) =>
  key === 'ui' || key.startsWith('ui/') || key.startsWith('openai/') || key.startsWith('io.modelcontextprotocol/ui')

/** The digest, then the start of each part's digest, each after a dot. */
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

const ordinary = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
const lone = /\p{Surrogate}/u

const quoted = (
  s: string,
) => (ordinary.test(s) ? `"${s}"` : JSON.stringify(lone.test(s) ? s.replace(/\p{Surrogate}/gu, '\ufffd') : s))

/** Canonical JSON (RFC 8785). A number beyond the doubles becomes ±1e999. */
export function canonical(v: unknown): string {
  if (typeof v === 'string') return quoted(v)
  if (v === Infinity) return '1e999'
  if (v === -Infinity) return '-1e999'
  if (typeof v !== 'object' || v === null) return String(v)
  let out = ''
  if (Array.isArray(v)) {
    for (let i = 0; i < v.length; i++) out += (i ? ',' : '') + canonical(v[i])
    return `[${out}]`
  }
  const keys = Object.keys(v)
  for (let i = 1; i < keys.length; i++) {
    if (keys[i]! < keys[i - 1]!) {
      keys.sort()
      break
    }
  }
  for (let i = 0; i < keys.length; i++)
    out += (i ? ',' : '') + quoted(keys[i]!) + ':' + canonical((v as JsonObject)[keys[i]!])
  return `{${out}}`
}
