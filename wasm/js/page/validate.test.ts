import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ToolInfo, ToolResult } from '../shared/types.ts'
import { checkArguments, checkResult, validateArguments } from './validate.ts'

interface Group {
  description: string
  schema: unknown
  tests: { description: string; data: unknown; valid: boolean }[]
}
interface Case {
  name: string
  schema: unknown
  args: unknown
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = `${root}registry/validate/testdata/jsonschema`
const suite = readdirSync(folder).filter((f) => f.endsWith('.json'))
  .map((file) => [file, JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Group[]] as const)

const official: Case[] = suite.flatMap(([file, groups]) =>
  groups.flatMap((g) =>
    g.tests.map((c) => (
      { name: `${file}: ${g.description}: ${c.description}`, schema: g.schema, args: c.data }
    ))
  )
)

test('what the official suite calls valid passes', () => {
  for (const [file, groups] of suite) {
    for (const g of groups) {
      for (const c of g.tests)
        if (c.valid)
          assert.equal(validateArguments(g.schema, c.data), undefined, `${file}: ${g.description}: ${c.description}`)
    }
  }
})

/** The errors of validate.Schema. */
function inGo(cases: Case[]): (string | undefined)[] {
  const input = cases.map(({ schema, args }) => JSON.stringify({ schema, args })).join('\n')
  const out = execFileSync('go', ['run', './registry/registrytest/reference', 'validate'], {
    cwd: root,
    input,
    maxBuffer: 1 << 30,
    encoding: 'utf8',
  })
  return out.trimEnd().split('\n').map((line) =>
    (JSON.parse(line) as string).replace(/^invalid arguments: /, '') || undefined
  )
}

const object = (properties: unknown, more = {}) => ({ type: 'object', properties, ...more })
const nest = (n: number, wrap: (s: unknown) => unknown) =>
  Array.from({ length: n }).reduce<unknown>((s) => wrap(s), { type: 'string' })

/** The reference leads to the definition beside it, because that part has an address of its own. */
const nested = {
  properties: { a: { $id: 'https://a.example/a', $ref: '#/$defs/a', $defs: { a: { type: 'number' } } } },
  $defs: { a: { type: 'array' } },
}

const places = object({
  city: { type: 'string', minLength: 2 },
  days: { type: 'integer', minimum: 1, maximum: 14 },
  unit: { enum: ['C', 'F'] },
  'a/b': { type: ['string', 'null'] },
  points: { type: 'array', items: { $ref: '#/$defs/point' }, maxItems: 3 },
}, {
  required: ['city', 'days'],
  additionalProperties: false,
  $defs: { point: { prefixItems: [{ type: 'number' }, { type: 'number' }], items: false } },
})

const rows: Case[] = [
  { city: 'Bonn', days: 3 },
  { days: 3 },
  { city: 'B', days: 15 },
  { city: 5, days: 1.5 },
  { city: 'Bonn', days: 3, unit: 'K' },
  { city: 'Bonn', days: 3, 'a/b': 1 },
  { city: 'Bonn', days: 3, towns: 1 },
  { city: 'é😀', days: 3, points: [[1, 2], [1, 'x'], [1, 2, 3], []] },
  [],
  null,
  'x',
  { city: 1, days: '', unit: 1, x: 1, y: 1, z: 1 },
  { constructor: 1, toString: 2 },
  JSON.parse('{"__proto__":{"a":1}}'),
].map((args) => ({ name: 'places', schema: places, args }))

const hostile: Case[] = [
  null,
  [],
  5,
  'x',
  {
    type: 5,
    required: 'a',
    properties: [],
    items: 3,
    enum: {},
    anyOf: {},
    minimum: '1',
    $ref: 'https://example.com/x',
  },
  { $ref: '#' },
  {
    $ref: '#/$defs/a',
    $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], not: { $ref: '#/$defs/a' } } },
  },
  nest(500, (not) => ({ not })),
  nest(80, (s) => object({ a: s })),
  { properties: { a: { type: ['text'] } } },
  { properties: { a: null } },
  { required: ['a', 'constructor', '__proto__', 5] },
  { enum: Array.from({ length: 30_000 }, (_, i) => i) },
  { $ref: '#/%zz' },
  object({ a: { type: 'string' } }, { propertyNames: { maxLength: 0 } }),
  { properties: { a: { type: [] } } },
  { oneOf: [{ pattern: 'x' }, {}, true] },
  { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' },
  { $schema: 'http://json-schema.org/draft-07/schema#', required: ['b'] },
  { $schema: `https://evil.example/${'x'.repeat(1000)}` },
  { $schema: 7 },
  { $ref: 'x.json' },
  { anyOf: [{ $ref: 'https://example.com/x' }, { required: ['b'] }] },
  { properties: { a: { $ref: `https://example.com/${'x'.repeat(1000)}` } } },
  { properties: { a: { $ref: 'https://json-schema.org/draft/2020-12/schema' } } },
  { properties: { a: { $ref: 'https://example.com/x' } }, $defs: { x: { $id: 'https://example.com/x' } } },
  nested,
  { properties: { $id: { type: 'string' }, a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'array' } } },
].flatMap((schema) =>
  [{ a: 1 }, { a: { a: { a: 1 } } }, { a: [1, 1, '1'] }].map((args) => ({ name: 'hostile', schema, args }))
)

