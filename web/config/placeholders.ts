import type { ServerConfig } from '../../wasm/js/shared/types.ts'
import { get } from './json.ts'
import type { Entry, Input } from './types.ts'

// Every client has its own way to say "ask for this" in a value. Here they all
// become ${input:id}.

export interface Placeholder {
  id: string
  origin: 'input' | 'env'
  default?: string
}

// ${input:x} ${env:x} ${x} ${x:-d} ${{ secrets.x }} {{x}} {env:x} {file:x}, and $X at the end; bounded, so that no
// text makes it slow.
const any = new RegExp(
  [
    /\$\{\{([^{}]{1,100})\}\}/,
    /\{\{([^{}]{1,100})\}\}/,
    /\$\{([^{}]{1,200})\}/,
    /\{(?:env|file):([^{}]{1,100})\}/,
    /(?<=^|\s)\$([A-Z][A-Z0-9_]{2,99})$/,
  ].map((form) => form.source).join('|'),
  'g',
)
const canonical = /\$\{input:([^}]{1,200})\}/g

/** An id that can stand between ${input: and }. */
export const inputId = (s: string) => s.replace(/[{}\s\u0000-\u001f]+/g, ' ').trim().slice(0, 100) || 'value'

/** Rewrites the placeholders of a value. */
export function canonicalize(value: string, found: (p: Placeholder) => void): string {
  return value.replace(any, (_, ...groups: (string | undefined)[]) => {
    const said = groups.slice(0, 5).find((g) => g !== undefined)!.trim()
    const [, prefix = '', name = ''] = /^(?:(input|env|secrets|inputs|vars)[:.])?(.*)$/s.exec(said)!
    const [plain, fallback] = prefix === 'input' ? [name] : split(name)
    const id = inputId(plain!)
    found({ id, origin: prefix === 'input' ? 'input' : 'env', ...(fallback && { default: fallback }) })
    return '${input:' + id + '}'
  })
}

function split(name: string): [string, string?] {
  const at = name.indexOf(':-')
  return at < 0 ? [name] : [name.slice(0, at), name.slice(at + 2)]
}

/** Puts in the variables whose value is known. */
export const substitute = (value: string, env: Record<string, string>): string =>
  value.replace(
    /\$\{(?:env:)?([^{}]{1,200})\}/g,
    (whole, name: string) => (Object.hasOwn(env, name) ? env[name]! : whole),
  )

/** The ids in a value that `canonicalize` has written. */
export const idsOf = (value: string): string[] => [...value.matchAll(canonical)].map((m) => m[1]!)

/** Replaces the ids by values. `at` is where the id begins. */
export function replace(value: string, valueOf: (id: string, at: number) => string): string {
  return value.replace(canonical, (_, id: string, at: number) => valueOf(id, at))
}

const given = (entry: Entry, values: Record<string, string>, id: string): string => {
  const v = get(values, id)
  return (typeof v === 'string' && v.trim()) || entry.inputs.find((i) => i.id === id)?.default || ''
}

/** The required inputs that have neither a value nor a default. */
export const missing = (entry: Entry, values: Record<string, string>): Input[] =>
  entry.inputs.filter((i) => i.required && !given(entry, values, i.id))

/**
 * The configuration with the values in it. A header of which an input is empty is
 * left out. In the url a value is encoded, unless the url begins with it.
 */
export function fill(entry: Entry, values: Record<string, string> = {}): ServerConfig {
  const found = (entry as Entry | undefined)?.config
  if (!found) throw new TypeError('the entry has no configuration: give one of readConfig(text).entries')
  const config = structuredClone(found)
  config.url = replace(config.url, (id, at) => {
    const v = given(entry, values, id)
    return at === 0 ? v.replace(/(?<!\/)\/+$/, '') : encodeURIComponent(v.toWellFormed())
  })
  const known = new Set(entry.inputs.map((i) => i.id))
  const headers = Object.entries(config.headers ?? {})
    .filter(([, v]) => idsOf(v).every((id) => !known.has(id) || given(entry, values, id)))
    .map((
      [k, v],
    ): [string, string] => [
      k,
      replace(v, (id) => (known.has(id) ? given(entry, values, id) : '${input:' + id + '}')).trim(),
    ])
  delete config.headers
  if (headers.length) config.headers = Object.fromEntries(headers)
  return config
}
