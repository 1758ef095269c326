import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalised } from './results.ts'

test('the last slash of an address makes no difference, and an address of slashes is read at once', () => {
  assert.equal(normalised('https://www.a.example/law/'), normalised('https://a.example/law'))
  assert.match(normalised(`https://a.example/${'/'.repeat(1 << 20)}a`)!, /\/a\?$/)
})
