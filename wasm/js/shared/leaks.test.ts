import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Leaks, maskSecrets } from './leaks.ts'

const token = `eyJ${'a'.repeat(17)}.eyJ${'b_-'.repeat(9)}.${'c'.repeat(40)}`

test('a JSON Web Token is masked wherever it stands', () => {
  for (
    const [text, want] of [
      [token, '[redacted]'],
      [`a "${token}", ${token}.`, 'a "[redacted]", [redacted].'],
      [`t=${token}&x`, 't=[redacted]&x'],
      [`a-${token}`, '[redacted]'],
      [`eyJ-eyJ-${token}`, '[redacted]'],
      [`a${token}`, `a${token}`],
      ['eyJabc.eyJabc.abc', 'eyJabc.eyJabc.abc'],
      [`${token.slice(0, 20)}.${token.slice(0, 20)}`, `${token.slice(0, 20)}.${token.slice(0, 20)}`],
    ] as const
  ) assert.equal(maskSecrets(text), want)
})

test('a text in which many tokens seem to begin takes time in proportion to its length', () => {
  const begins = 'eyJ-'.repeat(4 << 20)
  for (const text of [begins, `${begins}.eyJ`, `${begins}.eyJ${begins.slice(0, 8000)}.`])
    assert.equal(maskSecrets(text), text)
  assert.deepEqual(new Leaks(false, () => []).inResult({ content: [{ text: begins.slice(0, 1 << 20) }] }), [])
})
