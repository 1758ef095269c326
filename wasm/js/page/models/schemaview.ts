// The second step of convert.ts: follows references, merges allOf and folds unions of objects.
// registry/convert/merge.go and root.go do the same and explain it.

import { isObject } from '../../shared/object.ts'
import { step } from '../../shared/pointer.ts'
import {
  clip,
  Conversion,
  describeSchema,
  distinct,
  get,
  isSchema,
  json,
  set,
  shape,
  type Schema,
} from './schemashape.ts'
import { maxForms, maxRefs } from '../../shared/wire.gen.ts'

/** A schema without keywords that refer to other schemas of the same level. */
export interface View {
  schema: Schema
  notes: string[]
  refs: string[]
  cycle?: string
  /** The object of properties is a copy. */
  isMerged?: boolean
}

const tooLarge = 'cut: the schema is too large'

export function view(c: Conversion, s: unknown, refs: string[]): View {
  if (--c.left < 0 || refs.length > maxRefs) {
    c.lose(tooLarge)
    return { schema: {}, notes: [tooLarge], refs }
  }
  const [schema, notes] = shape(c, s)
  const v: View = { schema, notes, refs }
  const ref = schema.$ref as string | undefined
  if (ref !== undefined) {
    delete schema.$ref
    const target = lookup(c.root, ref)
    if (target === undefined) notes.push(c.note('$ref', ref))
    else if (refs.includes(ref)) v.cycle = ref
    else {
      c.left -= Math.floor(json(target).length / 2000)
      merge(c, v, view(c, target, [...refs, ref]))
    }
  }
  const list = schema.allOf as unknown[] | undefined
  delete schema.allOf
  for (const [i, s] of list?.entries() ?? []) merge(c, v, c.at(step('allOf') + step(i), () => view(c, s, refs)))
  return v
}

function merge(c: Conversion, v: View, w: View): void {
  v.notes.push(...w.notes)
  v.refs = [...new Set([...v.refs, ...w.refs])]
  if (w.cycle !== undefined) v.notes.push(c.note('$ref', w.cycle))
  for (const [key, theirs] of Object.entries(w.schema)) {
    const ours = get(v.schema, key)
    if (ours === undefined) set(v.schema, key, theirs)
    else if (key === 'properties') mergeProperties(c, v, ours as Schema, theirs as Schema)
    else if (['$defs', 'definitions', 'title'].includes(key) || same(c, ours, theirs)) continue
    else if (key === 'description') v.schema[key] = ours + ' ' + theirs
    else if (key === 'required') v.schema[key] = distinct([...(ours as string[]), ...(theirs as string[])])
    else {
      const common = key === 'type' ? commonTypes(typesOf(ours), typesOf(theirs)) : []
      if (common.length) v.schema[key] = common.length > 1 ? common : common[0]
      else v.notes.push(c.note(key, theirs))
    }
  }
}

function mergeProperties(c: Conversion, v: View, a: Schema, b: Schema): void {
  const out = v.schema.properties = v.isMerged ? a : { ...a }
  v.isMerged = true
  for (const [key, s] of Object.entries(b)) {
    const old = get(out, key)
    set(out, key, old === undefined || same(c, old, s) ? s : { allOf: [old, s] })
  }
}

/** Whether two values are equal. Many parts make one value ever larger, so that its text counts. */
function same(c: Conversion, ours: unknown, theirs: unknown): boolean {
  const text = json(ours)
  c.left -= Math.floor(text.length / 2000)
  return text === json(theirs)
}

export const typesOf = (t: unknown): string[] => (t === undefined ? [] : ([] as string[]).concat(t as string))

function commonTypes(a: string[], b: string[]): string[] {
  const has = (t: string) => b.includes(t) || (t === 'integer' && b.includes('number'))
  const common = (t: string) => {
    if (has(t)) return [t]
    return t === 'number' && has('integer') ? ['integer'] : []
  }
  return distinct(a.flatMap(common))
}

/** Resolves a JSON pointer in a fragment. Nothing is fetched. */
export function lookup(root: unknown, ref: string): unknown {
  let pointer: string
  try {
    pointer = decodeURIComponent(ref.slice(1))
  } catch {
    return
  }
  if (ref[0] !== '#' || (pointer && pointer[0] !== '/')) return
  let n = root
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!Array.isArray(n)) n = get(n, key)
    else n = /^(0|[1-9]\d*)$/.test(key) ? n[+key] : undefined
  }
  return isSchema(n) ? n : undefined
}

/** The input schema as a plain object. */
export function rootView(c: Conversion): View {
  let v: View = { schema: {}, notes: [], refs: [] }
  if (isObject(c.root)) {
    v = view(c, c.root, ['#'])
    if (v.cycle !== undefined) v = { schema: {}, notes: [c.note('$ref', v.cycle)], refs: [] }
  } else if (c.root !== undefined) c.lose('inputSchema: not an object')
  const s = v.schema
  for (const key of ['anyOf', 'oneOf']) if (key in s) fold(c, v, key)
  for (const key of ['enum', 'const', 'not']) {
    if (key in s) v.notes.push(c.note(key, s[key]))
    delete s[key]
  }
  if ('type' in s && !typesOf(s.type).includes('object')) v.notes.push(c.note('type', s.type))
  s.type = 'object'
  s.properties ??= {}
  return v
}

/** Turns a union of objects into one object with the properties of all. */
export function fold(c: Conversion, v: View, key: string): void {
  const alternatives = v.schema[key] as unknown[]
  delete v.schema[key]
  c.lose(`${key}: one object with the properties of all alternatives, each described`)
  const added = new Map<string, unknown[]>()
  const forms: string[] = []
  let required: string[] | undefined
  for (const [i, s] of alternatives.entries()) {
    const { schema: w, notes } = c.at(step(key) + step(i), () => view(c, s, v.refs))
    const needs = (w.required ?? []) as string[]
    required = required?.filter((name) => needs.includes(name)) ?? needs
    const properties = Object.entries((w.properties ?? {}) as Schema)
    const others = properties.flatMap(([name]) => (needs.includes(name) ? [] : name + '?'))
    forms.push([...needs, ...others].join(', ') || json(w))
    describeSchema(w, notes)
    const about = w.description || w.title
    if (about && i < maxForms) v.notes.push(`${i + 1}: ${clip(about as string)}`)
    for (const [name, p] of properties) added.set(name, [...(added.get(name) ?? []), p])
  }
  const properties = { ...(v.schema.properties as Schema | undefined) }
  for (const [name, list] of added) {
    const different = distinct(list)
    const s = different.length > 1 ? { anyOf: different } : list[0]
    const old = get(properties, name)
    if (old === undefined) set(properties, name, s)
    else if (list.length === alternatives.length) set(properties, name, { allOf: [old, s] })
  }
  v.schema.properties = properties
  if (required?.length) v.schema.required = distinct([...((v.schema.required ?? []) as string[]), ...required])
  v.notes.push((key === 'oneOf' ? 'exactly' : 'at least') + ' one of these forms: ' + clip(forms.join(' | ')))
}
