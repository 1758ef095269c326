import { test } from 'node:test'
import assert from 'node:assert/strict'
import { PublishedRegistry } from './registry.ts'

test('however often the logs are asked for at once, they come once, and not at all when they are off', async () => {
  const observers = new Set<object>()
  const observe = () => {
    const own = {}
    observers.add(own)
    return () => observers.delete(own)
  }
  const registry = new PublishedRegistry((() => {}) as never, () => {}, () => {}, () => {}, () => {})
  Object.assign(registry, { open: async () => ({ observe }) })
  await Promise.all([registry.follow(true), registry.follow(true)])
  assert.equal(observers.size, 1)
  await registry.follow(false)
  assert.equal(observers.size, 0)
  await Promise.all([registry.follow(true), registry.follow(false)])
  assert.equal(observers.size, 0)
})
