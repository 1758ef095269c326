// Removes hidden characters from a definition. registry/text does the same.

import { isObject, type JsonObject } from '../shared/object.ts'
import { pointer, shown, step } from '../shared/pointer.ts'
import { excerptAt, mayHide, plain } from '../shared/plaintext.ts'
import type { Flag } from '../shared/types.ts'

const mostFlags = 10

/** Keywords whose members are named by the server: parameters or definitions. */
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose values are compared with arguments, and so stay unchanged. */
const exact = new Set(['const', 'enum', 'default'])

export interface Cleaned {
  /** The cleaned definition. It is the given object if nothing was hidden. */
  tool: JsonObject
  flags?: Flag[]
  /** The reason why the tool cannot be offered. */
  refused?: string
}

/** Whether a definition needs cleaning. Nearly none does, and a copy costs more than the check. */
function suspect(v: unknown): boolean {
  if (typeof v === 'string') return mayHide(v)
  if (typeof v !== 'object' || v === null) return false
  if (Array.isArray(v)) return v.some(suspect)
  for (const key in v) if (mayHide(key) || suspect((v as JsonObject)[key])) return true
  return false
}

/** The definition for models and users. */
export function cleanTool(tool: JsonObject): Cleaned {
  if (!suspect(tool)) return { tool }
  const flags: Flag[] = []
  let refused: string | undefined
  const text = (s: string, where: string): string => {
    const { text, at } = plain(s)
    if (at >= 0 && flags.length < mostFlags)
      flags.push({ rule: 'hidden_text', where: shown(where), excerpt: excerptAt(s, at) })
    return text
  }
  const walk = (v: unknown, where: string, schema: boolean): unknown => {
    if (typeof v === 'string') return text(v, where)
    if (typeof v !== 'object' || v === null) return v
    if (Array.isArray(v)) {
      let out: unknown[] = v
      for (let i = 0; i < v.length; i++) {
        const made = walk(v[i], pointer(where, `/${i}`), schema)
        if (made !== v[i]) (out === v ? (out = v.slice()) : out)[i] = made
      }
      return out
    }
    return members(v as JsonObject, where, (key, value, at) => {
      if (schema && exact.has(key)) return value
      if (schema && maps.has(key) && isObject(value)) return members(value, at, (_, s, at) => walk(s, at, true))
      return walk(value, at, schema)
    })
  }
  const members = (
    o: JsonObject,
    where: string,
    fn: (key: string, value: unknown, at: string) => unknown,
  ): JsonObject => {
    let out = o
    for (const key in o) {
      if (plain(key).at >= 0) refused ??= 'the name of a parameter or member holds hidden characters'
      const value = o[key]
      const made = fn(key, value, pointer(where, step(key)))
      if (made !== value) {
        if (out === o) out = { ...o }
        Object.defineProperty(out, key, { value: made, writable: true, enumerable: true, configurable: true })
      }
    }
    return out
  }
  if (plain(String(tool['name'])).at >= 0) return { tool, refused: 'the name holds hidden characters' }
  const cleaned = members(
    tool,
    '',
    (key, value, at) => walk(value, at, key === 'inputSchema' || key === 'outputSchema'),
  )
  return { tool: cleaned, ...(flags.length && { flags }), ...(refused && { refused }) }
}
