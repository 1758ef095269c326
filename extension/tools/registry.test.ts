import { test } from 'node:test'
import assert from 'node:assert/strict'
import { PublishedOffers } from './offers.ts'
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

test('a subscription that fails late does not drop the one that took its place', async () => {
  const registry = new PublishedRegistry((() => {}) as never, () => {}, () => {}, () => {}, () => {})
  const servers = [Promise.withResolvers<() => void>(), Promise.withResolvers<() => void>()]
  const asked = servers.values()
  let ended = 0
  const subscribeResource = () => asked.next().value!.promise
  const uri = 'file:///tides'
  Object.assign(registry, {
    open: async () => ({ resources: async () => [{ server: 'sea', uri }], subscribeResource }),
  })
  const ask = (method: string) =>
    registry.request(method).run(
      { args: { uri }, client: { pairing: 'p' }, signal: new AbortController().signal } as never,
    )
  const before = assert.rejects(ask('resources/subscribe'), /no answer/)
  await new Promise(setImmediate)
  registry.offers.unwatchAll('p') // the connection has ended, and the bridge subscribes again
  const after = ask('resources/subscribe')
  servers[1]!.resolve(() => ended++)
  await after
  servers[0]!.reject(new Error('no answer'))
  await before
  await ask('resources/unsubscribe')
  assert.equal(ended, 1)
})

test('a caller that gives up does not end the subscription of a second one', async () => {
  const registry = new PublishedRegistry((() => {}) as never, () => {}, () => {}, () => {}, () => {})
  const uri = 'file:///tides'
  const listed = Promise.withResolvers<object[]>()
  let updates = 0
  Object.assign(registry, {
    open: async () => ({
      resources: ({ signal }: { signal?: AbortSignal } = {}) =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
          listed.promise.then(resolve, reject)
        }),
      subscribeResource: async () => (updates++, () => {}),
    }),
  })
  const ask = (pairing: string, signal: AbortSignal) =>
    registry.request('resources/subscribe').run({ args: { uri }, client: { pairing }, signal } as never)
  const gone = new AbortController()
  const first = ask('a', gone.signal).catch(() => {})
  const second = ask('b', new AbortController().signal)
  await new Promise(setImmediate)
  gone.abort()
  listed.resolve([{ server: 'sea', uri }])
  await Promise.all([first, second])
  assert.equal(updates, 1)
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

test('a subscription ends with its server, and another one begins at the server that takes its place', async () => {
  const uri = 'file:///tides'
  const ended: number[] = []
  let begun = 0
  const registry = {
    resources: async () => [{ server: 'sea', uri }],
    subscribeResource: async () => {
      const own = ++begun
      return () => ended.push(own)
    },
  }
  const offers = new PublishedOffers(() => {})
  const ask = (method: string) =>
    offers.answer(registry as never, method, { uri }, {
      pairing: 'p',
      callId: '1',
      signal: new AbortController().signal,
    })
  await ask('resources/subscribe')
  offers.keep({ sea: {}, lake: {} })
  await ask('resources/subscribe')
  assert.equal(begun, 1)
  offers.keep({ lake: {} })
  await ask('resources/subscribe')
  assert.equal(begun, 2)
  assert.deepEqual(ended, [1])
  await ask('resources/unsubscribe')
  assert.deepEqual(ended, [1, 2])
})
