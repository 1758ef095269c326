// Converts to Gemini's Schema, a subset of OpenAPI without references. registry/convert/gemini*.go do the same and list
// what the API refuses.

import { isObject } from '../../shared/object.ts'
import { step } from '../../shared/pointer.ts'
import { clip, Conversion, describeSchema, distinct, get, json, set, type Schema } from './schemashape.ts'
import { fold, lookup, rootView, typesOf, view, type View } from './schemaview.ts'
import {
  geminiFormats,
  geminiKeywords,
  geminiSilent,
  maxGeminiDepth,
  maxGeminiEnum,
  maxGeminiNodes,
  typeNames,
} from '../../shared/wire.gen.ts'

const typeKeywords = geminiKeywords.map((
  { name, kept, described },
): [type: string, kept: string[], described: string[]] => [
  name,
  words(kept),
  words(described),
])
const formats: Record<string, string[]> = geminiFormats

function words(list: string): string[] {
  return list.split(' ')
}

export function geminiParameters(c: Conversion): Schema {
  c.left = maxGeminiNodes
  return gemini(c, rootView(c), 0)
}

function geminiAt(c: Conversion, s: unknown, depth: number, refs: string[]): Schema {
  if (depth > maxGeminiDepth) {
    c.lose('cut: nested too deep')
    return placeholder('object', undefined, ['cut: nested too deep'])
  }
  const v = view(c, s, refs)
  if (v.cycle === undefined) return gemini(c, v, depth)
  c.lose('$ref: recursion cut')
  const names = typesOf(get(lookup(c.root, v.cycle), 'type'))
  const type = names.find((t) => typeNames.slice(0, 6).includes(t)) ?? 'object'
  return placeholder(type, v.schema.description, ['again as in ' + clip(v.cycle)])
}

function placeholder(type: string, description?: unknown, notes: string[] = []): Schema {
  const out: Schema = { type }
  if (type === 'array') out.items = { type: 'object' }
  if (description !== undefined) out.description = description
  describeSchema(out, notes)
  return out
}

const anything = (): Schema[] => [...words('string number boolean object').map((type) => ({ type })), {
  type: 'array',
  items: { type: 'string' },
}]

function nullOnly(c: Conversion, v: View): Schema[] {
  c.lose('type: null only')
  v.notes.push('null only')
  return [{ type: 'string' }]
}

const unionKey = (s: Schema) => ['anyOf', 'oneOf'].find((key) => key in s)

function gemini(c: Conversion, v: View, depth: number): Schema {
  narrowUnion(c, v)
  const key = unionKey(v.schema)
  if (key) {
    const nullable = v.schema.nullable === true
    const [parts, hasNull] = alternatives(c, v, key, depth)
    return assemble(c, v, parts, nullable || hasNull)
  }
  const [types, values, nullable] = geminiTypes(c, v)
  let parts = types.map((t) => geminiPart(c, v, t, values, depth))
  if (!types.length && nullable) parts = nullOnly(c, v)
  else if (!types.length) {
    c.lose('anything: arrays only of strings')
    parts = anything()
  }
  for (const [key, value] of Object.entries(v.schema))
    if (!isSilent(key, value, types)) v.notes.push(c.note(key, value))
  return assemble(c, v, parts, nullable)
}

/** One schema of alternatives. anyOf allows no other keyword beside it, so the description moves to the first. */
function assemble(c: Conversion, v: View, list: Schema[], nullable: boolean): Schema {
  const parts = list.length > 1 ? distinct(list) : list
  const { title, default: fallback, description } = v.schema
  const isUnion = parts.length > 1
  if (isUnion && fallback !== undefined) v.notes.push(c.note('default', fallback))
  if (nullable) { for (const p of parts) p.nullable = true }
  const head = parts[0]!
  const about: Schema = { description: description || (isUnion && title) || undefined }
  describeSchema(about, v.notes)
  const text = [about.description, head.description].filter(Boolean).join(' ')
  if (text) head.description = text
  if (isUnion) return { anyOf: parts }
  if (title !== undefined) head.title ??= title
  if (fallback !== undefined && !('default' in head)) head.default = fallback
  return head
}

function geminiTypes(c: Conversion, v: View): [types: string[], values: unknown[], nullable: boolean] {
  const s = v.schema
  let types = typesOf(s.type)
  let nullable = types.includes('null')
  let listed: unknown[] = []
  if ('const' in s && 'enum' in s) v.notes.push(c.note('enum', s.enum))
  const keyword = ['const', 'enum'].find((key) => key in s)
  if (keyword) {
    const values = keyword === 'const' ? [s.const] : (s.enum as unknown[])
    const kinds = values.map(valueType)
    nullable = kinds.includes('null') && (!types.length || nullable)
    if (!types.length) types = kinds
    listed = geminiEnum(c, v, keyword, values, types.includes('string'))
  } else if (!types.length) types = inferType(s)
  return [distinct(types).filter((t) => t !== 'null'), listed, nullable || s.nullable === true]
}

function geminiEnum(c: Conversion, v: View, keyword: string, values: unknown[], strings: boolean): unknown[] {
  if (values.length > maxGeminiEnum) {
    c.lose(`${keyword}: too many values, moved into the description`)
    v.notes.push(`${values.length} values, such as ${clip(json(values.slice(0, 20)))}`)
    return []
  }
  const listed = distinct(values).filter((e) => e && typeof e === 'string' && strings)
  if (values.some((e) => e !== null && !listed.includes(e)))
    v.notes.push(c.note(keyword, keyword === 'const' ? values[0] : values))
  return listed
}

