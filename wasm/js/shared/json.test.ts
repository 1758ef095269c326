import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementTexts, exactText, extentOf, legible, mayLoseDigits, memberText } from './json.ts'

test('memberText gives the text of a member', () => {
  for (
    const [text, key, want] of [
      ['{"a":1}', 'a', '1'],
      ['{"a":1}', 'b', undefined],
      ['{}', 'a', undefined],
      [' { "x" : [1,{"a":2}] , "a" : {"b":"}\\"]"} } ', 'a', '{"b":"}\\"]"}'],
      ['{"a":"\\\\","b":12345678901234567890}', 'b', '12345678901234567890'],
      ['{"a":1,"a":[2]}', 'a', '[2]'],
      ['{"\\u0061":true}', 'a', 'true'],
      ['{"a":null\n}', 'a', 'null'],
    ] as const
  ) {
    assert.equal(memberText(text, key), want, text)
  }
})

test('elementTexts splits an array', () => {
  for (const text of ['[]', ' [ ] ', '[1]', '[1, "a,]" , {"b":[1,2]},[],null ]', '["\\\\","\\""]']) {
    const parsed = JSON.parse(text) as unknown[]
    assert.deepEqual(elementTexts(text).map((part) => JSON.parse(part) as unknown), parsed, text)
  }
})

test('both agree with JSON.parse on random values', () => {
  let seed = 7
  const random = (n: number) => (seed = (seed * 48271) % 0x7fffffff) % n
  const value = (depth: number): unknown => {
    switch (random(depth > 0 ? 7 : 5)) {
      case 0:
        return random(1e6) - 5e5
      case 1:
        return ['', 'a"b', '\\', '{[,]}', '\u2028é'][random(5)]
      case 2:
        return random(2) === 0
      case 3:
        return null
      case 4:
        return random(100) / 7
      case 5:
        return Array.from({ length: random(4) }, () => value(depth - 1))
      default:
        return Object.fromEntries(
          Array.from({ length: random(4) }, () => [['k', '"', '\\', ''][random(4)]!, value(depth - 1)]),
        )
    }
  }
  for (let i = 0; i < 2000; i++) {
    const object = { a: value(4), list: [value(3), value(3)], z: value(2) }
    const text = JSON.stringify(object, null, random(3))
    for (const key of ['a', 'list', 'z'] as const) assert.deepEqual(JSON.parse(memberText(text, key)!), object[key])
    assert.deepEqual(elementTexts(memberText(text, 'list')!).map((t) => JSON.parse(t) as unknown), object.list)
  }
})

test('extentOf is close to the length of the text, and bounded in depth', () => {
  const tool = { name: 'a', inputSchema: { type: 'object', properties: { x: { type: 'string', enum: ['a', 'b'] } } } }
  const size = JSON.stringify(tool).length
  assert.ok(Math.abs(extentOf(tool, 10)!.size - size) < size * 0.2)
  assert.equal(extentOf(tool, 3), undefined)
  assert.equal(extentOf(tool, 5)!.levels, 5)
  assert.equal(extentOf(tool, 5)!.longest, 2)
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = [deep]
  assert.equal(extentOf(deep, 128), undefined)
})

test('mayLoseDigits says yes where a double rounds', () => {
  for (const n of ['9007199254740993', '-12345678901234567890', '1.2345678901234567890'])
    assert.ok(mayLoseDigits(`{"n":${n}}`), n)
  assert.ok(!mayLoseDigits('{"n":900719925474099,"m":1.5}'))
})

test('legible keeps the digits of integers that a double cannot hold, and nothing else changes', () => {
  const text = String.raw`{"id":9007199254740993,"s":"9007199254740993 \" -9007199254740993","f":0.1234567890123456789,
"safe":1234567890123456,"many":[-12345678901234567890,1e30],"9007199254740993":0}`
  const { id, many, ...rest } = legible(text) as Record<string, unknown>
  assert.deepEqual([id, many], ['9007199254740993', ['-12345678901234567890', 1e30]])
  const { id: _, many: __, ...same } = JSON.parse(text) as Record<string, unknown>
  assert.deepEqual(rest, same)
  assert.equal((legible(JSON.stringify({ n: '1'.repeat(2e7) })) as { n: string }).n.length, 2e7)
  assert.deepEqual(legible(`["${'\\n'.repeat(5e6)}", ${'9'.repeat(16)}]`), ['\n'.repeat(5e6), '9'.repeat(16)])
  assert.throws(() => legible(`["${'9'.repeat(16)}`), SyntaxError)
})

test('a value is written once to be compared with many texts', () => {
  const digits = '12345678901234567890'
  let written = 0
  const value = {
    toJSON: () => {
      written++
      return [1]
    },
  }
  assert.equal(exactText(value, Array<string>(100).fill(digits)), undefined)
  assert.equal(exactText({ a: 1e19 }, ['x', digits, '{"a":10000000000000000001}']), '{"a":10000000000000000001}')
  assert.equal(written, 1)
})
