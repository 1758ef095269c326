// The references of a schema. registry/convert/refs.go does the same and explains it.

import { isObject } from '../../shared/object.ts'
import { step } from '../../shared/pointer.ts'
import { get, holdsSchemas, json, shapeOf, type Schema } from './schemashape.ts'
import { lookup } from './schemaview.ts'
import { maxBase, maxRefs, sameValue } from '../../shared/wire.gen.ts'

/** The schemas in the value of a keyword. */
function subschemas(key: string, v: unknown): unknown[] {
  switch (shapeOf(key)) {
    case 'S':
      return [v]
    case 'L':
      return v as unknown[]
    case 'M':
    case 'X':
      return Object.values(v as Schema)
  }
  return []
}

const mapMembers = (o: Schema, fn: (v: unknown, key: string) => unknown): Schema =>
  Object.fromEntries(Object.entries(o).map(([key, v]) => [key, fn(v, key)]))

/**
 * The schema with references that all begin at its root. Below a nested `$id` they begin there, and they may name a
 * schema by its `$id` (core, 8.2.1).
 */
export function inOneDocument(root: unknown): unknown {
  if (!json(root)?.includes('"$id"')) return root
  const ids = new Map<string, string>() // to pointers
  const walk = (s: unknown, path: string, base: string): unknown => {
    if (!isObject(s) || path.length > maxBase) return s
    const own = get(s, '$id')
    const id = typeof own === 'string' && own.split('#')[0]
    if (id) ids.set(id, base = path)
    return mapMembers(s, (v, key) => {
      if (typeof v === 'string' && v && /^\$(r|dynamicR|recursiveR)ef$/.test(key)) {
        const [, name, pointer] = /^([^#]*)#?(.*)$/s.exec(v)!
        const to = name ? ids.get(name) : base
        return to && /^(\/|$)/.test(pointer!) ? to + pointer : v
      }
      if (!holdsSchemas(shapeOf(key))) return v
      const sub = (s: unknown, steps: string) => walk(s, path + (step(key) + steps).replaceAll('%', '%25'), base)
      if (Array.isArray(v)) return v.map((s, i) => sub(s, step(i)))
      return shapeOf(key) === 'S' || !isObject(v) ? sub(v, '') : mapMembers(v, (s, name) => sub(s, step(name)))
    })
  }
  walk(root, '#', '#')
  return walk(root, '#', '#')
}

/** The schemas whose reference leads to no schema, or back to where it came from without a step into the value. */
export function brokenRefs(root: Schema): Set<Schema> {
  const schemas = new Set<unknown>()
  const collect = (s: unknown) => {
    if (!isObject(s)) return
    schemas.add(s)
    for (const key of Object.keys(s)) subschemas(key, s[key]).forEach(collect)
  }
  collect(root)
  return follow(root, [...schemas] as Schema[], (target) => schemas.has(target))
}

/** Whether all references of `schemas` lead to definitions of the root, and none back to where it came from. */
export const refsAreSound = (root: Schema, schemas: Schema[]): boolean =>
  !schemas.length ||
  schemas.every((s) => /^#(\/(\$defs|definitions)\/[^/]+)?$/.test(s.$ref as string)) &&
    !follow(root, schemas, () => true).size

function follow(root: Schema, schemas: Schema[], isKnown: (target: Schema) => boolean): Set<Schema> {
  const visited = new Map<Schema, boolean>() // false: under way
  const broken = new Set<Schema>()
  const visit = (s: unknown, depth: number): boolean => {
    if (!isObject(s)) return false
    const before = visited.get(s)
    if (before || before === false || depth > maxRefs) return !before
    visited.set(s, false)
    if (typeof s.$ref === 'string') {
      const target = lookup(root, s.$ref)
      if (target === undefined || (isObject(target) && !isKnown(target)) || visit(target, depth + 1)) broken.add(s)
    }
    let loops = false
    for (const key of sameValue) {
      if (Object.hasOwn(s, key)) { for (const sub of subschemas(key, s[key])) loops = visit(sub, depth + 1) || loops }
    }
    visited.set(s, true)
    return loops
  }
  for (const s of schemas) if (s.$ref !== undefined) visit(s, 0)
  return broken
}
