import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Flag } from '../shared/types.ts'
import { cleanly } from './cleanly.ts'

test('flags name a place, and a long one is cut', () => {
  const flags: Flag[] = []
  const long = 'k'.repeat(1 << 20)
  cleanly({ 'a/b': ['x', { '~': 'y\u200b' }], [long]: Array<string>(9).fill('y\u200b') }, flags, '/contents')
  assert.equal(flags[0]!.where, '/contents/a~1b/1/~0')
  assert.deepEqual(flags.slice(1).map((f) => f.where), Array(9).fill(`/contents/${long}`.slice(0, 1000)))
})
