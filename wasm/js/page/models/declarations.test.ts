import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JSONSchema, ToolDefinition, ToolInfo } from '../../shared/types.ts'
import { declarations, pathOf } from './declarations.ts'

// The declarations are compiled by the real compiler, each with a program that uses them.

const tool = (definition: Partial<ToolDefinition>, server = 'demo'): ToolInfo => {
  const name = definition.name ?? 't'
  return { name: `${server}__${name}`, server, tool: name, definition: { inputSchema: {}, ...definition, name } }
}

const args = (inputSchema: JSONSchema, more: Partial<ToolDefinition> = {}) =>
  declarations([tool({ inputSchema, ...more })])

/** The complaints of the compiler about programs, each after declarations. */
function complaints(programs: { declared: string; code?: string }[]): string[][] {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-declarations-'))
  try {
    programs.forEach(({ declared, code = '' }, i) =>
      writeFileSync(join(dir, `p${i}.ts`), `${declared}${code}\nexport {}\n`)
    )
    const names = programs.map((_, i) => `p${i}.ts`)
    let said = ''
    try {
      const tsc = new URL('../../../../node_modules/.bin/tsc', import.meta.url).pathname
      const options = [
        '--noEmit',
        '--pretty',
        'false',
        '--strict',
        '--target',
        'es2022',
        '--module',
        'esnext',
        '--types',
        '',
        '--lib',
        'es2022',
      ]
      execFileSync(tsc, [...options, ...names], { cwd: dir, encoding: 'utf8', timeout: 60_000 })
    } catch (e) {
      said = (e as { stdout: string }).stdout
      if (!said) throw e
    }
    const lines = said.split('\n').filter((line) => /error TS/.test(line))
    return names.map((name) => lines.filter((line) => line.startsWith(name)))
  } finally {
    rmSync(dir, { recursive: true })
  }
}

const person = {
  type: 'object',
  required: ['name', 'tags'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'As it is written.' },
    age: { type: ['integer', 'null'] },
    tags: { type: 'array', items: { enum: ['a', 'b', 3, null] } },
    pair: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    parent: { $ref: '#/$defs/person' },
    note: { type: 'string', nullable: true },
    shape: { oneOf: [{ const: 'dot' }, { type: 'object', required: ['r'], properties: { r: { type: 'number' } } }] },
    counts: { type: 'object', additionalProperties: { type: 'number' } },
    both: {
      allOf: [{ properties: { x: { type: 'string' } } }, { required: ['y'], properties: { y: { type: 'boolean' } } }],
    },
  },
  additionalProperties: false,
  $defs: { person: { type: 'object', properties: { next: { $ref: '#/$defs/person' }, id: { type: 'integer' } } } },
}

test('schemas become types that the compiler holds a program to', () => {
  const declared = args(person, {
    outputSchema: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
  })
  const good = `const { id } = await tools.demo.t({ name: 'x', tags: ['a', 3, null], age: null, pair: ['a', 1],
    parent: { id: 1, next: { anything: 1 } }, note: null, shape: { r: 1 }, counts: { a: 1 }, both: { x: '', y: true } })
    const n: number = id`
  const bad = [
    '{}',
    '{ name: 1, tags: [] }',
    "{ name: '', tags: ['c'] }",
    "{ name: '', tags: [], age: 'x' }",
    "{ name: '', tags: [], pair: [1, 'a'] }",
    "{ name: '', tags: [], shape: 'line' }",
    "{ name: '', tags: [], both: {} }",
    "{ name: '', tags: [], counts: { a: '' } }",
    "{ name: '', tags: [], other: 1 }",
    "{ name: '', tags: [], parent: { id: '' } }",
  ]
  const [first, ...others] = complaints([
    { declared, code: good },
    ...bad.map((text) => ({ declared, code: `await tools.demo.t(${text})` })),
    { declared, code: `const n: string = (await tools.demo.t({ name: '', tags: [] })).id` },
  ])
  assert.deepEqual(first, [])
  others.forEach((found, i) => assert.ok(found.length, `${bad[i] ?? 'a wrong result'} compiles`))
})

test('tools of real servers are declared as TypeScript', () => {
  const data = new URL('../../../../testdata/convert/', import.meta.url)
  const files = readdirSync(data).filter((name) => name.endsWith('.tools.json'))
  const programs = files.flatMap((file) => {
    const tools = (JSON.parse(readFileSync(new URL(file, data), 'utf8')) as ToolDefinition[]).map((d) => tool(d, file))
    const half = Math.ceil(tools.length / 2)
    return [tools.slice(0, half), tools.slice(half)].map((some) => ({ declared: declarations(some) }))
  })
  assert.ok(programs.length > 4)
  complaints(programs).forEach((found, i) => assert.deepEqual(found, [], programs[i]!.declared))
})

