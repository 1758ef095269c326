import { test } from 'node:test'
import assert from 'node:assert/strict'
import { damaged, Stored } from './stored.ts'

/** A storage with one value. While it is full, it refuses all writes. */
function storage(value?: unknown) {
  const area = {
    value,
    full: false,
    asked: undefined as unknown,
    get: async () => ({ key: area.value }),
    set: async ({ key }: { key: unknown }) => {
      area.asked = key
      if (area.full) throw new Error('the quota is exceeded')
      area.value = key
    },
  }
  Object.assign(globalThis, { chrome: { storage: { local: area } } })
  return area
}

async function read<T>(initial: T, kept: unknown, item?: object | string): Promise<T> {
  storage(kept)
  const stored = new Stored('local', 'key', initial, () => {}, item)
  await stored.load()
  return stored.value
}

test('what is stored keeps its kind, and other values are left out', async () => {
  const initial = { on: false, sites: { a: [1] }, id: '' }
  assert.deepEqual(await read(initial, { on: true, sites: { b: [] } }), { on: true, sites: { a: [1], b: [] }, id: '' })
  assert.deepEqual(await read(initial, { id: 5, sites: null, on: 'yes', more: 1 }), { ...initial, more: 1 })
  for (const kept of [null, [], 'text', 7, true]) assert.deepEqual(await read(initial, kept), initial)
  assert.deepEqual(await read(['a'], ['b']), ['b'])
  for (const kept of [null, {}, 'text', undefined]) assert.deepEqual(await read(['a'], kept), ['a'])
})

test('damage is left out alone, named, and mended in the storage', async () => {
  damaged.clear()
  const site = { on: false, at: null as number | null }
  const sites = { a: site, b: site }
  assert.deepEqual(await read(sites, { a: {}, b: { on: true, at: 5, more: 1 } }), {
    a: site,
    b: { on: true, at: 5, more: 1 },
  })
  assert.deepEqual(await read([], ['a', 'b'], ''), ['a', 'b'])
  assert.equal(damaged.size, 0)
  const isNamed = () => damaged.delete('key')
  assert.deepEqual(await read(sites, { a: null, b: { on: 'yes', at: 5 } }), { a: site, b: { on: false, at: 5 } })
  assert.ok(isNamed())
  assert.deepEqual(await read<unknown[]>([], [null, { id: 'x' }, { id: 5 }, {}, 'x'], { id: '' }), [{ id: 'x' }])
  assert.ok(isNamed())
  assert.deepEqual(await read({}, { a: null, b: ['x'], c: 'x', d: {} }, []), { b: ['x'] })
  assert.ok(isNamed())

  const area = storage(['x', null])
  for (const named of [true, false]) {
    await new Stored<string[]>('local', 'key', [], () => {}, '').load()
    assert.deepEqual([area.value, isNamed()], [['x'], named])
  }
})

test('a change that cannot be stored is refused and taken back; a record counts until the worker ends', async () => {
  const area = storage('old')
  const seen: string[] = []
  const stored: Stored<string> = new Stored('local', 'key', '', () => seen.push(stored.value))
  await stored.load()
  area.full = true
  const refusal = { code: 'NOT_STORED', message: 'the quota is exceeded' }
  const first = assert.rejects(stored.keep('new'), refusal)
  await assert.rejects(stored.keep('newer'), refusal)
  await first
  assert.deepEqual([stored.value, seen.at(-1), area.value], ['old', 'old', 'old'])
  assert.equal((await stored.set('record') as { code: string }).code, 'NOT_STORED')
  assert.equal(stored.value, 'record')
  const refused = assert.rejects(stored.keep('refused'), refusal)
  while (area.asked !== 'refused') await Promise.resolve()
  area.full = false
  await stored.keep('stored') // a later change stands
  await refused
  assert.deepEqual([stored.value, area.value], ['stored', 'stored'])
})
