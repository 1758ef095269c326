import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolCall, ToolOutput } from '../tools/tool.ts'
import { LargeResults } from './results.ts'

/** The bounds of the module: `maxResult` of toolserver/server.go, and the levels of bridge/socket/limits.go. */
const most = (2 << 20) - (4 << 10)
const mostLevels = 64

const levels = (v: unknown): number =>
  typeof v === 'object' && v !== null ? 1 + Math.max(0, ...Object.values(v).map(levels)) : 0
const nested = (n: number): object => (n ? { inner: nested(n - 1) } : {})

const wide = '海'.repeat(1_000_000)
const image = (length: number) => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(length) })
const link = (n: number) => ({ type: 'resource_link', uri: `file:///harbour/${n}`, name: 'a chart of the harbour' })
const many = <T>(length: number, make: (n: number) => T) => Array.from({ length }, (_, n) => make(n))
const page = (uri: string, text: string) => ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text } })

const outputs: Record<string, [output: ToolOutput, hasSchema?: boolean]> = {
  'a page of another writing': [{ content: [page('file:///a', 'begins'), page('file:///b', wide)] }],
  'many links': [{ content: [{ type: 'text', text: 'They are:' }, ...many(40_000, link)] }],
  'many small images': [{ content: many(60_000, () => image(4)) }],
  'many empty texts': [{ content: many(200_000, () => ({ type: 'text', text: '' })) }],
  'structured content of another writing': [{ content: [], structuredContent: { wide } }, true],
  'text, images and structured content': [{
    content: [{ type: 'text', text: '海'.repeat(250_000) }, image(1_000_000)],
    structuredContent: { text: 'x'.repeat(1_000_000) },
  }, true],
  'structured content of many levels': [{ content: [], structuredContent: nested(100) }, true],
  'a block of many levels': [{ content: [{ ...link(1), annotations: nested(100) }] }],
  'much beside the result': [{ content: [], _meta: { 'portolan/server': 's', more: wide } }],
  'many levels beside the result': [{ content: [], _meta: { 'portolan/server': 's', more: nested(100) } }],
}

for (const [what, [output, hasSchema = false]] of Object.entries(outputs)) {
  test(`S11: a result is not refused after its tool has run: ${what}`, async () => {
    const results = new LargeResults()
    const fit = results.fit(output, 'k', hasSchema)
    assert.ok(Buffer.byteLength(JSON.stringify(fit)) <= most, `${Buffer.byteLength(JSON.stringify(fit))} bytes`)
    assert.ok(levels({ result: fit }) <= mostLevels, `${levels(fit)} levels`)
    assert.equal(fit._meta?.['portolan/server'], output._meta?.['portolan/server'])
  })
}

/** Reads a kept text to its end. */
async function whole(results: LargeResults, handle: string, part = 'text', length = 200_000): Promise<string> {
  let text = ''
  for (let offset: number | null = 0, n = 0; offset !== null && n < 10_000; n++) {
    const call = { args: { handle, part, offset, length }, client: { key: 'k' } } as unknown as ToolCall
    const { content, _meta } = await results.tool.run(call)
    text += String(content[0]!.text)
    offset = (_meta!['portolan/result'] as { next: number | null }).next
  }
  return text
}
const handleOf = ({ _meta }: ToolOutput) => (_meta!['portolan/result'] as { handle: string }).handle

test('S11: pages, links and structured content that are left out are read on', async () => {
  const results = new LargeResults()
  const fit = (what: string) => results.fit(outputs[what]![0], 'k', !!outputs[what]![1])
  const pages = fit('a page of another writing')
  assert.equal(await whole(results, handleOf(pages)), `begins\n\n${wide}`)
  assert.deepEqual(pages.content.slice(1).map((b) => b.uri), ['file:///a', 'file:///b'])
  const links = await whole(results, handleOf(fit('many links')))
  assert.ok(links.startsWith('They are:\n\n[') && links.includes('file:///harbour/39999'))
  const deep = await whole(results, handleOf(fit('structured content of many levels')), 'structured')
  assert.deepEqual(JSON.parse(deep), nested(100))
})

test('S11: a text is read on to its end in the smallest pieces, and its end is where it is', async () => {
  const results = new LargeResults()
  const text = `𝄞${'wind '.repeat(60_000)}`
  const handle = handleOf(results.fit({ content: [{ type: 'text', text }] }, 'k', false))
  const read = (args: object) =>
    results.tool.run({ args: { handle, ...args }, client: { key: 'k' } } as unknown as ToolCall)
  const piece = async (args: object) => (await read(args))._meta!['portolan/result'] as Record<string, number>
  assert.equal((await piece({ length: 1 })).next, 2)
  const { offset, length } = await piece({ offset: 900_000 })
  assert.deepEqual([offset, length], [text.length, 0])
})

test('S11: a search finds the place of a text behind letters that are longer in lower case', async () => {
  const results = new LargeResults()
  const text = `${'İ'.repeat(150_000)} the lighthouse ${'x'.repeat(150_000)}`
  const handle = handleOf(results.fit({ content: [{ type: 'text', text }] }, 'k', false))
  const call = { args: { handle, find: 'The Lighthouse', length: 300 }, client: { key: 'k' } } as unknown as ToolCall
  const { content } = await results.tool.run(call)
  assert.ok(String(content[0]!.text).includes('the lighthouse'))
})

test('S11: a part of a blob that is not there is an unknown resource', async () => {
  const results = new LargeResults()
  const { content } = results.fit({ content: [image(3_000_000)] }, 'k', false)
  const read = (uri: string) => results.reading.run({ args: { uri }, client: { key: 'k' } } as unknown as ToolCall)
  const uri = String(content[0]!.uri)
  await read(uri)
  for (const part of ['3', '-1', 'x'])
    await assert.rejects(read(uri.replace(/0$/, part)), { code: 'unknown_resource' })
})
