import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse, print } from './markdown.ts'

const read = (text: string) => print(parse(text, (url) => url))

test('headings, items and links are read with the white space and marks around their words', () => {
  for (
    const [text, want] of [
      ['# a', '## a'],
      ['#   a   ##', '## a'],
      ['# a #b', '## a \\#b'],
      ['## # #', '## \\#'],
      ['#', '\\#'],
      ['- a\r* b\u2028c', '- a\n- b\n\nc'],
      ['[a](  https://x.example/  "t" )', '[a](https://x.example/)'],
    ] as const
  ) assert.equal(read(text), want)
})

test('a text of a model takes time in proportion to its length', () => {
  const long = 20_000
  const space = ' '.repeat(long)
  for (const text of [`# ${space}\ra\rb`, `# a${space}b`, `- ${space}a\rb`, `[a](${space}b`, `[a](b${space}c`]) {
    let blocks = 0
    for (let i = 0; i < 100; i++) blocks += parse(text, () => undefined).length
    assert.ok(blocks >= 100)
  }
})
