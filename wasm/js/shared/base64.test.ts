import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBase64 } from './base64.ts'

test('base64 becomes bytes, and no byte becomes a text of its own', (t) => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i)
  const text = btoa(String.fromCharCode(...all))
  const iterator = t.mock.method(String.prototype, Symbol.iterator)
  assert.deepEqual(fromBase64(text), all)
  assert.equal(iterator.mock.callCount(), 0)
  assert.equal(fromBase64('').length, 0)
  assert.throws(() => fromBase64('a'), { name: 'InvalidCharacterError' })
})
