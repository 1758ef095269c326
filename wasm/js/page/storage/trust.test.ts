import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import type { Texts } from './repair.ts'
import { openSecrets } from './secrets.ts'
import { StorageLock } from './storage-lock.ts'
import { channelPair } from '../../shared/channel.ts'
import type { Hold, PinsEvent, Request, ToPage } from '../../shared/protocol.ts'
import { RegistryImage } from '../registry.ts'
import { ConfigStore, pinsShape, storageFor } from './storage.ts'
import { Trust } from './trust.ts'
import type { RememberedApproval, ServerConfig, ToolDefinition, ToolInfo } from '../../shared/types.ts'

// Several registries on one storage. e2e/web/approvals.test.ts has them in tabs.

/** The servers in a storage, in a realm without other tabs. */
const storeOf = (storage: Texts) =>
  new ConfigStore(storage, openSecrets, false, (work) => work(), () => import('./repair.ts'))

const key = 'https://a.example/mcp'
const text = (pins: Record<string, string>) =>
  Object.entries(pins).map(([tool, pin]) => `${tool}\t${pin}${tool === '\x7f' ? '' : '.x'}\n`).join('')
const event = (pins: Record<string, string>, fresh: string[], byUser = false): PinsEvent => ({
  event: 'pins',
  server: 'a',
  key,
  pins: text(pins),
  fresh,
  byUser,
})

/** One registry's share in a storage, and what its module and the others receive. */
function share(storage: Texts, store = storeOf(storage)) {
  const takes: [string, string][] = []
  const state = { told: 0, turns: 0 }
  const trust = new Trust(store, {}, {
    turn: (work) => (state.turns++, work()),
    take: (key, pins) => takes.push([key, pins]),
    changed: () => {
      state.told++
    },
  })
  return { trust, takes, state }
}

const stored = async (storage: Texts) => JSON.parse((await storage.get(pinsShape.key))!) as Record<string, string>

test('what is fresh goes into what others have stored', async () => {
  for (
    const [name, before, e, want] of [
      ['the first list', undefined, event({ x: '1', y: '1' }, ['x', 'y']), { x: '1', y: '1' }],
      ['a tool that nobody was asked about', { x: '2' }, event({ x: '1', y: '1' }, ['x', 'y']), { x: '2', y: '1' }],
      ['a tool that the user approved', { x: '2', z: '1' }, event({ x: '3' }, ['x'], true), { x: '3', z: '1' }],
      ['a renamed tool', { x: '1', z: '1' }, event({ y: '1' }, ['x', 'y'], true), { z: '1', y: '1' }],
      ['nothing of what the module has missed', { x: '2', y: '2' }, event({ x: '1', y: '1', z: '1' }, ['z']), {
        x: '2',
        y: '2',
        z: '1',
      }],
      ['the hashes of names that either has seen', { x: '1', '\x7f': 'b.0 d.2' }, {
        ...event({ x: '1' }, []),
        pins: `x\t1.x\n\x7f\ta.0 b.0\n`,
      }, { x: '1', '\x7f': 'a.0 b.0 d.2' }],
      [
        'a name of every object',
        { __proto__x: '1' },
        event({ ['__proto__']: '1', constructor: '1' } as never, ['constructor']),
        { __proto__x: '1', constructor: '1' },
      ],
    ] as const
  ) {
    const storage = storageFor('memory')
    if (before) await storage.set(pinsShape.key, JSON.stringify({ [key]: text(before), other: 'kept' }))
    const { trust, takes, state } = share(storage)
    trust.save(e as PinsEvent)
    await trust.saved
    assert.deepEqual(await stored(storage), { [key]: text(want), ...(before && { other: 'kept' }) }, name)
    assert.deepEqual(
      takes.filter(([k]) => k === key),
      text(want) === (e as PinsEvent).pins ? [] : [[key, text(want)]],
      name,
    )
    assert.equal(state.told, 1, name)
  }
})

test('who hears of it tells the module once, and nobody else', async () => {
  const storage = storageFor('memory')
  const one = share(storage), two = share(storage)
  one.trust.save(event({ x: '1' }, ['x']))
  await one.trust.saved
  two.trust.save(event({ x: '1' }, ['x']))
  await two.trust.saved
  assert.deepEqual([two.takes, two.state.told], [[], 0], 'it is stored already')
  one.trust.save(event({ x: '2' }, ['x'], true))
  await one.trust.saved
  await two.trust.follow()
  await two.trust.follow()
  assert.deepEqual(two.takes, [[key, text({ x: '2' })]])
  two.trust.save(event({ x: '1', y: '1' }, ['y'])) // said before the module had heard
  await two.trust.saved
  assert.deepEqual(two.takes.slice(1), [[key, text({ x: '2', y: '1' })]])
  assert.deepEqual([one.takes, two.state.told], [[], 1])
})

