import type { ServerConfig } from '../../../wasm/js/shared/types.ts'
import { get } from './value.ts'
import { idsOf, replace } from './placeholders.ts'
import type { Entry, Input } from './types.ts'

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
  if (!entry.config) throw new TypeError('portolan: the entry has no configuration')
  const config = structuredClone(entry.config)
  config.url = replace(config.url, (id, at) => {
    const v = given(entry, values, id)
    return at === 0 ? v.replace(/\/+$/, '') : encodeURIComponent(v)
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
