import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitDefaults } from '../shared/wire.gen.ts'
import { readMessages } from '../fetch/messages.ts'
import { JsonFilter, type JsonFilterBounds } from '../fetch/json-filter.ts'
import { Tables } from '../fetch/tables.ts'
import { readTools } from '../fetch/tools.ts'
import { SseScanner } from '../fetch/sse.ts'

// Bytes and values that strangers may write, at random but the same each time.

function random(seed: number): (n: number) => number {
  let x = seed
  return (n) => (x = (x * 48271) % 0x7fffffff) % n
}

const words = [
  'data',
  'data: ',
  'id:',
  'event: message',
  'event: endpoint',
  'retry: 5',
  ':',
  '\n',
  '\n\n',
  '\r',
  '\r\n',
  '\ufeff',
  '\0',
  '{"id":1,"result":{}}',
  'é',
  '\ud800',
  '\xff',
]

function stream(next: (n: number) => number): Uint8Array {
  let text = ''
  for (let i = next(60); i > 0; i--) text += words[next(words.length)]
  const bytes = new TextEncoder().encode(text)
  for (let i = next(4); i > 0 && bytes.length; i--) bytes[next(bytes.length)] = next(256)
  return bytes
}

test('a stream says the same however it is cut, and never breaks the scanner', () => {
  const next = random(1)
  for (let round = 0; round < 5000; round++) {
    const bytes = stream(next), max = 1 + next(200)
    const scan = (chunks: Uint8Array[]) => {
      const seen: unknown[] = []
      const scanner = new SseScanner(max, (name, data) => seen.push([name, data]))
      if (chunks.every((c) => scanner.push(c.slice()))) scanner.end()
      return [seen, scanner.lastId, scanner.retry]
    }
    // Whole, and byte by byte; a limit may be met sooner where a line is not whole yet.
    if (bytes.length <= max)
      assert.deepEqual(scan([...bytes].map((b) => Uint8Array.of(b))), scan([bytes]), `round ${round}`)
    else scan([...bytes].map((b) => Uint8Array.of(b)))
  }
})

const keys = [
  'name',
  'inputSchema',
  'outputSchema',
  'description',
  'properties',
  'enum',
  'items',
  '$ref',
  '__proto__',
  'constructor',
  'tools',
  'nextCursor',
  'ttlMs',
  'id',
  'method',
  'params',
  'result',
  'error',
  'code',
  'message',
  'content',
  'isError',
  'resultType',
  'progressToken',
  'progress',
  'toJSON',
  'length',
]
const scalars = [
  'null',
  'true',
  '0',
  '-1',
  '5',
  '6',
  '1e400',
  '9007199254740993',
  '""',
  '"t"',
  '"\\ud800"',
  '"a\\u0000b"',
  '"notifications/progress"',
  '"ping"',
  '"complete"',
  '"#"',
]

function json(next: (n: number) => number, depth: number): string {
  const many = () => Array.from({ length: next(5) }, () => json(next, depth - 1))
  switch (depth > 0 ? next(4) : 2) {
    case 0:
      return `[${many().join()}]`
    case 1:
      return `{${many().map((v) => `"${keys[next(keys.length)]}":${v}`).join()}}`
    default:
      return scalars[next(scalars.length)]!
  }
}

const bounds = {
  ...limitDefaults,
  definitionBytes: 200,
  depth: 8,
  descriptionBytes: 20,
  schemaDepth: 3,
  schemaNodes: 5,
  enumValues: 3,
  toolsPerServer: 4,
  resultValues: 100,
}

test('no message breaks what sorts it, and what is kept is freed', () => {
  const next = random(2)
  for (let round = 0; round < 20_000; round++) {
    const text = json(next, 6), parsed = JSON.parse(text) as unknown
    const tables = new Tables()
    const kept: number[] = []
    readMessages(
      {
        bounds,
        tables,
        awaits: next(2) ? 5 : 6,
        secrets: () => [],
        spend: () => true,
        emit: (kind, _flags, _a, b) => {
          if (kind === 3 || kind === 4) kept.push(b!)
        },
      },
      parsed,
      text,
    )
    for (const table of kept) tables.release(table)
    assert.equal(tables.size, 0)
  }
  assert.ok(!('polluted' in {}))
})