function valueType(v: unknown): string {
  if (v === null) return 'null'
  if (Array.isArray(v)) return 'array'
  return Number.isSafeInteger(v) ? 'integer' : typeof v
}

function inferType(s: Schema): string[] {
  const row = typeKeywords.find(([, kept, described]) => [...kept, ...described].some((key) => key in s))
  if (row) return [row[0]]
  return 'format' in s ? ['string'] : []
}

const isOf = (row: string, t: string) => row === t || (row === 'number' && t === 'integer')

function geminiPart(c: Conversion, v: View, type: string, values: unknown[], depth: number): Schema {
  const s = v.schema
  const out: Schema = { type }
  if (formats[type]?.includes(s.format as string)) out.format = s.format
  for (const [row, kept] of typeKeywords) {
    if (isOf(row, type)) { for (const key of kept) if (key in s) out[key] = s[key] }
  }
  if (type === 'object') geminiProperties(c, v, out, depth)
  if (type === 'array') out.items = geminiItems(c, v, depth)
  if (type === 'string' && values.length) out.enum = values
  return out
}

function geminiProperties(c: Conversion, v: View, out: Schema, depth: number): void {
  const source = (v.schema.properties ?? {}) as Schema
  const properties: Schema = {}
  for (const [name, s] of Object.entries(source)) {
    set(properties, name, c.at(step('properties') + step(name), () => geminiAt(c, s, depth + 1, v.refs)))
  }
  const required = (v.schema.required ?? []) as string[]
  const here = required.filter((name) => Object.hasOwn(source, name))
  const missing = required.filter((name) => !Object.hasOwn(source, name))
  delete out.properties
  delete out.required
  if (Object.keys(properties).length) out.properties = properties
  if (here.length) out.required = here
  if (missing.length) v.notes.push(c.note('required', missing))
}

function geminiItems(c: Conversion, v: View, depth: number): Schema {
  const { items, prefixItems } = v.schema
  const s = prefixItems
    ? { anyOf: [...(prefixItems as unknown[]), ...(isObject(items) ? [items] : [])] }
    : (items ?? {})
  return c.at(step(prefixItems ? 'prefixItems' : 'items'), () => geminiAt(c, s, depth + 1, v.refs))
}

function isSilent(key: string, value: unknown, types: string[]): boolean {
  if (geminiSilent.includes(key)) return true
  if (key === 'format') return types.some((t) => formats[t]?.includes(value as string))
  if (
    ['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'].includes(key) &&
    (value === true || (isObject(value) && !Object.keys(value).length))
  ) return true
  if (value === false) return true
  for (const [row, kept, described] of typeKeywords) {
    if (kept.includes(key)) return true
    if (described.includes(key)) return !types.some((t) => isOf(row, t))
  }
  return false
}

function narrowUnion(c: Conversion, v: View): void {
  const s = v.schema
  if ('oneOf' in s && 'anyOf' in s) {
    v.notes.push(c.note('oneOf', s.oneOf))
    delete s.oneOf
  }
  const key = unionKey(s)
  if (key && 'properties' in s) fold(c, v, key)
  else if (key) {
    if (key === 'oneOf') c.lose('oneOf: sent as anyOf')
    foldConstants(v, key)
  }
}

/** Turns a union of string constants into an enum. Their descriptions move into its description. */
function foldConstants(v: View, key: string): void {
  const values: string[] = []
  const notes: string[] = []
  for (const s of v.schema[key] as unknown[]) {
    const list = get(s, 'enum')
    const one = get(s, 'const') ?? (Array.isArray(list) && list.length === 1 ? list[0] : undefined)
    if (typeof one !== 'string' || !onlyConstant(s as Schema)) return
    values.push(one)
    const text = [get(s, 'description'), get(s, 'title')].find((t) => t && typeof t === 'string')
    if (text) notes.push(`${json(one)}: ${text}`)
  }
  if ('enum' in v.schema || 'const' in v.schema) return
  delete v.schema[key]
  v.schema.enum = values
  v.notes.push(...notes)
}

const onlyConstant = (s: Schema) =>
  Object.entries(s).every(([key, value]) =>
    ['const', 'enum', 'title', 'description'].includes(key) || (key === 'type' && value === 'string')
  )

/** The alternatives of a union, flattened, and whether null is one. Keywords beside the union apply to each. */
function alternatives(c: Conversion, v: View, key: string, depth: number): [parts: Schema[], hasNull: boolean] {
  const { [key]: list, title, description, default: fallback, nullable: _, $defs: _1, definitions: _2, ...beside } =
    v.schema
  v.schema = Object.fromEntries(
    Object.entries({ title, description, default: fallback }).filter(([, value]) => value !== undefined),
  )
  const others = [...(list as unknown[]).entries()].filter(([, s]) => !isNull(s))
  for (const s of list as unknown[]) {
    const text = isNull(s) && get(s, 'description')
    if (text && typeof text === 'string') v.notes.push('null: ' + text)
  }
  const cost = Math.floor(json(beside).length / 2000) // of a copy
  const parts = others.flatMap(([i, s]): Schema[] => {
    const whole = Object.keys(beside).length ? { allOf: [s, beside] } : s
    c.left -= cost
    const part = c.at(step(key) + step(i), () => geminiAt(c, whole, depth + 1, v.refs))
    return (part.anyOf as Schema[] | undefined) ?? [part]
  })
  return [parts.length ? parts : nullOnly(c, v), others.length < (list as unknown[]).length]
}

const isNull = (s: unknown) => get(s, 'type') === 'null' || (get(s, 'const') === null && get(s, 'type') === undefined)
