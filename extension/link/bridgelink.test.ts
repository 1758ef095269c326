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

test('a bridge that ends while its connection begins to be served is dialled again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sockets: EventTarget[] = []
  const dial = () => sockets[sockets.push(new EventTarget()) - 1]
  const served = Promise.withResolvers<void>()
  const host = { dial, serve: () => served.promise, changed: () => {} }
  const record = { pairing: 'p', address: '127.0.0.1:55156', ephemeral: false }
  const stored = { address: async () => undefined, key: async () => ({}) }
  const link = new BridgeLink(host as never, record, stored as never, false)
  Object.assign(link, { prove: async () => {} })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const attempt = link.wake()
  await settled()
  sockets[0]!.dispatchEvent(new Event('open'))
  await settled()
  assert.equal(link.state.status, 'connected')
  sockets[0]!.dispatchEvent(Object.assign(new Event('close'), { code: 1001, reason: 'the bridge ends' }))
  await settled()
  assert.equal(link.state.status, 'waiting')
  t.mock.timers.tick(1000)
  served.resolve() // the list of tools is there at last
  await attempt
  await settled()
  assert.equal(sockets.length, 2)
})
