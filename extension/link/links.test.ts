import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LinkRecord } from './bridgelink.ts'
import { Links } from './links.ts'

test('pairings with one address at the same moment leave one link, which has the record and the key', async () => {
  let stored: LinkRecord[] = []
  const keys = new Map<string, CryptoKey>()
  const links = new Links({
    dial: () => assert.fail('it is stopped'),
    profile: async () => ({ installId: 'id', label: 'Work' }),
    origin: 'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    changed() {},
    watch() {},
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
  const address = '127.0.0.1:55156'
  await Promise.all(['first', 'second', 'third'].map((token) => links.useToken(address, token)))
  const left = stored.map((r) => r.pairing)
  assert.equal(left.length, 1)
  assert.deepEqual(links.states.map((s) => s.pairing), left)
  assert.deepEqual([...keys.keys()], left)
})
