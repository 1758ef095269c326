import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outputOf, PageTools } from './pages.ts'

const origin = 'https://shop.example'
const textOf = (said: string) => outputOf(said, origin).content[0]!['text']

test('a text that a page gives stays as it is, even if it is JSON', () => {
  for (const said of ['1.0', '12345678901234567890', '"quoted"', '1e400', '-0', '[1.0, 2]', 'null', '', '{']) {
    assert.equal(textOf(said), said)
    assert.equal(outputOf(said, origin).structuredContent, undefined, said)
  }
  assert.equal(textOf('{"id": 9007199254740993}'), '{"id": 9007199254740993}')
  assert.equal(textOf('{"a": [1, {"b": "c\u200b"}]}'), '{"a":[1,{"b":"c"}]}')
})

test('hidden text is removed from names of members, too', () => {
  for (const said of ['{"a\u200bb":{"c\u{e0041}":1}}', '{"a\\u200bb":{"c\\udb40\\udc41":1}}']) {
    assert.deepEqual(outputOf(said, origin).structuredContent, { ab: { c: 1 } })
    assert.equal(textOf(said), '{"ab":{"c":1}}')
    assert.deepEqual(outputOf(`{"content":[],"structuredContent":${said}}`, origin).structuredContent, { ab: { c: 1 } })
    assert.equal(textOf(`{"content":[${said}]}`), '{"ab":{"c":1}}')
  }
  const { structuredContent } = outputOf('{"__proto__":{"a":1},"b\u200b":2}', origin)
  assert.deepEqual(Object.entries(structuredContent as object), [['__proto__', { a: 1 }], ['b', 2]])
})

test('a result of very many blocks is one text, and not a block for each', () => {
  const of = (count: number) => outputOf(JSON.stringify({ content: Array(count).fill(0) }), origin)
  assert.equal(of(1000).content.length, 1000)
  const { content, structuredContent } = of(2_000_000)
  assert.equal(content.length, 1)
  assert.equal((structuredContent as { content: number[] }).content.length, 2_000_000)
})

test('at most 50 pages are open at once, also if more are found at the same moment', async () => {
  const event = { addListener() {}, removeListener() {} }
  const tabs = Array.from({ length: 70 }, (_, id) => ({ id, windowId: 1, url: `${origin}/${id}`, status: 'complete' }))
  const list = { supported: true, origin, title: '', tools: [], left: 0 }
  const connect = () => ({
    onDisconnect: event,
    onMessage: { addListener: (hear: (m: unknown) => void) => setImmediate(hear, { type: 'tools', list }) },
  })
  Object.assign(globalThis, {
    chrome: {
      runtime: { getURL: (path: string) => `chrome-extension://x/${path}` },
      permissions: { contains: async () => true },
      scripting: { executeScript: async () => [] },
      tabs: { connect, onUpdated: event, query: async () => tabs, get: async (id: number) => tabs[id] },
    },
  })
  const pages = new PageTools(() => [origin], () => {})
  await pages.follow()
  const [listing] = pages.tools
  await listing!.run({ args: {} } as never)
  assert.equal(pages.view[0]!.tabs.length, 50)
})
