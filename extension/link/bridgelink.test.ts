import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeLink } from './bridgelink.ts'

test('a connection to a silent bridge is closed, but not because the computer slept', async (t) => {
  let now = 1000
  t.mock.method(performance, 'now', () => now)
  t.mock.method(Date, 'now', () => now)
  const closed: number[] = []
  const record = { pairing: 'p', address: '127.0.0.1:55156', ephemeral: false }
  const link = new BridgeLink({} as never, record, {} as never, true) // so it does not dial
  Object.assign(link, { connection: { close: () => closed.push(now) }, heardAt: now })
  /** Lets the alarm ring after some seconds. */
  const after = (seconds: number) => {
    now += seconds * 1000
    return link.wake()
  }
  await after(30)
  await after(3600) // asleep
  await after(30)
  assert.deepEqual(closed, [])
  await after(30)
  assert.deepEqual(closed, [now])
})

test('a notification that the bridge would not take is dropped, and the connection stays', () => {
  const record = { pairing: 'p', address: '127.0.0.1:55156', ephemeral: false }
  const link = new BridgeLink({} as never, record, {} as never, true)
  const sent: string[] = []
  Object.assign(link, { connection: { send: (text: string) => sent.push(text) } })
  for (const url of [`data:,${'é'.repeat(2 << 20)}`, 'https://example.com/'])
    link.notify('notifications/portolan/event', { source: 'bookmarks', type: 'created', data: { url } })
  assert.deepEqual(sent.map((text) => JSON.parse(text).params.data.url), ['https://example.com/'])
})
