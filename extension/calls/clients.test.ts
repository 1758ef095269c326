import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Clients } from './clients.ts'

const kept = async () => {}
Object.assign(globalThis, { chrome: { storage: { local: { set: kept } } } })

test('of many clients, the oldest is kept while it calls', () => {
  const clients = new Clients(() => {})
  const claim = (n: number) => ({ name: 'Editor', instance: `1 project ${n}` })
  const first = clients.seen(claim(0), 'bridge')
  for (let n = 1; n < 100; n++) clients.seen(claim(n), 'bridge')
  clients.value = Object.fromEntries(
    Object.entries(clients.value).map(([key, c], n) => [key, { ...c, lastSeen: Date.now() - 1e6 + n }]),
  )
  clients.seen(claim(0), 'bridge')
  clients.setGrant(first.key, 'page_dom', 'deny') // the person's "never" during that call
  assert.equal(clients.grant(first.key, 'page_dom'), 'deny')
  assert.equal(clients.list.length, 100)
  clients.seen(claim(100), 'bridge')
  assert.equal(clients.list.length, 100)
})
