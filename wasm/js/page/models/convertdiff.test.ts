import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { toolFor } from './convert.ts'
import { typeNames } from '../../shared/wire.gen.ts'
import type { Dialect, Tool } from '../../shared/types.ts'

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
 * array index: JavaScript reorders those, which changes what is cut first. A text between two @ becomes a number.
 */
function generator(seed: number) {
  const next = random(seed)
  const below = (n: number) => Math.floor(next() * n)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const some = <T>(max: number, make: () => T): T[] => Array.from({ length: below(max + 1) }, make)
  const keys = ['a', 'b', 'c', 'kind', 'type', '__proto__', 'constructor', 'with space', 'a/b~c', 'é😀', '\ud800']
  const numbers = ['@1e400@', '@-1e400@', '@' + '9'.repeat(400) + '@', 0, -1, 1.5, 3]
  const patterns = [
    '^a',
    '^\\p{L}[\\w-]+\\u{1f600}?(?<n>x)\\k<n>$',
    '[\\ud83d\\ude00-\\ud83d\\ude4f]',
    '(?<=a)b{2,3}?(?!c)\\/',
    '\\d+\\.\\x41\\cA\\0\\1(x)',
    '(?i)a',
    '(?P<n>a)',
    '\\Aa\\Z',
    '[[:alpha:]]++',
    '(a',
    'a{2,1}',
    '[b-a]',
    '\\-',
    ']',
    '\\2(a)',
    '(?<n>a)(?<n>b)',
    '\\p{Letter}',
    '\\pL',
    '(?=a)*',
    '\ud800',
    '[\\w-a]',
    'x'.repeat(5000),
  ]
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
    '#/properties',
    '#/$defs/a/default',
    '#/$defs/a/not',
    '#/definitions/a',
    '#/%24defs/b',
    '#/$defs/with space',
    '#/$defs/\ud800',
    'one',
    'one#',
    'two#/properties/a',
    'one#/items',
    'one#x',
    '',
  ]
  const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
  const text = () => pick(['', 'text', 'Zeile\n2 "q"', 'é😀', '<b>', 'x'.repeat(400), '😀'.repeat(301), 'a\udc00b'])
  const value = (): unknown =>
    pick([
      () => text(),
      () => below(5),
      () => -1.5,
      () => 2 ** 40,
      () => pick(numbers),
      () => [{ deep: pick(numbers) }],
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
    pattern: () => pick(patterns),
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
    $dynamicRef: () => pick(refs),
    $recursiveRef: () => '#',
    $dynamicAnchor: () => 'a',
    $recursiveAnchor: () => true,
    $anchor: () => 'x',
    $id: () => pick(['one', 'two', 'one#', '#', text()]),
    id: text,
    dependencies: (d) =>
      Object.fromEntries(some(2, () => [pick(keys), below(2) ? schema(d) : some(3, () => pick(keys))])),
    contentEncoding: text,
    contentSchema: schema,
    then: schema,
    else: schema,
    unevaluatedProperties: schema,
    properties: map,
    patternProperties: (d) => Object.fromEntries(some(2, () => [pick(patterns), schema(d)])),
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
    minimum: () => pick(numbers),
    maximum: () => below(9) / 2,
    exclusiveMinimum: () => pick([1, true, false]),
    exclusiveMaximum: () => pick([1, true, false]),
    multipleOf: () => pick(numbers),
    minLength: () => pick(numbers),
    maxLength: () => below(9),
    maxItems: () => below(9) - 2,
    minProperties: () => below(3),
    uniqueItems: () => pick([true, false]),
    dependentRequired: () => Object.fromEntries(some(2, () => [pick(keys), some(3, () => pick(keys))])),
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
    return JSON.stringify(def).replace(/"@([^"]*)@"/g, '$1')
  }
}

const geminiMeta = {
  $defs: {
    type: { enum: typeNames.slice(0, 6) },
    count: { type: 'integer', minimum: 0 },
    union: {
      required: ['anyOf'],
      additionalProperties: false,
      properties: { anyOf: { type: 'array', minItems: 2, items: { $ref: '#/$defs/plain' } } },
    },
    any: { if: { required: ['anyOf'] }, then: { $ref: '#/$defs/union' }, else: { $ref: '#/$defs/plain' } },
    plain: {
      type: 'object',
      required: ['type'],
      additionalProperties: false,
      properties: {
        ...Object.fromEntries(['title', 'description', 'format'].map((key) => [key, { type: 'string' }])),
        ...Object.fromEntries(['minimum', 'maximum'].map((key) => [key, { type: 'number' }])),
        ...Object.fromEntries(
          ['Length', 'Items', 'Properties'].flatMap((of) =>
            ['min' + of, 'max' + of].map((key) => [key, { $ref: '#/$defs/count' }])
          ),
        ),
        type: { $ref: '#/$defs/type' },
        pattern: { type: 'string', format: 'regex' },
        nullable: { type: 'boolean' },
        enum: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', minLength: 1 } },
        default: {},
        properties: { type: 'object', minProperties: 1, additionalProperties: { $ref: '#/$defs/any' } },
        required: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string' } },
        items: { $ref: '#/$defs/any' },
      },
      allOf: [{ if: { properties: { type: { const: 'array' } } }, then: { required: ['items'] } }],
    },
  },
  $ref: '#/$defs/plain',
}

function isExpression(s: string): boolean {
  try {
    return !!new RegExp(s, 'u')
  } catch {
    return false
  }
}

