// The first step of convert.ts: one schema, without its subschemas, as well-formed JSON Schema 2020-12.

import { isObject } from '../../shared/object.ts'
import { pointer, shown } from '../../shared/pointer.ts'
import { keywordShapes, maxPattern, typeNames } from '../../shared/wire.gen.ts'

export type Schema = Record<string, unknown>

const shapes = new Map<string, string>(
  Object.entries(keywordShapes).flatMap(([shape, keywords]) =>
    keywords.split(' ').map((k): [string, string] => [k, shape])
  ),
)

export const shapeOf = (keyword: string) => shapes.get(keyword)

const isType = (v: unknown) => typeNames.includes(v as string)
const isText = (v: unknown) => typeof v === 'string'
export const isBool = (v: unknown) => typeof v === 'boolean'

export const isSchema = (v: unknown) => isObject(v) || isBool(v)

const isList = (v: unknown): v is unknown[] => Array.isArray(v) && v.length > 0

const isTexts = (v: unknown) => Array.isArray(v) && v.every(isText)

/** The differences between engines; see isUnusual in registry/convert/pattern.go. */
const unusual = /\(\?[^:=!<]|\\p\{(?!\w\w?\})/i

function isPattern(v: unknown): boolean {
  if (typeof v !== 'string' || v.length > maxPattern || unusual.test(v)) return false
  try {
    return !!new RegExp(v, 'u')
  } catch {
    return false
  }
}

/** Whether the JSON text of a value has no lone surrogate, and no null in place of a number beyond a double. */
export function isSound(v: unknown): boolean {
  if (typeof v === 'string') return v.isWellFormed()
  if (typeof v === 'number') return Number.isFinite(v)
  if (typeof v !== 'object' || v === null) return true
  if (Array.isArray(v)) return v.every(isSound)
  for (const key in v) if (!key.isWellFormed() || !isSound((v as Schema)[key])) return false
  return true
}

/** A copy whose strings and names have U+FFFD in place of lone surrogates. */
export function wellFormed(v: unknown): unknown {
  if (typeof v === 'string') return v.toWellFormed()
  if (Array.isArray(v)) return v.map(wellFormed)
  if (!isObject(v)) return v
  return Object.fromEntries(Object.entries(v).map((member) => member.map(wellFormed) as [string, unknown]))
}

const checks: Record<string, (v: unknown) => boolean> = {
  s: isText,
  x: isPattern,
  n: Number.isFinite,
  p: (v) => Number.isFinite(v) && (v as number) > 0,
  i: (v) => Number.isSafeInteger(v) && (v as number) >= 0,
  b: isBool,
  a: Array.isArray,
  e: isList,
  L: isList,
  t: (v) => isType(v) || (isList(v) && v.every(isType)),
  r: isTexts,
  D: (v) => isObject(v) && Object.values(v).every(isTexts),
  S: isSchema,
  M: isObject,
  X: (v) => isObject(v) && Object.keys(v).every(isPattern),
}

export const hasShape = (kind: string, v: unknown) => checks[kind]?.(v) !== false

/** Whether keywords of a shape have subschemas. */
export const holdsSchemas = (kind?: string) => kind === 'S' || kind === 'M' || kind === 'L' || kind === 'X'

/** Sets a member. The name may be `__proto__`. */
export function set(o: Schema, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(o, key, { value, enumerable: true, configurable: true, writable: true })
  else o[key] = value
}

export const get = (o: unknown, key: string): unknown => (isObject(o) && Object.hasOwn(o, key) ? o[key] : undefined)

export const json = (v: unknown) => JSON.stringify(v)

/** The first 300 characters. */
export function clip(s: string): string {
  if (s.length <= 300) return s
  const characters = [...s.slice(0, 602)] // a character has at most two units
  return characters.length > 300 ? characters.slice(0, 300).join('') + '…' : s
}

/** The parts of a schema that a dialect cannot express. */
export interface SchemaLoss {
  /** JSON pointer into the inputSchema. */
  path: string
  /** The keyword and what became of it, as in registry/convert. */
  what: string
}

/** The conversion of one tool's schema. */
export class Conversion {
  /** The inputSchema. References point into it. */
  root: unknown
  /** The number of schemas that may still be visited. */
  left: number
  readonly losses: SchemaLoss[] = []
  #path = ''

  constructor(root: unknown, left: number) {
    this.root = root
    this.left = left
  }

  /** Notes a loss at the present place. */
  lose(what: string): void {
    this.losses.push({ path: shown(this.#path), what })
  }

  /** A keyword as words in a description. */
  note(keyword: string, value: unknown): string {
    this.lose(`${keyword}: moved into the description`)
    return keyword + ': ' + clip(json(value))
  }

  /** Runs `fn` at the place that `steps`, a JSON pointer, leads to from here. */
  at<T>(steps: string, fn: () => T): T {
    const before = this.#path
    this.#path = pointer(before, steps)
    const result = fn()
    this.#path = before
    return result
  }
}

/** The distinct values of a list, in order. */
export function distinct<T>(list: T[]): T[] {
  return [...new Map(list.map((v) => [json(v), v])).values()]
}

export function describeSchema(s: Schema, notes: string[]): void {
  if (!notes.length) return
  const text = notes.join('; ')
  s.description = s.description ? `${s.description} (${text})` : text
}

export function shape(c: Conversion, s: unknown): [out: Schema, notes: string[]] {
  const out: Schema = {}
  const notes: string[] = []
  if (!isObject(s)) {
    if (!isBool(s)) c.lose('not a schema: anything is allowed')
    return [s === false ? { not: {} } : out, notes]
  }
  for (const [key, v] of Object.entries(s)) {
    const kind = shapeOf(key) ?? ''
    if (kind === '-' || (key === 'additionalItems' && Array.isArray(s.items))) continue
    if (!kind && isObject(v)) c.lose(`${key}: removed, not a keyword`)
    else if (key === 'items' && isList(v)) {
      // the tuple of the drafts before 2020-12
      out.prefixItems = v
      if (isSchema(s.additionalItems)) out.items = s.additionalItems
    } else if (isBool(v) && /^exclusiveM..imum$/.test(key)) {
      // draft 4; see below
    } else if (!holdsSchemas(kind) && !isSound(v)) {
      c.lose(`${key}: removed, a number is too large`)
      notes.push(key + ': a number is too large')
    } else if (!hasShape(kind, v)) {
      notes.push(c.note(key, v))
    } else if (kind === 'D') {
      set(out, key, Object.fromEntries(Object.entries(v as Schema).map(([k, list]) => [k, distinct(list as string[])])))
    } else {
      set(out, key, kind === 'r' || kind === 'e' || (kind === 't' && Array.isArray(v)) ? distinct(v as string[]) : v)
    }
  }
  for (const side of ['Minimum', 'Maximum']) {
    const inclusive = side.toLowerCase()
    if (s['exclusive' + side] === true && inclusive in out) {
      out['exclusive' + side] = out[inclusive]
      delete out[inclusive]
    }
  }
  older(c, s, out, notes)
  return [out, notes]
}

/** Gives `out` what takes the place of keywords of `s` from drafts before 2020-12. */
function older(c: Conversion, s: Schema, out: Schema, notes: string[]): void {
  for (const key of ['$recursiveRef', '$dynamicRef']) {
    if (typeof s[key] === 'string' && out.$ref === undefined) out.$ref = s[key]
    else if (key in s) notes.push(c.note(key, s[key]))
  }
  const old = s.dependencies
  if (old === undefined) return
  if (!isObject(old)) {
    notes.push(c.note('dependencies', old))
    return
  }
  const copied = new Set<string>()
  for (const [name, v] of Object.entries(old)) {
    if (!isTexts(v) && !isSchema(v)) notes.push(c.note('dependencies', v))
    else {
      const key = isTexts(v) ? 'dependentRequired' : 'dependentSchemas'
      if (!copied.has(key)) out[key] = { ...(out[key] as Schema) }
      copied.add(key)
      set(out[key] as Schema, name, isTexts(v) ? distinct(v as string[]) : v)
    }
  }
}
