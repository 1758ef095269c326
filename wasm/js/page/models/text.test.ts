import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { plain } from '../../shared/plaintext.ts'
import { memberText } from '../../shared/json.ts'
import { Results } from './results.ts'
import { cut, textOf as wholeText } from './text.ts'

const textOf = (result: unknown, maxBytes: number, raw?: string, handle?: string) =>
  cut(plain(wholeText(result, { raw })).text, maxBytes, handle === undefined ? undefined : () => handle)

interface Case {
  name: string
  result: unknown
  maxBytes?: number
  text: string
  truncated?: boolean
  raw?: boolean
  handle?: string
}

const source = readFileSync(new URL('../../../../testdata/results/cases.json', import.meta.url), 'utf8')
const cases: Case[] = JSON.parse(source)
// A case that loses digits is read by line: its source text is what is tested.
const lines = source.split('\n').filter((line) => line.startsWith(' {')).map((line) => line.trim().replace(/,$/, ''))

cases.forEach((c, i) => {
  test(c.name, () => {
    const raw = memberText(lines[i]!, 'result')
    const want = { text: c.text, truncated: c.truncated ?? false }
    assert.deepEqual(textOf(c.result, c.maxBytes ?? 0, raw, c.handle), want, 'with the source text')
    if (!c.raw) assert.deepEqual(textOf(c.result, c.maxBytes ?? 0, undefined, c.handle), want)
  })
})

test('what is no result has no output', () => {
  for (const result of [null, undefined, 5, 'x', []])
    assert.deepEqual(textOf(result, 0), { text: '(no output)', truncated: false })
})

test('a long string beside a long number is no obstacle', () => {
  const a = 'x'.repeat(14 << 20)
  const raw = `{"structuredContent": {"a": "${a}", "n": 12345678901234567890}}`
  assert.ok(wholeText(JSON.parse(raw), { raw }) === `{"a":"${a}","n":12345678901234567890}`)
})

test('hidden text alone is no output', async () => {
  for (const hidden of ['\ufeff', '\u200b\u200b', '\x1b[0m']) {
    const value = { content: [{ type: 'text', text: hidden }] }
    const { text } = await new Results().take({ server: 's', tool: 't', isError: false, durationMs: 1, value }, 0, '')
    assert.equal(text, '(no output)', JSON.stringify(hidden))
  }
})

test('sizes round as in Go', () => {
  for (
    const [bytes, want] of [[1023, '1023 B'], [1024, '1.0 KB'], [1280, '1.3 KB'], [12595, '12.3 KB'], [
      1024 ** 2,
      '1.0 MB',
    ], [5 * 1024 ** 2 + 3 * 2 ** 18, '5.8 MB']] as const
  ) {
    const data = 'A'.repeat(Math.floor((bytes * 4 + 2) / 3))
    assert.equal(textOf({ content: [{ type: 'image', data }] }, 0).text, `[image: ${want}]`)
  }
})

test('a full list of named resources takes all of a result, and the oldest leave', async () => {
  const results = new Results()
  const name = (...uris: string[]) => {
    const content = uris.map((uri) => ({ type: 'resource_link', name: 'a', uri }))
    return results.take({ server: 's', tool: 't', isError: false, durationMs: 1, value: { content } }, 0, '')
  }
  await name(...Array.from({ length: 1000 }, (_, i) => `a:${i}`))
  await name('a:0', 'b:1', 'b:2')
  assert.deepEqual(['b:1', 'b:2', 'a:0', 'a:1', 'a:2', 'a:3'].map((uri) => results.hasNamed('s', uri)), [
    true,
    true,
    true,
    false,
    false,
    true,
  ])
})
