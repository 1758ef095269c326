import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf } from './events.ts'

test('of the progress of each call, only the newest waits for the reader', async () => {
  const events = eventsOf<{ call: string; n: number }>(async (put) => {
    for (let n = 0; n < 10_000; n++) {
      for (const call of ['a', 'b']) put({ call, n }, (waiting) => waiting.call === call)
    }
    put({ call: 'c', n: 0 })
  })
  const seen = []
  for await (const event of events) seen.push(event)
  assert.deepEqual(seen, [{ call: 'a', n: 9999 }, { call: 'b', n: 9999 }, { call: 'c', n: 0 }])
})
