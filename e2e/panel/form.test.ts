import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { numberText, toJSON, type Field, type State } from '../../web/panel/form/field.ts'
import { formOf } from '../../web/panel/form/form.ts'
import { problems } from '../../web/panel/form/problems.ts'
import { fromJSON, fromValue, initial } from '../../web/panel/form/state.ts'

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const only = (schema: unknown) => {
  const f = formOf(object({ a: schema }))
  assert.equal(f.kind, 'object')
  return (f as Extract<Field, { kind: 'object' }>).fields[0]!.field
}
const kind = (f: Field): string => f.kind + (f.nullable ? '?' : '')

test('a schema has the widget that loses nothing', () => {
  const rows: [schema: unknown, kind: string][] = [
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string?'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ enum: ['a', 'b'] }, 'choice'],
    [{ const: 5 }, 'choice'],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number?'],
    [{ type: 'array', items: { type: 'string' } }, 'array'],
    [object({ b: {} }), 'object'],
    [{ type: ['string', 'number'] }, 'union'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] }, 'union?'],
    [{ type: 'string', nullable: true }, 'string?'],
    [{ allOf: [{ type: 'string' }], description: 'd' }, 'string'],
    [object({ b: {}, c: {} }, { anyOf: [{ required: ['b'] }, { required: ['c'] }] }), 'object'],
    [{}, 'json'],
    [true, 'json'],
    [{ type: 'object' }, 'json'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'json'],
    [{ type: 'object', patternProperties: { x: {} } }, 'json'],
    [{ allOf: [{}, {}] }, 'json'],
    [{ not: {} }, 'json'],
    [{ type: 'object', if: {}, then: {} }, 'json'],
    [{ type: 'array', prefixItems: [{}] }, 'json'],
    [{ type: 'array', items: [{}] }, 'json'],
    [{ $ref: '#/$defs/none' }, 'json'],
    [{ $ref: 'https://x.example/' }, 'json'],
    [{ type: 'array' }, 'array'],
  ]
  for (const [schema, want] of rows) assert.equal(kind(only(schema)), want, JSON.stringify(schema))
  assert.equal(kind(formOf({ type: 'object' })), 'object')
  assert.equal(kind(formOf({ type: 'object', additionalProperties: true })), 'json')
  assert.equal(kind(formOf(undefined)), 'json')
})

test('an alternative without a title is named by its constants, with a mark that no language owns', () => {
  const one = (kind: string) => object({ kind: { const: kind }, size: { const: 1 }, name: { type: 'string' } })
  const field = only({ oneOf: [one('car'), one('ship')] })
  assert.deepEqual(field.kind === 'union' && field.options.map((o) => o.label), ['car · 1', 'ship · 1'])
})

test('members of any name are joined', () => {
  const odd = JSON.parse('{"__proto__":{"type":"string"}}') as object
  const form = formOf({ type: 'object', allOf: [{ properties: odd }], properties: { a: { type: 'string' } } })
  assert.deepEqual(form.kind === 'object' && form.fields.map((f) => f.name), ['__proto__', 'a'])
})

test('references are followed, and cut where they come back', () => {
  const schema = object({ point: { $ref: '#/$defs/point', description: 'Where' }, tree: { $ref: '#/$defs/tree' } }, {
    $defs: {
      point: object({ x: { type: 'number' } }),
      tree: object({ name: { type: 'string' }, inner: { $ref: '#/$defs/tree' } }),
    },
  })
  const f = formOf(schema) as Extract<Field, { kind: 'object' }>
  assert.deepEqual(f.fields.map(({ field }) => kind(field)), ['object', 'object'])
  assert.equal(f.fields[0]!.field.description, 'Where')
  assert.equal(kind((f.fields[1]!.field as typeof f).fields[1]!.field), 'json')
  assert.equal(kind(formOf({ $ref: '#' })), 'json')
  let deep: unknown = { type: 'string' }
  for (let i = 0; i < 5000; i++) deep = object({ a: deep })
  assert.equal(kind(formOf(deep)), 'object')
  assert.equal(
    kind(formOf(object(Object.fromEntries(Array.from({ length: 300 }, (_, i) => ['f' + i, { type: 'string' }]))))),
    'json',
  )
  const wide = { $defs: {} as Record<string, unknown>, $ref: '#/$defs/d0' }
  for (let i = 0; i < 30; i++)
    wide.$defs['d' + i] = object({ a: { $ref: '#/$defs/d' + (i + 1) }, b: { $ref: '#/$defs/d' + (i + 1) } })
  const begun = process.cpuUsage()
  formOf(wide)
  assert.ok(process.cpuUsage(begun).user / 1000 < 200)
})

test('a fresh form has its defaults, and what there is no choice about', () => {
  const f = formOf(
    object({
      city: { type: 'string' },
      days: { type: 'integer', default: 3 },
      kind: { const: 'w' },
      on: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
      odd: { type: 'number', default: 'x' },
    }, { required: ['city', 'kind', 'on', 'tags'] }),
  )
  assert.deepEqual(JSON.parse(toJSON(f, initial(f))!), { days: 3, kind: 'w', on: false, tags: [] })
  assert.deepEqual(problems(f, initial(f)).map((p) => `${p.path} ${p.code}`), ['/city required', '/tags/0 required'])
})