test('names and texts of a hostile server end no comment and no string', () => {
  const evil = [
    '*/ } evil()',
    '"] ; evil() //',
    '`${evil()}`',
    '\u2028evil()\u2029',
    'a\u202eb\u200b',
    '\\',
    '__proto__',
    'new',
    'constructor',
    '',
  ]
  const schemas = evil.map((name) => ({
    type: 'object',
    description: name,
    required: [name],
    properties: JSON.parse(
      `{ ${JSON.stringify(name)}: { "description": ${JSON.stringify(name)}, "default": ${
        JSON.stringify(name)
      }, "pattern": ${JSON.stringify(name)} } }`,
    ),
    allOf: [{ $ref: `#/${name}` }, { enum: [name, { [name]: name }] }, { const: name }],
  }))
  const tools = evil.flatMap((name, i) => [
    tool({ name, description: `line\n${name}\n/`, inputSchema: schemas[i]!, outputSchema: schemas[i]! }, name),
    tool({ name: `${name}2`, title: name, description: name, inputSchema: {} }, name),
  ])
  const programs = tools.map((t) => ({ declared: declarations([t]), code: `void ${pathOf(t.server, t.tool)}` }))
  complaints(programs).forEach((found, i) => assert.deepEqual(found, [], programs[i]!.declared))
  for (const { declared } of programs) {
    assert.ok(!/[\u2028\u2029\u202e\u200b]/.test(declared), 'hidden characters are shown')
    assert.ok(declared.split('\n').every((line) => !/^\s*evil/.test(line)), declared)
  }
})

test('schemas that are no schemas, or are endless, are bounded', () => {
  const deep = (n: number): object => n ? { type: 'object', properties: { a: deep(n - 1), b: deep(n - 1) } } : {}
  let nested: object = {}
  for (let i = 0; i < 5000; i++) nested = { type: 'array', items: nested }
  const all = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [`property_${i}`, { type: 'string', description: 'long '.repeat(100) }]),
  )
  const fork = {
    $defs: {
      a: { properties: Object.fromEntries([...'abcdefgh'].map((k) => [k, { $ref: '#/$defs/b' }])) },
      b: { properties: Object.fromEntries([...'abcdefgh'].map((k) => [k, { $ref: '#/$defs/a' }])) },
    },
    $ref: '#/$defs/a',
  }
  const schemas: unknown[] = [
    deep(14),
    nested,
    { properties: all },
    fork,
    { $ref: '#' },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
    { $ref: 'https://x.example/' },
    { $ref: 7 },
    { enum: Array.from({ length: 9999 }, (_, i) => `value ${i}`) },
    { enum: [] },
    { const: { a: [1] } },
    { enum: [1e999, -0, 1.5] },
    { type: 7, properties: [], required: 'x', items: 3, oneOf: {}, allOf: [], anyOf: [7, null] },
    { type: ['string', 'nonsense'] },
    { oneOf: Array.from({ length: 500 }, (_, i) => ({ const: i })) },
    { prefixItems: Array.from({ length: 500 }, () => ({})) },
    true,
    false,
    null,
    undefined,
    7,
    'x',
    [],
  ]
  const programs = schemas.map((s) => ({
    declared: declarations([tool({ inputSchema: s as never, outputSchema: s as never })]),
  }))
  complaints(programs).forEach((found, i) => assert.deepEqual(found, [], programs[i]!.declared.slice(0, 2000)))
  for (const { declared } of programs) assert.ok(declared.length < 9000, `${declared.length} characters`)
})

test('a large part that references lead to again and again is read a few times only', () => {
  let reads = 0
  /** An object that counts how often it is read. */
  const counted = (schema: object) => new Proxy(schema, { get: (o, k) => (reads++, Reflect.get(o, k)) })
  const large = Array.from({ length: 20_000 }, (_, i) => `r${i}`)
  const parts: Record<string, object> = {
    required: counted({ required: counted(large) }),
    names: { properties: counted({ ['x'.repeat(1e5)]: counted({}) }) },
    default: { properties: { a: counted({ default: counted(large) }) } },
    types: counted({ type: counted(large) }),
    reference: counted({ $ref: `#/${'a/'.repeat(1e5)}` }),
  }
  for (const [name, one] of Object.entries(parts)) {
    const names = Array.from({ length: 100 }, (_, i) => `p${i}`)
    const $defs = Object.fromEntries(names.map((n) => [n, { $ref: '#/$defs/one' }]))
    const properties = Object.fromEntries(names.map((n) => [n, { $ref: `#/$defs/${n}` }]))
    reads = 0
    declarations([tool({ inputSchema: { properties, $defs: { ...$defs, one } } as never })])
    assert.ok(reads < 120_000, `${name}: ${reads}`)
  }
})

test('many tools are declared as far as they fit, and the others are counted', () => {
  const inputSchema = {
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`p${i}`, { type: 'string', description: 'x'.repeat(100) }]),
    ),
  }
  const text = declarations(Array.from({ length: 20 }, (_, i) => tool({ name: `t${i}`, inputSchema })))
  const declared = text.match(/^ {4}t\d+\(/gm)!.length
  assert.ok(new TextEncoder().encode(text).length < 33 << 10)
  assert.ok(declared > 2 && text.includes(`// ${20 - declared} more fit`))
})

test('code reaches a tool under the path that is declared', () => {
  assert.equal(pathOf('a', 'b'), 'tools.a.b')
  assert.equal(pathOf('my-server', 'say "hi"'), 'tools["my-server"]["say \\"hi\\""]')
})
