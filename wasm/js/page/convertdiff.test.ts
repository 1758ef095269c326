import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { toolFor } from './convert.ts'
import type { Dialect } from '../shared/types.ts'

const dialects: Dialect[] = ['openai', 'openai-responses', 'anthropic', 'gemini']

/** mulberry32: small, seeded, the same everywhere. */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Writes schemas out of every keyword, mostly well-formed. No key looks like an
 * array index: JavaScript reorders those, which changes what is cut first.
 */
function generator(seed: number) {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const some = <T>(max: number, make: () => T): T[] => Array.from({ length: below(max + 1) }, make)
  const keys = ['a', 'b', 'c', 'kind', 'type', '__proto__', 'constructor', 'with space', 'a/b~c', 'é😀']
  const refs = [
    '#',
    '#/$defs/a',
    '#/$defs/b',
    '#/properties/a',
    '#/properties/a/items',
    '#/allOf/0',
    '#/$defs/none',
    '#/properties/a~1b~0c',
    '#x',
    'http://x/y',
    '#/%C3%A9',
    '#/%zz',
    '#/$defs/a/anyOf/1',
  ]
  const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
  const text = () => pick(['', 'text', 'Zeile\n2 "q"', 'é😀', '<b>', 'x'.repeat(400), '😀'.repeat(301)])
  const value = (): unknown =>
    pick([
      () => text(),
      () => below(5),
      () => -1.5,
      () => 2 ** 40,
      () => null,
      () => true,
      () => false,
      () => [below(3), text()],
      () => ({ k: text() }),
    ])()
  const map = (depth: number) => Object.fromEntries(some(3, () => [pick(keys), schema(depth)]))

  const keywords: Record<string, (depth: number) => unknown> = {
    type: () => (below(4) ? pick(types) : some(3, () => pick(types))),
    title: text,
    description: text,
    pattern: () => '^a',
    $comment: text,
    $schema: text,
    'x-own': value,
    deprecated: () => pick([true, false]),
    format: () => pick(['date-time', 'uri', 'int32', 'double', 'enum']),
    default: value,
    const: value,
    examples: () => some(2, value),
    nullable: () => pick([true, false]),
    enum: () => (below(30) ? some(4, value) : Array.from({ length: 502 }, (_, i) => 'v' + i)),
    $ref: () => pick(refs),
    properties: map,
    patternProperties: map,
    $defs: map,
    definitions: map,
    dependentSchemas: map,
    required: () => some(4, () => pick(keys)),
    items: (d) => (below(4) ? schema(d) : some(2, () => schema(d))),
    prefixItems: (d) => some(2, () => schema(d)),
    additionalItems: schema,
    additionalProperties: schema,
    propertyNames: schema,
    contains: schema,
    not: schema,
    if: schema,
    unevaluatedItems: schema,
    anyOf: (d) => some(3, () => schema(d)),
    oneOf: (d) => some(3, () => schema(d)),
    allOf: (d) => some(2, () => schema(d)),
    minimum: () => below(9),
    maximum: () => below(9) / 2,
    exclusiveMinimum: () => pick([1, true, false]),
    exclusiveMaximum: () => pick([1, true, false]),
    multipleOf: () => 3,
    minLength: () => below(9),
    maxItems: () => below(9) - 2,
    minProperties: () => below(3),
    uniqueItems: () => pick([true, false]),
    dependentRequired: () => ({ a: ['b'] }),
  }
  const names = Object.keys(keywords)

  function schema(depth: number): unknown {
    if (!below(12)) return pick([true, false, {}, 5, null, 'x'])
    const out: Record<string, unknown> = {}
    if (below(3)) out.type = pick(types)
    for (let n = below(depth > 3 ? 2 : 6); n > 0; n--) {
      const name = pick(names)
      out[name] = below(25) ? keywords[name]!(depth + 1) : value()
    }
    return out
  }

  return () => {
    const inputSchema = schema(0) as Record<string, unknown>
    if (inputSchema && typeof inputSchema === 'object' && below(5))
      Object.assign(inputSchema, { type: 'object', $defs: { a: schema(1), b: schema(1), 'é': schema(1) } })
    const def: Record<string, unknown> = { name: 'raw', inputSchema }
    if (below(2)) def.description = text()
    if (!below(3)) def.title = value()
    if (!below(3)) def.annotations = pick([{ title: text() }, value()])
    return JSON.stringify(def)
  }
}

/** Schemas that are small to send and grow without bounds when they are followed naively. */
function* bombs(): Generator<unknown> {
  const object = (properties: unknown, more = {}) => ({ type: 'object', properties, ...more })
  const many = <T>(n: number, make: (i: number) => T) =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => ['p' + i, make(i)]))
  const nest = (n: number, wrap: (s: unknown) => unknown) =>
    Array.from({ length: n }).reduce<unknown>((s) => wrap(s), { type: 'string' })

  yield object(many(12_000, () => ({ type: 'string' })))
  yield object(many(1200, () => ({ $ref: '#/$defs/big' })), {
    $defs: { big: { type: 'string', description: 'é'.repeat(60_000) } },
  })
  yield object(many(8, () => ({ $ref: '#/$defs/p0' })), {
    $defs: many(30, (i) => object(many(8, () => ({ $ref: '#/$defs/p' + (i + 1) })))),
  })
  yield object({ a: { $ref: '#/$defs/p0' } }, {
    $defs: many(40, (i) => ({ allOf: [{ $ref: '#/$defs/p' + (i + 1) }, { $ref: '#/$defs/p' + (i + 1) }] })),
  })
  yield object({ a: { $ref: '#/$defs/p0' } }, {
    $defs: many(40, (i) => ({ anyOf: [{ $ref: '#/$defs/p' + (i + 1) }, { $ref: '#/$defs/p' + (i + 1) }] })),
  })
  yield {
    oneOf: Array.from(
      { length: 1500 },
      (_, i) => object({ kind: { const: 'k' + i }, ['f' + i]: {} }, { required: ['kind'] }),
    ),
  }
  for (
    const wrap of [
      (s: unknown) => object({ a: s }),
      (s: unknown) => ({ type: 'array', items: s }),
      (s: unknown) => ({ anyOf: [s, { type: 'null' }] }),
      (s: unknown) => ({ allOf: [s] }),
    ]
  ) {
    for (const depth of [31, 34, 62, 66, 300]) yield object({ a: nest(depth, wrap) })
  }
}

test('random and hostile schemas become the same tools in Go and TypeScript', () => {
  const make = generator(20261121)
  const defs = Array.from({ length: Number(process.env.CONVERT_DIFF ?? 3000) }, make)
  for (const inputSchema of bombs()) defs.push(JSON.stringify({ name: 'raw', inputSchema }))
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const out = execFileSync('go', ['run', './registry/registrytest/reference', 'convert'], {
    cwd: root,
    input: defs.join('\n') + '\n',
    maxBuffer: 1 << 30,
    encoding: 'utf8',
  })
  const tools = out.trimEnd().split('\n')
  assert.equal(tools.length, defs.length)
  defs.forEach((def, i) => {
    const want = JSON.parse(tools[i]!)
    const got = dialects.map((d) => toolFor(d, 'name', 'server', JSON.parse(def)))
    assert.deepEqual(JSON.parse(JSON.stringify(got)), want, def.slice(0, 5000))
  })
})
