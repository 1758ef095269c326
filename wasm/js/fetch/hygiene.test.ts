import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cleanTool } from './hygiene.ts'
import { excerptAt, plain } from '../shared/plaintext.ts'

const table = <T>(name: string): T[] =>
  JSON.parse(readFileSync(new URL(`../../../testdata/hygiene/${name}`, import.meta.url), 'utf8'))

test('texts are cleaned as the table says', () => {
  for (
    const { name, in: text, out, at } of table<{ name: string; in: string; out: string; at: number }>('texts.json')
  ) {
    assert.deepEqual(plain(text), { text: out, at }, name)
  }
})

test('definitions are cleaned as the table says', () => {
  for (
    const row of table<{ name: string; in: Record<string, unknown>; out: unknown; flags: string[]; refused: boolean }>(
      'definitions.json',
    )
  ) {
    const before = structuredClone(row.in)
    const { tool, flags = [], refused } = cleanTool(row.in)
    assert.equal(!!refused, row.refused, row.name)
    assert.deepEqual(row.in, before, `${row.name}: what the server sent is not changed`)
    if (refused) continue
    assert.deepEqual(tool, row.out, row.name)
    assert.deepEqual(flags.map((f) => f.where), row.flags, row.name)
    assert.ok(flags.every((f) => f.rule === 'hidden_text' && f.excerpt.includes('⟨U+')))
    if (JSON.stringify(row.out) === JSON.stringify(row.in)) assert.equal(tool, row.in, 'a clean one is not copied')
  }
})

test('excerpts show what is hidden', () => {
  assert.equal(excerptAt('a\u200bb', 1), 'a⟨U+200B⟩b')
  assert.equal(excerptAt('a\nb\x1b[0m', 3), 'a b⟨U+001B⟩[0m')
  assert.equal(excerptAt('\u200b'.repeat(14) + '😀'.repeat(10), 0), '⟨U+200B⟩'.repeat(14) + '😀😀😀😀…')
})

test('Go and TypeScript agree on 20,000 random texts', () => {
  let seed = 7
  const below = (n: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * n)
  }
  const pieces = [
    'a',
    ' ',
    '\n',
    '\r',
    '\r\n',
    '\t',
    '\0',
    '\x07',
    '\x1b',
    '\x1b[',
    '\x1b[31m',
    '\x1b]',
    '\x1b\\',
    '\x9b',
    '\x9c',
    '\x9d',
    '1;2',
    'm',
    '#',
    '7',
    '©',
    '\u200b',
    '\u200c',
    '\u200d',
    '\u200e',
    '\u200f',
    '\u061c',
    '\u202e',
    '\u2066',
    '\u2028',
    '\u2060',
    '\ufeff',
    '\ufe0e',
    '\ufe0f',
    '\ufe00',
    '\u{e0100}',
    '\u{e0041}',
    '\u{e007f}',
    '\u{1f3f4}',
    '\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '😀',
    '\u{1f3fd}',
    '❤',
    '葛',
    'م',
    'ی',
    'ש',
    'क',
    '्',
    'é',
    'я',
    '\u00ad',
    '\u180b',
    '\u3164',
    '\u{1d173}',
    '\ud7ff',
    '\ue000',
    '\u{10ffff}',
  ]
  const texts = Array.from(
    { length: 20_000 },
    () =>
      Array.from({ length: below(12) }, () => (below(8)
        ? pieces[below(pieces.length)]!
        : String.fromCodePoint(
          [below(0x300), 0x2000 + below(0x100), 0xe0000 + below(0x200), below(0xd800)][below(4)]!,
        ))).join(''),
  )
  const said = execFileSync('go', ['run', './registry/registrytest/reference', 'clean'], {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    input: texts.map((t) => JSON.stringify(t)).join('\n'),
    maxBuffer: 1 << 26,
    encoding: 'utf8',
  }).trim().split('\n').map((line) => JSON.parse(line) as [string, number])
  assert.equal(said.length, texts.length)
  texts.forEach((t, i) => {
    const { text, at } = plain(t)
    assert.deepEqual([text, at], said[i], JSON.stringify(t))
  })
})

test('a long text is cleaned as a short one is, wherever it is divided', () => {
  const england = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'
  for (
    const text of [
      '\r\n',
      '\r',
      '\u{e0041}b',
      '\x1b[31mred',
      '\x1b]0;title😀\x07!',
      'م\u200cم',
      '❤\ufe0f',
      '😀\u200d😀',
      `${england}.`,
      '\u{1f3f4}\u{e0067}x',
      '\ud83d',
      '葛\u{e0100}',
      '\u2028\u200fש',
    ]
  ) {
    const { text: short, at } = plain(`x${text}y`)
    for (let missing = 0; missing < 24; missing++) {
      const start = 'x'.repeat((64 << 10) - missing)
      const long = plain(`${start}${text}y`)
      assert.ok(long.text === start + short.slice(1), `${JSON.stringify(text)}, ${missing}`)
      assert.equal(long.at, at < 0 ? at : at - 1 + start.length)
      if (at >= 0)
        assert.equal(
          excerptAt(`${start}${text}y`, long.at).slice(-8),
          excerptAt(`${'x'.repeat(40)}${text}y`, at + 39).slice(-8),
        )
    }
  }
})
