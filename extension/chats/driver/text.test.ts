import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bare, cutBytes, normalised, samePrompt, spoken, tail } from './text.ts'

test('what editors make of spaces is one form, lines stay', () => {
  for (
    const [text, want] of [
      ['a\r\nb', 'a\nb'],
      ['  a  b ', 'a b'],
      ['a\u00a0b\u200b', 'a b'],
      ['a\tb', 'a b'],
      ['a \n b\n\n c', 'a\nb\n\nc'],
      ['e\u0301', '\u00e9'],
      ['a\n', 'a'],
    ] as const
  ) assert.equal(normalised(text), want)
  assert.notEqual(normalised('a\nb'), normalised('a b'))
  assert.equal(bare('a b\nc\u00a0d'), 'abcd')
  assert.equal(spoken('  Stop\n generating… '), 'stop generating')
})

test('a name with many dots takes time in proportion to its length', () => {
  const dots = '.'.repeat(1_000_000)
  assert.equal(spoken(`${dots}x${dots}`), `${dots}x`)
})

test("a turn is the prompt's: as sent, laid out differently, rendered, cut, with a few words around it", () => {
  const long = 'Tell me about the harbours of the northern coast, one by one, with their depths and lights. '.repeat(5)
  const rows: [string, string, boolean][] = [
    ['Hello', 'Hello', true],
    ['Hello\n\nyou', 'Hello you', true],
    ['Hello', 'Hello you', false],
    ['Hello', '', false],
    ['OK', 'Is that OK', false],
    [long, long.slice(0, 200) + '…', true],
    [long, long.slice(0, 30), false],
    [long, 'You said: ' + long, true],
    [long, long + long, false],
    ['Name the tides', 'You said: Name the tides', true],
    ['Name the tides', 'Name the tides of the western approaches in all twelve months', false],
  ]
  const marked = '# Tides\n\n1. **Name** the `tide`\n2. See [the chart](https://x.example/a)\n\n```js\na = 1\n```'
  rows.push(
    [marked, 'Tides Name the tide See the chart a = 1', true],
    [marked, 'Tides Name the tide See the chart a = 2', false],
    ['**OK**?', 'OK', false],
    ['See [the tide](https://x.example/Tide_(sea)) there', 'See the tide there', true],
    ['Tides &amp; lights, 5 &lt; 6', 'Tides & lights, 5 < 6', true],
  )
  for (const [prompt, turn, same] of rows) assert.equal(samePrompt(prompt, turn), same, `${prompt} / ${turn}`)
})

test('cuts fall between characters', () => {
  assert.equal(cutBytes('aé€😀', 10), 'aé€😀')
  assert.equal(cutBytes('aé€😀', 9), 'aé€')
  assert.equal(cutBytes('aé€😀', 2), 'a')
  assert.equal(tail('a😀b', 2), 'b')
  assert.equal(tail('abc', 5), 'abc')
})