const multiples: Case[] = [1234567.89, 987654321.12, 19.99, 1234567.891, 1000000000.005].map((args) => (
  { name: 'multiples', schema: { multipleOf: 0.01 }, args }
))

/** Writes schemas and arguments out of few words, so that they often meet. */
function* random(count: number): Generator<Case> {
  let seed = 20261121
  const below = (n: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * n)
  }
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const some = <T>(max: number, make: () => T): T[] => Array.from({ length: below(max + 1) }, make)
  const keys = ['a', 'b', 'a/b~c', '__proto__', 'constructor']
  const entries = (make: () => unknown) => Object.fromEntries(some(3, () => [pick(keys), make()]))
  const value = (depth: number): unknown =>
    pick([
      () => pick(['', 'a', 'ab', 'é😀']),
      () => below(5),
      () => below(9) / 4 - 1,
      () => null,
      () => pick([true, false]),
      () => (depth > 2 ? [] : some(3, () => value(depth + 1))),
      () => (depth > 2 ? {} : entries(() => value(depth + 1))),
    ])()
  const keywords: Record<string, (d: number) => unknown> = {
    type: () =>
      pick(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null', ['integer', 'null'], [
        'string',
        'object',
      ], 'odd']),
    const: () => value(1),
    enum: () => some(3, () => value(1)),
    nullable: () => pick([true, false]),
    minimum: () => below(4),
    maximum: () => below(4),
    exclusiveMinimum: () => below(4) / 2,
    exclusiveMaximum: () => below(4),
    multipleOf: () => pick([1, 0.5, 0.1, 0, 3]),
    minLength: () => below(3),
    maxLength: () => below(3),
    minItems: () => below(3),
    maxItems: () => below(3),
    uniqueItems: () => true,
    minProperties: () => below(3),
    maxProperties: () => below(3),
    required: () => some(2, () => pick(keys)),
    properties: (d) => entries(() => schema(d)),
    additionalProperties: (d) => schema(d),
    patternProperties: () => ({ a: true }),
    items: (d) => (below(4) ? schema(d) : some(2, () => schema(d))),
    additionalItems: (d) => schema(d),
    prefixItems: (d) => some(2, () => schema(d)),
    anyOf: (d) => some(3, () => schema(d)),
    oneOf: (d) => some(3, () => schema(d)),
    allOf: (d) => some(2, () => schema(d)),
    not: (d) => schema(d),
    $ref: () =>
      pick([
        '#',
        '#/$defs/a',
        '#/$defs/b',
        '#/$defs/none',
        '#/properties/a',
        '#/properties/a~1b~0c',
        '#/allOf/0',
        'other',
      ]),
    format: () => 'uri',
  }
  const names = Object.keys(keywords)
  const schema = (depth: number): unknown => {
    if (!below(8)) return pick([true, false, {}, null])
    const out: Record<string, unknown> = {}
    for (let n = below(depth > 3 ? 2 : 5); n > 0; n--) {
      const name = pick(names)
      out[name] = below(25) ? keywords[name]!(depth + 1) : value(1)
    }
    return out
  }
  for (let i = 0; i < count; i++) {
    const s = schema(0) as Record<string, unknown> | null
    if (typeof s === 'object' && s) Object.assign(s, { $defs: { a: schema(1), b: schema(1) } })
    yield { name: `random ${i}`, schema: s, args: below(4) ? entries(() => value(0)) : value(0) }
  }
}

test('Go and TypeScript find the same in the same arguments', () => {
  const cases = [...official, ...rows, ...hostile, ...multiples, ...random(Number(process.env.VALIDATE_DIFF ?? 20_000))]
  const want = inGo(cases)
  assert.equal(want.length, cases.length)
  let refused = 0
  cases.forEach(({ name, schema, args }, i) => {
    const got = validateArguments(schema, args)
    assert.equal(got, want[i], `${name}: ${JSON.stringify({ schema, args }).slice(0, 3000)}`)
    refused += +(got !== undefined)
  })
  assert.ok(refused > cases.length / 10 && refused < cases.length, `${refused} of ${cases.length} refused`)
})

