import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LinkRecord } from './bridgelink.ts'
import { Links } from './links.ts'

/** Links that are stopped, with what they store. */
function stoppedLinks() {
  let stored: LinkRecord[] = []
  const keys = new Map<string, CryptoKey>()
  const ended: string[] = []
  const links = new Links({
    dial: () => assert.fail('it is stopped'),
    profile: async () => ({ installId: 'id', label: 'Work' }),
    origin: 'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    changed() {},
    watch() {},
    ended: (pairing) => void ended.push(pairing),
    serve: () => Promise.reject(new Error('served')),
    keys: {
      get: async (pairing) => keys.get(pairing),
      set: async (pairing, key) => keys.set(pairing, key),
      remove: async (isOver) => [...keys.keys()].filter(isOver).forEach((pairing) => keys.delete(pairing)),
    },
    records: {
      get: async () => stored,
      set: (records) =>
        new Promise((resolve) => {
          setImmediate(() => { // a storage does not write at once
            stored = records
            resolve()
          })
        }),
    },
  })
  links.stop(true)
  return { links, keys, ended, records: () => stored.map((r) => r.pairing) }
}

const address = '127.0.0.1:55156'

test('pairings with one address at the same moment leave one link, which has the record and the key', async () => {
  const { links, keys, records } = stoppedLinks()
  await Promise.all(['first', 'second', 'third'].map((token) => links.useToken(address, token)))
  const left = records()
  assert.equal(left.length, 1)
  assert.deepEqual(links.states.map((s) => s.pairing), left)
  assert.deepEqual([...keys.keys()], left)
})

test('a pairing takes the place of an earlier one with another spelling of the address, which ends', async () => {
  const { links, ended, records } = stoppedLinks()
  await links.useToken(address, 'first')
  const [first] = records()
  await links.useToken('localhost:55156', 'second')
  assert.deepEqual(links.states.map((s) => s.address), ['localhost:55156'])
  assert.equal(records().length, 1)
  assert.deepEqual(ended, [first])
  await links.useToken('[::1]:55156', 'of another bridge')
  assert.equal(links.states.length, 2)
  const [second] = records()
  await links.unpair(second!)
  assert.deepEqual(ended, [first, second])
})
