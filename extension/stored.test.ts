import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Stored } from './stored.ts'

test('what is stored keeps its kind, and other values are left out', async () => {
  const read = async <T>(initial: T, kept: unknown): Promise<T> => {
    const area = { get: async () => ({ key: kept }) }
    Object.assign(globalThis, { chrome: { storage: { local: area } } })
    const stored = new Stored('local', 'key', initial)
    await stored.load()
    return stored.value
  }
  const initial = { on: false, sites: { a: [1] }, id: '' }
  assert.deepEqual(await read(initial, { on: true, sites: { b: [] } }), { on: true, sites: { b: [] }, id: '' })
  assert.deepEqual(await read(initial, { id: 5, sites: null, on: 'yes', more: 1 }), { ...initial, more: 1 })
  for (const kept of [null, [], 'text', 7, true]) assert.deepEqual(await read(initial, kept), initial)
  assert.deepEqual(await read(['a'], ['b']), ['b'])
  for (const kept of [null, {}, 'text', undefined]) assert.deepEqual(await read(['a'], kept), ['a'])
})
