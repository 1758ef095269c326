import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArguments } from './key.ts'

test('arguments keep their digits, also beside a long text', () => {
  const digits = '1'.repeat(16)
  assert.deepEqual(readArguments(`{"a": ${digits}, "b": [1.5, "${digits}"], "c\\"": "\\\\"}`), {
    a: `number ${digits}`,
    b: [1.5, digits],
    'c"': '\\',
  })
  const { long, n } = readArguments(`{"long": "${'x'.repeat(2e7)}", "n": ${digits}}`) as Record<string, string>
  assert.equal(long!.length, 2e7)
  assert.equal(n, `number ${digits}`)
})
