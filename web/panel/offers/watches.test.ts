import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PanelContext } from '../context.ts'
import { watchesOf } from './watches.ts'

test('a watch ends with its server, and another one begins at the server that takes its place', async () => {
  const listeners = new Set<() => void>(), stopped: number[] = []
  let servers: object = { sea: {}, lake: {} }, begun = 0
  const registry = {
    subscribe: (listener: () => void) => listeners.add(listener),
    getSnapshot: () => ({ servers }),
    subscribeResource: async () => {
      const own = ++begun
      return () => stopped.push(own)
    },
  }
  const panel = { registry, run: (work: () => Promise<void>) => work() } as unknown as PanelContext
  const change = (now: object) => {
    servers = now
    for (const listener of listeners) listener()
  }
  const watches = watchesOf(panel)
  let changes = 0
  watches.subscribe(() => changes++)
  await watches.toggle(panel, 'sea', 'file:///tides')
  change({ sea: {}, lake: {} })
  assert.ok(watches.of('sea', 'file:///tides'))
  assert.equal(changes, 1)
  change({ lake: {} })
  assert.equal(watches.of('sea', 'file:///tides'), undefined)
  assert.equal(changes, 2)
  change({ sea: {} })
  await watches.toggle(panel, 'sea', 'file:///tides')
  assert.ok(watches.of('sea', 'file:///tides'))
  assert.deepEqual([begun, stopped], [2, [1]])
})

test('an update is kept that comes before the subscription is known, or while the resource is read', async () => {
  let update = () => {}
  const registry = {
    subscribe: () => {},
    subscribeResource: async (_server: string, _uri: string, listener: () => void) => {
      update = listener
      update()
      return () => {}
    },
  }
  const panel = { registry, run: (work: () => Promise<void>) => work() } as unknown as PanelContext
  const watches = watchesOf(panel)
  await watches.toggle(panel, 'sea', 'file:///tides')
  const watch = watches.of('sea', 'file:///tides')!
  assert.ok(watch.updated)
  const looked = watches.look('sea', 'file:///tides')
  update()
  looked()
  assert.ok(watch.updated)
  watches.look('sea', 'file:///tides')()
  assert.ok(!watch.updated)
})