test('a storage that keeps nothing, or is full, leaves the module what it has', async () => {
  const full = () => {
    throw new Error('full')
  }
  for (
    const storage of [{ get: () => undefined, set: () => {}, remove: () => {} }, {
      get: () => undefined,
      set: full,
      remove: () => {},
    }]
  ) {
    const { trust, takes } = share(storage)
    trust.save(event({ x: '1' }, ['x']))
    trust.save(event({ x: '1', y: '1' }, ['y'], true))
    await trust.follow()
    assert.deepEqual(takes, [])
  }
})

test('pins of addresses that have no server any more make room for others, the oldest first', async () => {
  const storage = storageFor('memory')
  const large = text(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`tool_${i}`, 'p'.repeat(80)])))
  const at = (i: number) => `https://${i}.example/mcp`
  const other = storeOf(storage)
  await other.load({ stored: { url: `${at(1)}?of=another%20tab` } })
  other.save('stored')
  await other.saved
  const own = storeOf(storage)
  await own.load({ given: { url: at(2) } })
  const { trust } = share(storage, own)
  for (let i = 0; i < 8; i++) {
    trust.save({ ...event({}, []), key: at(i), pins: large })
    await trust.saved
  }
  const kept = Object.keys(await stored(storage))
  assert.ok(kept.length * large.length <= 1 << 20 && (kept.length + 1) * large.length > 1 << 20, kept.join())
  assert.deepEqual(kept, [at(1), at(2), at(5), at(6), at(7)])
  // A list whose pins have changed is the newest.
  trust.save({ ...event({}, ['tool_0'], true), key: at(5), pins: large.replace('p', 'q') })
  trust.save({ ...event({}, []), key: at(8), pins: large })
  await trust.saved
  assert.deepEqual(Object.keys(await stored(storage)), [at(1), at(2), at(7), at(5), at(8)])
})

test('definitions are kept of what is approved, not of what another has not approved', async () => {
  const storage = storageFor('memory')
  await storage.set(pinsShape.key, JSON.stringify({ [key]: text({ x: '2' }) }))
  const { trust, state } = share(storage)
  trust.save(event({ x: '1', y: '1' }, ['x', 'y']))
  const info = (tool: string, pin: string) =>
    ({
      tool,
      pin,
      server: 'a',
      name: `a__${tool}`,
      definition: { name: tool, description: pin, inputSchema: {} } as ToolDefinition,
    }) as ToolInfo
  trust.define('a', [info('x', '1'), info('y', '1')])
  await trust.saved
  assert.equal(state.turns, 1, 'who closes the page in between loses neither')
  const held = await trust.before(
    'a',
    ['x', 'y'].map((tool) => ({ ...info(tool, '9'), reason: 'changed', changes: [], key })),
    undefined,
  )
  assert.deepEqual(held.map((h) => h.before?.description), [undefined, '1'])
})

test('definitions of tools with names that every object has are stored as others are', async () => {
  const { trust } = share(storageFor('memory'))
  const names = ['__proto__', 'constructor', 'toString']
  const info = (tool: string, pin: string): ToolInfo => ({
    tool,
    pin,
    server: 'a',
    name: `a__${tool}`,
    definition: { name: tool, description: pin, inputSchema: {} },
  })
  const held = () =>
    trust.before('a', names.map((tool) => ({ ...info(tool, '9'), reason: 'changed', changes: [], key })), undefined)
  assert.deepEqual((await held()).map((h) => h.before), [undefined, undefined, undefined])
  const pins = names.map((tool) => `${tool}\t1.x\n`).join('')
  trust.save({ ...event({}, names), pins })
  trust.define('a', names.map((tool) => info(tool, '1')))
  await trust.saved
  assert.deepEqual((await held()).map((h) => h.before?.description), ['1', '1', '1'])
})

test('many servers that are listed at once are stored in few writes, one that fails keeps none of the others back', async () => {
  const memory = storageFor('memory')
  const sets: string[] = []
  const storage: Texts = {
    get: (k) => memory.get(k),
    set: (k, v) => (sets.push(k), k === 'portolan.approved' ? Promise.reject(new Error('full')) : memory.set(k, v)),
  }
  const { trust, state } = share(storage)
  for (let i = 0; i < 50; i++) {
    trust.save({ ...event({ x: '1' }, ['x']), server: `s${i}`, key: `${key}${i}` })
    trust.define(`s${i}`, [{
      tool: 'x',
      pin: '1',
      server: `s${i}`,
      name: `s${i}__x`,
      definition: { name: 'x', inputSchema: {} },
    }])
  }
  await trust.saved
  assert.deepEqual([state.turns, state.told, sets.sort()], [1, 1, ['portolan.approved', pinsShape.key]])
  assert.equal(Object.keys(await stored(storage)).length, 50)
})