/** nullable is OpenAPI's. ajv knows it and has rules for it that JSON Schema has not. */
function withoutNullable(v: unknown): unknown {
  return JSON.parse(JSON.stringify(v), (key, value) => (key === 'nullable' ? undefined : value))
}

/** Throws for a tool that a vendor which checks schemas would refuse. ajv cannot compile the largest schemas. */
function checker() {
  const make = () =>
    new Ajv2020({ strict: false, logger: false, code: { optimize: false }, formats: { regex: isExpression } })
  const gemini = make().compile(geminiMeta)
  let ajv = make()
  let left = 500
  return (tools: Tool[], compiled: boolean) => {
    for (const tool of tools) {
      JSON.stringify(tool, (key, value) => {
        assert.ok(!/\p{Surrogate}/u.test(key) && !/\p{Surrogate}/u.test(String(value)), 'lone surrogate')
        assert.ok(typeof value !== 'number' || Number.isFinite(value), `${key} is beyond a double`)
        return value
      })
    }
    const [openai, , anthropic, forGemini] = tools.map((t) => {
      const { function: inner, parameters, input_schema } = t as unknown as Record<string, unknown>
      return (inner as Record<string, unknown> | undefined)?.parameters ?? parameters ?? input_schema
    })
    if (forGemini) assert.ok(gemini(forGemini), JSON.stringify(gemini.errors))
    const same = JSON.stringify(openai) === JSON.stringify(anthropic)
    for (const schema of same ? [openai] : [openai, anthropic]) {
      if (--left < 0) [ajv, left] = [make(), 500] // ajv keeps what it compiled
      const s = withoutNullable(schema) as object
      if (compiled) ajv.compile(s) // checks it against the meta-schema first
      else assert.ok(ajv.validateSchema(s), JSON.stringify(ajv.errors))
    }
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
  for (const length of [180, 1_000_000]) { // of a pointer that each reference gets
    yield object({ ['k'.repeat(length)]: object(many(9000, () => ({ $ref: '#' })), { $id: 'k' }) })
  }
  // Parts that are merged into ever larger ones.
  const parts = (make: (i: number) => unknown) => ({ allOf: Array.from({ length: 3500 }, (_, i) => make(i)) })
  yield parts((i) => object({ ['p' + i]: { type: 'string' } }))
  yield object({ a: parts((i) => object({ a: { title: 'x'.repeat(20) + i } })) })
  yield object({
    a: {
      anyOf: Array.from({ length: 900 }, (_, i) => ({ const: i })),
      ...Object.fromEntries(Array.from({ length: 700 }, (_, i) => ['x-' + i, 'v'.repeat(280)])),
    },
  })
  yield { dependencies: many(6000, () => ['b']) }
  yield parts((i) => ({ required: Array.from({ length: 5 }, (_, k) => `n${i}_${k}`) }))
  yield parts((i) => ({ examples: i ? [i] : ['x'.repeat(150_000)] }))
  for (const n of [99, 101, 9000]) {
    const $defs = many(n, (i) => (i < n - 1 ? { $ref: '#/$defs/p' + (i + 1) } : { type: 'string' }))
    yield { $ref: '#/$defs/p0', $defs }
    yield object({ a: { $ref: '#/$defs/p0' } }, { $defs })
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

/** The number of schemas that are tried. The long repetitions try more. */
const count = process.env.PORTOLAN_SOAK ? 100_000 : 5000
const atOnce = 5000

/** The tools that Go makes of definitions. */
function byGo(defs: string[]): unknown[] {
  const out = execFileSync('go', ['run', './registry/registrytest/reference', 'convert'], {
    cwd: fileURLToPath(new URL('../../../..', import.meta.url)),
    input: defs.join('\n') + '\n',
    maxBuffer: 1 << 30,
    encoding: 'utf8',
  })
  const tools = out.trimEnd().split('\n').map((line) => JSON.parse(line))
  assert.equal(tools.length, defs.length)
  return tools
}

test('each hostile schema stays of its size, and none is converted for minutes', () => {
  for (const inputSchema of bombs()) {
    for (const dialect of dialects) {
      const losses: unknown[] = []
      const tool = toolFor(dialect, 'name', 'server', { inputSchema }, (loss) => losses.push(loss))
      const sizes = [tool, losses].map((made) => JSON.stringify(made).length)
      assert.ok(
        sizes[0]! < 4 << 20 && sizes[1]! < 20 << 20,
        `${dialect}: ${sizes} of ${JSON.stringify(inputSchema).slice(0, 300)}`,
      )
    }
  }
})

test('random and hostile schemas become the same sound tools in Go and TypeScript', () => {
  const make = generator(20261121)
  const check = checker()
  for (let i = 0; i < count; i += atOnce) {
    const defs = Array.from({ length: atOnce }, make)
    if (!i) { for (const inputSchema of bombs()) defs.push(JSON.stringify({ name: 'raw', inputSchema })) }
    const want = byGo(defs)
    defs.forEach((def, j) => {
      const got = dialects.map((d) => toolFor(d, 'name', 'server', JSON.parse(def)))
      try {
        check(got, j < atOnce)
      } catch (e) {
        throw new Error(`${(e as Error).message}: ${def.slice(0, 5000)}`, { cause: e })
      }
      assert.deepEqual(JSON.parse(JSON.stringify(got)), want[j], def.slice(0, 5000))
    })
  }
})
