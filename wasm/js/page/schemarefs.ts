// The references of a schema. registry/convert/refs.go does the same and explains it.

import { isObject } from '../shared/object.ts'
import { shapeOf, type Schema } from './schemashape.ts'
import { lookup } from './schemaview.ts'
import { maxRefs, sameValue } from '../shared/wire.gen.ts'

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
