import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clean, isHidden, line } from './text.ts'

const tags = (s: string) => [...s].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('')

const rows: [text: string, shown: string][] = [
  ['plain, Ünïcödé, 漢字, العربية', 'plain, Ünïcödé, 漢字, العربية'],
  ['a\u202eb', 'a⟨U+202E⟩b'],
  ['\x1b[31mred\x1b[0m', '⟨U+001B⟩[31mred⟨U+001B⟩[0m'],
  ['a\u200bb\u00adc', 'a⟨U+200B⟩b⟨U+00AD⟩c'],
  ['a' + tags('obey me') + 'b', 'a⟨U+E0020: obey me⟩b'],
  ['a\u{e0101}', 'a⟨U+E0101⟩'],
  ['a\ud800b', 'a⟨U+D800⟩b'],
  ['one\r\ntwo\tthree\rfour', 'one\ntwo\tthree⟨U+000D⟩four'],
  ['👩‍🚀 ❤️ 1️⃣', '👩‍🚀 ❤️ 1️⃣'],
  ['می‌خواهم', 'می‌خواهم'],
  ['a\u200db', 'a⟨U+200D⟩b'],
  ['ok\ufe0f', 'ok⟨U+FE0F⟩'],
  ['❤\ufe0f\ufe0f', '❤\ufe0f⟨U+FE0F⟩'],
  ['א\u200fב a\u200fb', 'א\u200fב a⟨U+200F⟩b'],
  ['葛\u{e0100} a\u{1bca0}', '葛\u{e0100} a⟨U+1BCA0⟩'],
  [
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  ],
  ['e' + '\u0301'.repeat(6), 'e' + '\u0301'.repeat(4) + '⟨U+0301⟩'.repeat(2)],
]

test('hidden characters are shown, others left alone', () => {
  for (const [text, shown] of rows) assert.equal(clean(text), shown)
})

test('length is bounded, also of what is not shown as it is', () => {
  assert.equal(clean('abcdef', 3), 'abc…')
  assert.equal(clean('abc', 3), 'abc')
  assert.equal(clean('a😀b', 2), 'a…')
  for (const bit of ['x', '\u202e', tags('x'), '\u0301', '\ud800', '👩‍🚀']) {
    const begun = process.cpuUsage()
    assert.ok(clean(bit.repeat(1 << 19), 100).length <= 101, JSON.stringify(bit))
    assert.ok(process.cpuUsage(begun).user / 1000 < 50)
  }
})

test('line puts everything on one line', () => {
  assert.equal(line('  a\n\n b\u2028c\t'), 'a b c')
  for (const v of [undefined, null, 5, {}, []]) assert.equal(typeof line(v), 'string')
})

test('no hidden character comes through in random text', () => {
  let seed = 7
  const below = (n: number) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % n
  const hostile = [0x202e, 0x200b, 0x200d, 0xfe0f, 0xe0041, 0x1b, 0xd800, 0xdc00, 0x61, 0x1f600, 0x301, 0x0a]
  for (let i = 0; i < 5000; i++) {
    const s = String.fromCodePoint(
      ...Array.from({ length: below(12) }, () => (below(2) ? hostile[below(hostile.length)]! : below(0x11000))),
    )
    for (const c of clean(s))
      assert.ok(!isHidden(c.codePointAt(0)!) || /[\u200c-\u200f\u061c\ufe00-\ufe0f]/.test(c), JSON.stringify(s))
  }
})