test('what a list offers is within its bounds', () => {
  const next = random(3)
  let offered = 0
  for (let round = 0; round < 20_000; round++) {
    const text = `{"tools":[${
      Array.from({ length: 6 }, () => (next(3)
        ? `{"name":"t${next(9)}","inputSchema":${json(next, 6)},"description":${json(next, 1)}}`
        : json(next, 4))).join()
    }]}`
    const list = readTools(JSON.parse(text), text.length, text, bounds)
    if (!list) continue
    offered += list.list.names.length
    assert.ok(list.list.names.length <= bounds.toolsPerServer + 1)
    for (const tool of list.list.tools as { name: string; inputSchema: object; description?: string }[]) {
      assert.ok(tool.name && !/[\0-\x1f\ufffd]|\p{Surrogate}/u.test(tool.name))
      assert.ok((tool.description ?? '').length <= bounds.descriptionBytes)
      assert.ok(!/"enum":\[([^[\]{},]*,){3}/.test(JSON.stringify(tool.inputSchema)))
    }
  }
  assert.ok(offered > 1000, `${offered} tools`)
})

/** The value of what a sieve lets through, and the elements that it takes out, from pieces of random sizes. */
function sift(
  text: string,
  bounds: Omit<JsonFilterBounds, 'list'>,
  next: (n: number) => number,
  largest = 20,
): { sieve: JsonFilter; value: unknown; list: unknown[] | undefined } {
  let list: unknown[] | undefined, element = ''
  const sieve = new JsonFilter({
    ...bounds,
    list: {
      begin: () => {
        list = []
      },
      take(bytes, whole) {
        element += Buffer.from(bytes).toString('latin1')
        if (!whole) return
        if (element.trim()) list!.push(JSON.parse(Buffer.from(element, 'latin1').toString()))
        element = ''
      },
      end: () => {},
    },
  })
  const bytes = new TextEncoder().encode(text), kept: Uint8Array[] = []
  for (let at = 0; at < bytes.length;) {
    assert.ok(!sieve.whole)
    const piece = bytes.slice(at, at += 1 + next(largest))
    kept.push(...sieve.push(piece).map((part) => part.slice()))
    piece.fill(0) // its memory is used again
  }
  assert.ok(sieve.whole, text)
  return { sieve, value: JSON.parse(Buffer.concat(kept).toString()), list }
}

test('a sieve knows how crowded and how deep a text is, leaves out what lies too deep, and takes a list apart', () => {
  const next = random(4)
  const count = (v: unknown): number => (typeof v !== 'object' || v === null
    ? 0
    : Object.values(v).reduce((n: number, x) => n + count(x), 1 + Math.max(0, Object.keys(v).length - 1)))
  const depthOf = (
    v: unknown,
  ): number => (typeof v !== 'object' || v === null ? 0 : 1 + Math.max(0, ...Object.values(v).map(depthOf)))
  const sifted = (v: unknown, depth: number, level = 1): unknown => {
    if (typeof v !== 'object' || v === null) return v
    if (level > depth) return Array.isArray(v) ? [] : {}
    if (Array.isArray(v)) return v.map((x) => sifted(x, depth, level + 1))
    return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, sifted(x, depth, level + 1)]))
  }
  let lists = 0
  for (let round = 0; round < 20_000; round++) {
    const space = ['', ' ', '\n'][next(3)]!
    const text = JSON.stringify(
      { id: 5, result: { tools: JSON.parse(json(next, 6)) as unknown, '"\\': JSON.parse(json(next, 6)) as unknown } },
      undefined,
      space,
    )
      .replace('"tools"', ['"tools"', '"t\\u006fols"'][next(2)]!)
    const value = JSON.parse(text) as { result: { tools: unknown } }, depth = 1 + next(8)
    const { sieve, value: kept, list } = sift(text, { depth }, next)
    assert.equal(sieve.deepest, depthOf(value), text)
    if (depth >= 2 && Array.isArray(value.result.tools)) {
      lists++
      assert.deepEqual(list, value.result.tools, text)
      value.result.tools = []
    } else assert.equal(list, undefined)
    assert.equal(sieve.values, count(value), text)
    assert.deepEqual(kept, sifted(value, depth), text)
  }
  assert.ok(lists > 1000)
})

test('a sieve shortens strings that are too long, and they stay strings', () => {
  const next = random(5)
  const letters = ['a', '0', ' ', 'é', '語', '😀', '\\n', '\\"', '\\\\', '\\u00e9', '\\ud83d\\ude00', '\\u0000']
  let shortened = 0
  for (let round = 0; round < 5000; round++) {
    const word = Array.from({ length: next(200) }, () => letters[next(letters.length)]!).join('')
    const text = `{"a":"${word}","b":["${word}",{"${word}":1}]}`
    const { value } = sift(text, { depth: 9, string: 50 }, next) as { value: { a: string; b: [string, object] } }
    const whole = JSON.parse(`"${word}"`) as string
    for (const s of [value.a, value.b[0], Object.keys(value.b[1])[0]!]) {
      assert.ok(whole.startsWith(s), text)
      if (s !== whole) shortened++
      assert.ok(s === whole || s.length >= 8, text) // of which each takes at most six bytes
      assert.ok(new TextEncoder().encode(s).length < 50 + 50, text)
    }
  }
  assert.ok(shortened > 3000, `${shortened} strings`)
})