test('problems by code', () => {
  const rows: [schema: unknown, state: State, code: string][] = [
    [{ type: 'integer' }, '1.5', 'not_whole'],
    [{ type: 'number' }, 'x', 'not_a_number'],
    [{ type: 'number', minimum: 2 }, '1', 'min'],
    [{ type: 'number', maximum: 2 }, '3', 'max'],
    [{ type: 'number', exclusiveMinimum: 2 }, '2', 'above'],
    [{ type: 'number', exclusiveMaximum: 2 }, '2', 'below'],
    [{ type: 'number', multipleOf: 0.1 }, '0.25', 'multiple_of'],
    [{ type: 'string', minLength: 2 }, '😀', 'min_length'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'max_length'],
    [{ type: 'string', format: 'email' }, 'x', 'format'],
    [{ type: 'string', format: 'date' }, '2026-13-01', 'format'],
    [{}, '{', 'not_json'],
    [{ type: 'array', items: {}, minItems: 2 }, ['1'], 'min_items'],
    [{ type: 'array', items: {}, maxItems: 0 }, ['1'], 'max_items'],
    [{ type: 'array', items: { type: 'string' }, uniqueItems: true }, ['a', 'a'], 'not_unique'],
    [{ enum: ['a'] }, 7, 'required'],
  ]
  for (const [schema, state, code] of rows)
    assert.deepEqual(problems(only(schema), state).map((p) => p.code), [code], JSON.stringify(schema))
  for (
    const [schema, state] of [
      [{ type: 'number', multipleOf: 0.1 }, '0.3'],
      [{ type: 'number', multipleOf: 0.1 }, '98765432.1'],
      [{ type: 'string', format: 'date-time' }, '2026-11-21T10:00:00Z'],
      [{ type: 'string', pattern: '^(a+)+$' }, 'a'.repeat(40) + '!'],
      [{ type: 'integer' }, '1e3'],
    ] as const
  ) {
    assert.deepEqual(problems(only(schema), state), [])
  }
})

test('numbers keep their digits, or the form says that it cannot show them', () => {
  const f = formOf(object({ n: { type: 'integer' } }))
  assert.equal(toJSON(f, { n: '12345678901234567890' }), '{\n  "n": 12345678901234567890\n}')
  for (
    const text of [
      '{"n": 12345678901234567890}',
      '{"n": 9007199254740993}',
      '{"n": 1e400}',
      '{"n": 0.12345678901234567}',
    ]
  ) assert.deepEqual(fromJSON(f, text), { reason: 'big_number' })
  assert.deepEqual(fromJSON(f, '{"n": 9007199254740991}'), { state: { n: '9007199254740991' } })
  assert.deepEqual(fromJSON(formOf(object({ s: { type: 'string' } })), '{"s": "12345678901234567890"}'), {
    state: { s: '12345678901234567890' },
  })
  const long = `\\"${'1'.repeat(2e7)}`
  assert.deepEqual(fromJSON(formOf(object({ s: { type: 'string' } })), JSON.stringify({ s: long })), {
    state: { s: long },
  })
  for (
    const [typed, written] of [
      ['+5', '5'],
      ['.5', '0.5'],
      ['05', '5'],
      ['', undefined],
      ['0x10', undefined],
      ['1e999', '1e999'],
      ['-0', '-0'],
      ['٣', undefined],
    ] as const
  ) assert.equal(numberText(typed), written)
})

test('what a form has no place for is not shown in it', () => {
  const f = formOf(
    object({
      a: { type: 'string' },
      u: {
        oneOf: [
          object({ kind: { const: 'x' }, v: { type: 'string' } }, { required: ['kind'] }),
          object({ kind: { const: 'y' } }, { required: ['kind'] }),
        ],
      },
    }),
  )
  assert.deepEqual(fromJSON(f, '{"a":"1","b":2}'), { reason: 'unknown_member' })
  assert.deepEqual(fromJSON(f, '{"a":1}'), { reason: 'type' })
  assert.deepEqual(fromJSON(f, '{"u":{"kind":"z"}}'), { reason: 'no_option' })
  assert.deepEqual(fromJSON(f, '{"u":{"kind":"y"}}'), { state: { a: undefined, u: { option: 1, state: { kind: 0 } } } })
  assert.deepEqual(fromJSON(f, '{'), { reason: 'json' })
  const proto = formOf(object(JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"number"}}')))
  const text = '{"__proto__":"x","constructor":1}'
  const held = fromJSON(proto, text)
  assert.ok('state' in held)
  assert.equal(toJSON(proto, held.state)!.replace(/\s/g, ''), text)
})

let seed = 20261121
const below = (n: number) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % n
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
const words = ['a', 'b', 'ä"\\\n', '__proto__', 'x/y~z', '', '12345678901234567890']