test('answers for good are read again, and written beside those of others', async () => {
  const storage = storageFor('memory')
  const one = share(storage), two = share(storage)
  assert.deepEqual(await one.trust.approvals(), [])
  const answer = (tool: string): RememberedApproval & { at: string } => ({
    server: 'a',
    tool,
    pin: '1',
    approval: 'always',
    at: key,
  })
  await storage.set('portolan.approvals', JSON.stringify([answer('x'), { ...answer('y'), server: 'b' }]))
  await one.trust.follow()
  assert.deepEqual((await one.trust.approvals()).map((a) => a.tool), ['x', 'y'])
  await two.trust.forget('b')
  await one.trust.follow()
  assert.deepEqual((await one.trust.approvals()).map((a) => a.tool), ['x'])
})

test('news that come while the storage is read are read once more, not each', async () => {
  let reads = 0, go = () => {}
  const trust = {
    follow: () => (reads++,
      new Promise<void>((resolve) => {
        go = resolve
      })),
  } as unknown as Trust
  const others = new StorageLock(storeOf(storageFor('memory')), { storage: 'memory' }, () => {})
  const reading = others.readAgain(async () => trust)
  const started = async (n: number) => {
    while (reads < n) await new Promise((resolve) => setImmediate(resolve))
  }
  await started(1)
  for (let i = 0; i < 1000; i++) void others.readAgain(async () => trust)
  go()
  await started(2)
  go()
  await reading
  assert.equal(reads, 2)
})

/** Changes a server as the module and then the page do. */
function change(store: ConfigStore, name: string, patch: Partial<ServerConfig> | null): Promise<unknown> {
  store.take({ [name]: patch && { ...store.servers.get(name), ...patch } as ServerConfig })
  store.save(name, patch ? Object.keys(patch) : undefined)
  return store.saved
}

test('what is stored of a server keeps what others have changed, except where it moves', async () => {
  const storage = storageFor('memory')
  const one = storeOf(storage), two = storeOf(storage)
  await change(one, 's', { url: key })
  await two.load({})
  await change(one, 's', { trust: 'ask-always' })
  await change(two, 's', { timeoutMs: 5 })
  assert.deepEqual((await one.stored()).s, { url: key, trust: 'ask-always', timeoutMs: 5 })
  void change(two, 's', { timeoutMs: undefined })
  await change(two, 's', { url: 'https://b.example/mcp' })
  assert.deepEqual((await one.stored()).s, { url: 'https://b.example/mcp' })
  void change(one, 's', null)
  await change(one, 's', { url: key })
  assert.deepEqual((await one.stored()).s, { url: key })
})

test('the storage has no secrets, and a snapshot without the module shows none', async () => {
  const store = storeOf(storageFor('memory'))
  await change(store, 's', {
    url: key,
    enabled: false,
    headers: { 'X-Key': 'hush' },
    auth: { clientId: 'c', clientSecret: 'hush' },
  })
  assert.deepEqual((await store.stored()).s, {
    url: key,
    enabled: false,
    headers: ['X-Key'],
    auth: { clientId: 'c', clientSecret: '' },
  })
  assert.deepEqual(store.states.s!.config, {
    url: key,
    enabled: false,
    proxy: false,
    headers: { 'X-Key': '[redacted]' },
    auth: { clientId: 'c', clientSecret: '[redacted]' },
  })
})

test('policies are taken over from the storage, but not of what the page gives, nor of another URL', async () => {
  const storage = storageFor('memory')
  const [ours, theirs] = [storeOf(storage), storeOf(storage)]
  for (const name of ['s', 'given', 'moved']) await change(theirs, name, { url: key })
  await ours.load({})
  const tells: unknown[] = []
  const others = new StorageLock(ours, { storage: 'memory', servers: { given: { url: key } } }, (m) => tells.push(m))
  void change(theirs, 'moved', { url: 'https://b.example/mcp' })
  for (const name of ['s', 'given', 'moved']) await change(theirs, name, { trust: 'trust', holdNewTools: true })
  await others.readAgain(() => undefined)
  await others.readAgain(() => undefined)
  assert.deepEqual(tells, [{ method: 'updateServer', name: 's', config: { trust: 'trust', holdNewTools: true } }])
  assert.equal(ours.servers.get('s')!.trust, 'trust')
  await change(theirs, 's', { trust: undefined, holdNewTools: undefined })
  await others.readAgain(() => undefined)
  assert.deepEqual(tells[1], { method: 'updateServer', name: 's', config: { trust: null, holdNewTools: null } })
  assert.equal(ours.servers.get('s')!.trust, undefined)
})

