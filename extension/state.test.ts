import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Port } from './browser.ts'
import { StatePublisher } from './state.ts'

const portOf = (posted: unknown[]): Port => ({
  post: (m) => posted.push(m),
  onmessage: null,
  onclose: null,
  close() {},
})

test('a page that closes while the state is read is not open', async () => {
  const ready = Promise.withResolvers<void>()
  let unseen = 0
  const publisher = new StatePublisher({} as never, () => ({}) as never, () => unseen++)
  const posted: unknown[] = []
  const early = portOf(posted)
  publisher.open(early, ready.promise)
  early.onclose!()
  ready.resolve()
  await ready.promise
  assert.equal(publisher.isSeen, false)
  assert.deepEqual(posted, [])

  const page = portOf(posted)
  publisher.open(page, ready.promise)
  await ready.promise
  assert.equal(publisher.isSeen, true)
  assert.deepEqual(posted, [{ state: {} }])
  unseen = 0
  page.onclose!()
  assert.equal(publisher.isSeen, false)
  assert.equal(unseen, 1)
})