function randomSchema(depth: number): unknown {
  const leaf = [
    { type: 'string' },
    { type: 'integer' },
    { type: 'number', minimum: -5 },
    { type: 'boolean' },
    { enum: ['a', 1, null, { b: [1] }] },
    { const: 'k' },
    { type: ['string', 'null'] },
    {},
    { type: 'object' },
  ]
  if (!depth || below(3) === 0) return pick(leaf)
  const inner = () => randomSchema(depth - 1)
  switch (below(5)) {
    case 0:
      return { type: 'array', items: inner() }
    case 1:
      return { anyOf: [inner(), inner(), { type: 'null' }] }
    case 2:
      return {
        oneOf: [
          object({ kind: { const: 'x' }, v: inner() }, { required: ['kind'] }),
          object({ kind: { const: 'y' } }, { required: ['kind'] }),
        ],
      }
    case 3:
      return { allOf: [inner()], title: 't' }
    default:
      return object(Object.fromEntries(Array.from({ length: below(4) }, () => [pick(words), inner()])), {
        required: [pick(words)],
      })
  }
}

function randomValue(depth: number): unknown {
  const leaf = [...words, 0, -1.5, 1e21, 7, true, false, null]
  if (!depth || below(2)) return pick(leaf)
  if (below(2)) return Array.from({ length: below(3) }, () => randomValue(depth - 1))
  return Object.fromEntries(
    Array.from(
      { length: below(4) },
      () => [pick([...words, 'kind', 'v']), below(4) ? randomValue(depth - 1) : pick(['x', 'y', 'k'])],
    ),
  )
}

function randomState(f: Field): State {
  if (!f.required && below(3) === 0) return undefined
  if (f.nullable && below(3) === 0) return null
  switch (f.kind) {
    case 'string':
      return pick(words)
    case 'number':
      return pick(['0', '-1.5', '7', '1e21'])
    case 'boolean':
      return below(2) === 0
    case 'choice':
      return below(f.options.length)
    case 'json':
      return JSON.stringify(randomValue(2), null, below(3))
    case 'array':
      return Array.from({ length: below(3) }, () => randomState(f.item))
    case 'union': {
      const option = below(f.options.length)
      return { option, state: randomState(f.options[option]!.field) }
    }
    case 'object':
      return Object.fromEntries(f.fields.map(({ name, field }) => [name, randomState(field)]))
  }
}

test('from state to JSON and back is the same JSON; from a value to state and back, the same value', () => {
  let held = 0
  for (let i = 0; i < 20_000; i++) {
    const schema = randomSchema(3)
    const f = formOf(schema)
    const text = toJSON(f, randomState(f))
    if (text !== undefined) {
      const back = fromJSON(f, text)
      if (!('state' in back))
        assert.fail(`${JSON.stringify(schema)} does not hold ${text}: ${back.reason}`)
      assert.deepEqual(JSON.parse(toJSON(f, back.state)!), JSON.parse(text))
      problems(f, back.state)
    }
    const value = randomValue(3)
    const h = fromValue(f, value)
    if (!('state' in h)) continue
    held++
    assert.deepEqual(JSON.parse(toJSON(f, h.state)!), JSON.parse(JSON.stringify(value)), JSON.stringify(schema))
  }
  assert.ok(held > 2000, String(held))
})

test('the forms of tools that others wrote', () => {
  const kinds = new Map<string, number>()
  for (const server of ['everything', 'filesystem', 'memory', 'mongodb', 'notion', 'playwright', 'nasty']) {
    for (
      const { inputSchema } of JSON.parse(
        readFileSync(new URL(`../../testdata/convert/${server}.tools.json`, import.meta.url), 'utf8'),
      ) as { inputSchema: unknown }[]
    ) {
      const f = formOf(inputSchema)
      toJSON(f, initial(f))
      problems(f, initial(f))
      if (server !== 'nasty') kinds.set(kind(f), (kinds.get(kind(f)) ?? 0) + 1)
    }
  }
  assert.deepEqual([...kinds.keys()], ['object'], JSON.stringify([...kinds]))
})

test('a form has a bounded number of items, whatever its schema asks for', () => {
  const size = (s: State): number =>
    typeof s === 'object' && s ? Object.values(s).reduce<number>((n, v) => n + size(v), 1) : 1
  let lists: object = { type: 'string' }
  for (let depth = 0; depth < 8; depth++) lists = { type: 'array', minItems: 100, items: lists }
  assert.ok(size(initial(formOf(object({ a: lists }, { required: ['a'] })))) < 1000)
  const members = object(Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`m${i}`, { type: 'boolean' }])))
  assert.ok(
    size(initial(formOf(object({ a: { type: 'array', minItems: 100, items: members } }, { required: ['a'] })))) < 1000,
  )
  const long = Array.from({ length: 100_000 }, (_, i) => i)
  assert.equal(initial(only({ type: 'array', items: { type: 'integer' }, default: long })), undefined)
  assert.deepEqual(initial(only({ type: 'array', items: { type: 'integer' }, default: [1, 2] })), ['1', '2'])
})