test('a question waits for the pin of its tool, and nothing else does', async () => {
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => (listeners.add(listener), () => void listeners.delete(listener))
  const list = (pin: string): ToolInfo => ({
    server: 'a',
    tool: 'x',
    name: 'a__x',
    definition: { name: 'x' } as ToolDefinition,
    pin,
  })
  let tool: ToolInfo | undefined = list('')
  const asked: string[] = []
  const trust = new Trust(storeOf(storageFor('memory')), {
    onApprove: (q) => (asked.push(q.pin), 'once'),
  }, { turn: (work) => work(), take: () => {}, changed: () => {} })
  const admit = (trust_: 'trust' | undefined, signal?: AbortSignal, find = () => tool) =>
    trust.admit(find, 'a__x', '{}', () => ({ url: key, trust: trust_ }) as never, signal, subscribe)

  const waits = admit(undefined)
  assert.deepEqual([listeners.size, asked], [1, []])
  for (const tell of listeners) tell() // of something else
  assert.deepEqual([listeners.size, asked], [1, []])
  tool.pin = 'p'
  for (const tell of listeners) tell()
  assert.deepEqual([await waits, listeners.size, asked], [undefined, 0, ['p']])

  tool = list('')
  const replaced = admit(undefined)
  tool = list('q')
  for (const tell of listeners) tell()
  assert.deepEqual([await replaced, listeners.size, asked], [undefined, 0, ['p', 'q']])

  tool = list('')
  const ends = new AbortController()
  const aborted = admit(undefined, ends.signal)
  ends.abort()
  assert.deepEqual([await aborted, listeners.size, asked.length], [undefined, 0, 2])
  assert.equal(await admit('trust'), undefined)
  assert.equal((await admit(undefined, undefined, () => undefined))!.code, 'unknown_tool')
  assert.deepEqual([listeners.size, asked.length], [0, 2])
})

test('questions about calls leave nothing on the signal of the caller', async () => {
  const { signal } = new AbortController()
  const tool = { tool: 'x', server: 'a', name: 'a__x', pin: 'p', definition: { name: 'x', inputSchema: {} } }
  const trust = new Trust(storeOf(storageFor('memory')), { onApprove: () => 'once' }, {
    turn: (work) => work(),
    take: () => {},
    changed: () => {},
  })
  for (let i = 0; i < 3; i++)
    await trust.admit(() => tool, 'a__x', '{}', () => ({ url: key }) as never, signal, () => () => {})
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('turns are taken where there are locks, and work is done where there are none or nobody lets go', async (t) => {
  const others = new StorageLock(storeOf(storageFor('memory')), { storage: 'memory' }, () => {})
  const set = (locks: unknown) =>
    Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true })
  t.after(() => {
    delete (globalThis as { navigator?: unknown }).navigator
  })
  assert.equal(await others.turn(async () => 1), 1)
  const asked: string[] = []
  set({ request: (name: string, _: unknown, fn: () => unknown) => (asked.push(name), fn()) })
  assert.equal(await others.turn(async () => 2), 2)
  assert.deepEqual(asked, ['portolan storage'])
  let runs = 0
  await assert.rejects(
    others.turn(async () => {
      runs++
      throw new Error('full')
    }),
    /full/,
  )
  assert.equal(runs, 1)
  set({
    request: async () => {
      throw new DOMException('', 'TimeoutError')
    },
  })
  assert.equal(await others.turn(async () => 3), 3)
})

test('a discovery ends once the held tools of all servers have their approved definitions', async () => {
  const definition: ToolDefinition = { name: 't', inputSchema: {} }
  const approved = JSON.stringify({ [key]: JSON.stringify({ t: { ...definition, title: 'before' } }) })
  const slow: Texts = {
    get: async (name) => {
      if (name !== 'portolan.approved') return undefined
      await new Promise(setImmediate)
      return approved
    },
    set: () => {},
  }
  const [page, end] = channelPair()
  const post = (m: ToPage) => end.post(m)
  const list = (server: string, held: Hold) => {
    const tools = [{ name: `${server}__t`, tool: 't', definition, held }]
    post({ event: 'tools', server, first: true, last: true, tools })
  }
  end.onmessage = (m) => {
    const { id, method } = m as Request
    if (method === 'discover') {
      list('a', { reason: 'changed', changes: [], key })
      list('b', { reason: 'new', changes: [] })
    }
    post({ id, result: { version: '1', resultBytes: 1000, callTimeoutMs: 1000 } })
  }
  const trust = new Trust(storeOf(slow), { scan: true }, { turn: (work) => work(), take: () => {}, changed: () => {} })
  const registry = new RegistryImage({
    mode: 'main',
    trust: async () => trust,
    open: async () => ({ channel: page, mode: 'main', refused: {} }),
  })
  const { held } = await registry.discover()
  assert.deepEqual(held.map((t) => t.before?.['title']), ['before', undefined])
})