test('digits that parsing loses refuse nothing', () => {
  for (
    const [schema, args] of [
      ['{"const":9007199254740993}', '9007199254740992'],
      ['{"exclusiveMinimum":9007199254740992}', '9007199254740993'],
      ['{"uniqueItems":true}', '[9007199254740992,9007199254740993]'],
      ['{"type":"integer"}', '1' + '0'.repeat(400)],
      ['{"multipleOf":0.01}', '1234567.89'],
      ['{"not":{"const":9007199254740992}}', '9007199254740993'],
      ['{"oneOf":[{"const":9007199254740992},{"const":9007199254740993}]}', '9007199254740993'],
    ] as const
  ) {
    assert.equal(validateArguments(JSON.parse(schema), JSON.parse(args)), undefined, schema)
  }
})

/**
 * Schemas whose 3000 references to one part make much work of it, by what the part has. Without a bound, each takes
 * minutes.
 */
const laborious = {
  required: { required: Array(200_000).fill('b') },
  keywords: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => ['k' + i, 1])),
  const: { const: 'x'.repeat(200_000) },
  reference: { $ref: '#' + '/a'.repeat(100_000) },
  properties: { minProperties: 0 },
  'equal items': { properties: { a: { uniqueItems: true } } },
}

for (const [name, a] of Object.entries(laborious)) {
  test(`the work of one validation is bounded: ${name}`, () => {
    const schema = { anyOf: [...Array(3000).fill({ $ref: '#/$defs/a' }), {}], $defs: { a } }
    const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => ['p' + i, i]))
    assert.equal(validateArguments(schema, { ...value, a: Object.keys(value) }), undefined)
  })
}

test('values stay out of the problems', () => {
  const schema = {
    properties: {
      token: { type: 'integer' },
      key: { enum: ['a'] },
      pin: { maxLength: 1 },
      id: { not: { type: 'string' } },
    },
  }
  const problems = validateArguments(schema, { token: 'hunter2', key: 'hunter2', pin: 'hunter2', id: 'hunter2' })!
  assert.equal(problems.split('; ').length, 4)
  assert.ok(!problems.includes('hunter2'), problems)
})

test('misfits of a result are flags at JSON pointers, at most five, or an error', () => {
  const outputSchema = object({ a: { type: 'string' } }, {
    required: ['b', 'c', 'd', 'e', 'f'],
    additionalProperties: false,
  })
  const tool = { name: 's__t', server: 's', tool: 't', definition: { name: 't', inputSchema: {}, outputSchema } }
  const first = { rule: 'blob', where: '/content/0', excerpt: 'x' }
  const made = (structuredContent: unknown): ToolResult => ({
    text: '',
    content: [],
    structuredContent,
    isError: false,
    server: 's',
    tool: 't',
    durationMs: 0,
    provenance: { server: 's', tool: 't', origin: '', untrusted: true },
    flags: [first],
  })
  const fits = made({ a: '', b: 1, c: 1, d: 1, e: 1, f: 1 })
  const loose = { ...tool, definition: { ...tool.definition, outputSchema: object({}, { required: ['b'] }) } }
  assert.equal(checkResult(loose, fits, true), fits)
  const { flags } = checkResult(tool, made({}), false)
  assert.deepEqual(flags, [
    first,
    ...['b', 'c', 'd', 'e', 'f'].map((name) => ({
      rule: 'schema_mismatch',
      where: `/structuredContent/${name}`,
      excerpt: 'is required',
    })),
  ])
  assert.equal(
    checkResult(tool, made({ 'x\u200by': 1, b: 1, c: 1, d: 1, e: 1, f: 1 }), false).flags![1]!.where,
    '/structuredContent/xy',
  )
  assert.equal(checkResult(tool, made(undefined), false).flags![1]!.where, '/structuredContent')
  assert.equal(checkResult(tool, made(null), false).flags![1]!.excerpt, 'want an object, not null')
  assert.throws(() => checkResult(tool, made([]), true), {
    code: 'invalid_result',
    message: 'invalid result: /structuredContent: want an object, not an array',
    server: 's',
    retryable: false,
  })
})

test('a reference in a part with an address of its own is not read as one of the root', () => {
  assert.equal(validateArguments(nested, { a: 1 }), undefined)
  assert.match(
    validateArguments({ ...nested, properties: { $id: {}, a: { $ref: '#/$defs/a' } } }, { a: 1 })!,
    /an array/,
  )
})

test('arguments for a schema in another dialect are refused with a hint that says whose fault it is', () => {
  const definition = { name: 't', inputSchema: { $schema: 'https://evil.example/dialect' } }
  const tool = { name: 's__t', server: 's', tool: 't', definition } as ToolInfo
  assert.throws(() => checkArguments(tool, '{}'), { code: 'invalid_arguments', hint: /the server's maker/ })
})
