import { test } from 'node:test'
import assert from 'node:assert/strict'
import { CryptoStore } from './crypto.ts'

test('a text that cannot be stored holds in this run', async () => {
  const store = new CryptoStore() // Node has no IndexedDB
  await assert.rejects(store.load('grant of s'))
  await assert.rejects(store.save('grant of s', 'refresh token'))
  assert.equal(await store.load('grant of s'), 'refresh token')
  await assert.rejects(store.save('grant of s', ''))
  assert.equal(await store.load('grant of s'), '')
})
