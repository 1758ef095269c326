import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Leaks, maskSecrets } from './leaks.ts'
import { Redaction } from './redaction.ts'

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

test('a secret with characters that JSON escapes is found in a JSON text, and behind the bounds', () => {
  const secret = 'pa\\ss"word'
  const config = { url: 'https://a.example/mcp', headers: { 'X-Key': secret } }
  const leaks = new Leaks(false, () => [['a', config]])
  const found = (args: unknown) => leaks.inArguments(JSON.stringify(args), 'b', 'https://b.example/mcp').length
  let deep: unknown = secret
  for (let i = 0; i < 70; i++) deep = [deep]
  assert.deepEqual([secret, JSON.stringify({ key: secret }), deep, 'pa', [['pa']]].map(found), [1, 1, 1, 0, 0])
  const redaction = new Redaction()
  redaction.learn(config)
  assert.equal(redaction.value(JSON.stringify({ key: secret }), undefined), '{"key":"[redacted]"}')
})

test('a text in which many tokens seem to begin takes time in proportion to its length', () => {
  const begins = 'eyJ-'.repeat(4 << 20)
  for (const text of [begins, `${begins}.eyJ`, `${begins}.eyJ${begins.slice(0, 8000)}.`])
    assert.equal(maskSecrets(text), text)
  assert.deepEqual(new Leaks(false, () => []).inResult({ content: [{ text: begins.slice(0, 1 << 20) }] }), [])
})
