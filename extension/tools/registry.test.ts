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

test('a URI with broken percent codes is that of an unknown resource, or of the server that lists it', async () => {
  const registry = new PublishedRegistry((() => {}) as never, () => {}, () => {}, () => {}, () => {})
  const uri = 'portolan://s/%E0%A4%A'
  const listed: object[] = []
  Object.assign(registry, {
    open: async () => ({
      resources: async () => listed,
      resourceTemplates: async () => [],
      readResource: async (server: string, uri: string) => ({ contents: [{ uri, text: server }] }),
    }),
  })
  const read = () =>
    registry.request('resources/read').run({ args: { uri }, client: {}, signal: new AbortController().signal } as never)
  await assert.rejects(read, { code: 'unknown_resource', message: /^no server offers portolan:/ })
  listed.push({ server: 'sea', uri })
  assert.deepEqual((await read() as unknown as { contents: object[] }).contents, [{ uri, text: 'sea' }])
})
