import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTools, secretsOf } from './tools.ts'

const bounds = {
  definitionBytes: 1000,
  depth: 20,
  descriptionBytes: 200,
  schemaDepth: 32,
  schemaNodes: 64,
  enumValues: 96,
  toolsPerServer: 1000,
}
const schema = { type: 'object' }
const read = (result: Record<string, unknown>, text: string | undefined = JSON.stringify(result)) => {
  const list = readTools(result, JSON.stringify(result).length, text, bounds)
  return list && { tools: list.list.tools, places: list.list.places, names: list.names, extra: list.extra(result) }
}

test('bad tools are left out with a reason, the others stay', () => {
  let deep: unknown = {}
  for (let i = 0; i < 30; i++) deep = { a: deep }
  const good = { name: 'größe 1', inputSchema: schema, future: [1] }
  const list = read({
    tools: [
      null,
      7,
      [],
      'x',
      { inputSchema: schema },
      { name: '', inputSchema: schema },
      { name: 1, inputSchema: schema },
      { name: 'a\nb', inputSchema: schema },
      { name: 'a\u007f', inputSchema: schema },
      { name: 'a\ud800', inputSchema: schema },
      { name: 'é'.repeat(129), inputSchema: schema },
      { name: 'n' },
      { name: 'n', inputSchema: [] },
      { name: 'n', inputSchema: true },
      { name: 'n', inputSchema: deep },
      { name: 'n', description: 'd'.repeat(1001), inputSchema: schema },
      { name: 'n', description: {}, inputSchema: schema },
      good,
    ],
  })!
  assert.deepEqual(list.tools, [good])
  assert.deepEqual(list.places, [17])
  assert.equal(list.names, 'größe 1')
  const extra = JSON.parse(list.extra) as { drops: [string, string][] }
  assert.equal(extra.drops.length, 17)
  assert.ok(extra.drops.every(([name, reason]) => reason !== '' && name.length <= 256))
})

test('what is not in every answer goes into extra', () => {
  assert.equal(read({ tools: [] })!.extra, '')
  assert.deepEqual(JSON.parse(read({ tools: [], nextCursor: '', ttlMs: 5 })!.extra), { next: '', ttl: 5 })
  const annotated = { name: 'a', inputSchema: { properties: { x: { type: 'string', 'x-mcp-header': 'X' } } } }
  assert.deepEqual(JSON.parse(read({ tools: [null, annotated] })!.extra).headers, [0])
  assert.equal(read({ tools: {} }), undefined)
  assert.equal(read({}), undefined)
})

test('drops are bounded', () => {
  const list = read({ tools: Array.from({ length: 5000 }, () => null) })!
  assert.equal((JSON.parse(list.extra) as { drops: unknown[] }).drops.length, 1000)
})

test('schemas have budgets, in the words that Go has', () => {
  const small = { ...bounds, schemaDepth: 3, schemaNodes: 6, enumValues: 2 }
  const why = (inputSchema: unknown) => {
    const list = readTools({ tools: [{ name: 'n', inputSchema }] }, 1, '', small)!
    return list.list.names.length ? '' : (JSON.parse(list.extra({})) as { drops: [string, string][] }).drops[0]![1]
  }
  const empty = (n: number) => Array.from({ length: n }, () => ({}))
  assert.equal(why({ properties: { a: { properties: { b: { type: 'string' } } } } }), '')
  assert.equal(
    why({ properties: { a: { properties: { b: { items: {} } } } } }),
    'inputSchema is nested deeper than 3 schemas',
  )
  assert.equal(why({ properties: { properties: { type: 'string' }, enum: { type: 'string' } } }), '')
  assert.equal(why({ anyOf: empty(5) }), '')
  assert.equal(why({ anyOf: empty(6) }), 'inputSchema has more than 6 schemas')
  assert.equal(why({ enum: [1, 2] }), '')
  assert.equal(
    why({ properties: { enum: { enum: [null, null, null] } } }),
    'inputSchema has an enum of more than 2 values',
  )
  assert.equal(why({ $defs: { ...empty(5) } }), '')
  assert.equal(why({ $defs: { ...empty(6) } }), 'inputSchema has more than 6 schemas')
})

test('hidden characters are found raw and escaped', () => {
  const tool = { name: 'n', description: 'a\u200bb\u0001c\rd', inputSchema: schema }
  const raw = JSON.stringify({ tools: [tool] })
  const escaped = raw.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  for (const text of [raw, escaped, undefined]) {
    const { tools } = read(JSON.parse(raw) as typeof schema, text)!
    assert.equal((tools as { description: string }[])[0]!.description, 'abc\nd')
  }
  for (const description of ['a\u200bb', 'a\bb', 'a\fb', 'a\rb']) {
    const { tools } = read({ tools: [{ ...tool, description }] })!
    assert.notEqual((tools as { description: string }[])[0]!.description, description)
  }
})

test('secrets of the request are taken out of definitions', () => {
  const secrets = secretsOf([['Authorization', 'Bearer s3cr3t/t0ken'], ['X-Short', 'docs'], [
    'Accept',
    'application/json',
  ]])
  const wire = (description: string, more = {}) =>
    JSON.stringify({ tools: [{ name: 'n', description, inputSchema: schema, ...more }] })
  const shown = (text: string) => {
    const { tools: { list } } = { tools: readTools(JSON.parse(text), text.length, text, bounds, secrets)! }
    return { description: (list.tools![0] as { description: string }).description, sent: list.sent.has(0) }
  }
  assert.deepEqual(shown(wire('docs of application/json')), { description: 'docs of application/json', sent: false })
  for (
    const [text, want] of [
      [wire('see s3cr3t/t0ken.'), 'see [redacted].'],
      [wire('see Bearer s3cr3t/t0ken.'), 'see [redacted].'],
      [wire('see s3cr3t%2Ft0ken.'), 'see [redacted].'],
      [wire(`see ${btoa('s3cr3t/t0ken').replace(/=+$/, '')}.`), 'see [redacted].'],
      [wire('see s3cr3t\u200b/t0ken.'), 'see [redacted].'],
      [wire('see s3cr3t/t0ken.').replace('s3cr3t/', 's3cr3t\\/'), 'see [redacted].'],
      [wire('see s3cr3t/t0ken.').replace('s3cr3t', 's3c\\u00723t'), 'see [redacted].'],
    ] as const
  ) assert.deepEqual(shown(text), { description: want, sent: true }, text)
  const both = secretsOf([['X-Account', 'acme-corp'], ['X-Key', 'acme-corp-9f8a7b6c']])
  const text = wire('see acme-corp-9f8a7b6c of acme-corp.')
  const { list: { tools } } = readTools(JSON.parse(text), text.length, text, bounds, both)!
  assert.equal((tools![0] as { description: string }).description, 'see [redacted] of [redacted].')
  const named = JSON.stringify({ tools: [{ name: 's3cr3t/t0ken', inputSchema: schema }] })
  const list = readTools(JSON.parse(named), named.length, named, bounds, secrets)!
  assert.deepEqual(list.list.names, [])
  assert.equal(list.extra({}), '{"drops":[["","the name repeats a secret"]]}')
})

test('a long description is cut, and its tool stays', () => {
  const cut = (description: string) =>
    (read({ tools: [{ name: 'n', description, inputSchema: schema }] })!
      .tools![0] as { description: string }).description
  assert.equal(cut('x'.repeat(200)), 'x'.repeat(200))
  assert.equal(cut('x'.repeat(201)), `${'x'.repeat(191)}… (cut)`)
  assert.equal(cut('é'.repeat(101)), `${'é'.repeat(95)}… (cut)`)
})
