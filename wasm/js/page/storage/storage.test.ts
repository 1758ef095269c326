import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bounded } from './repair.ts'
import { openSecrets } from './secrets.ts'
import { ConfigStore, storageFor } from './storage.ts'
import { Trust } from './trust.ts'
import type { ServerConfig, StorageAdapter } from '../../shared/types.ts'

/** The servers in a storage, in a realm without other tabs. */
const storeOf = (storage: StorageAdapter) =>
  new ConfigStore(storage, openSecrets, false, (work) => work(), () => import('./repair.ts'))

const keys = ['portolan.servers', 'portolan.pins', 'portolan.approved', 'portolan.approvals', 'portolan.hints']

const sound: Record<string, unknown> = {
  'portolan.servers': {
    version: 1,
    servers: {
      a: { url: 'https://a.example/mcp', headers: ['X-Key'], enabled: false },
      b: { url: 'https://b.example/mcp', auth: { clientId: 'c' }, tools: { exclude: ['x'] } },
    },
  },
  'portolan.pins': { 'https://a.example/mcp': '\tprint\necho\tpin.a.b.c\n', 'https://b.example/mcp': '' },
  'portolan.approved': { 'https://a.example/mcp': '{"echo":{"name":"echo","inputSchema":{"type":"object"}}}' },
  'portolan.approvals': [
    { server: 'a', tool: 'echo', pin: 'pin', approval: 'always', at: 'https://a.example/mcp' },
    { server: 'b', tool: 'x', pin: 'pin', approval: 'never', at: 'https://b.example/mcp' },
  ],
  'portolan.hints': 'https://a.example/mcp\tstreamable-http\t2025-11-25\tchanges\t\n',
}

/** Reads all that is stored, as a registry does. */
async function readAll(texts: Record<string, unknown>) {
  const kept = new Map(Object.entries(texts))
  const store = storeOf({
    get: (key) => kept.get(key) as string,
    set: (key, text) => void kept.set(key, text),
    remove: (key) => void kept.delete(key),
  })
  await store.load({})
  const pins = await store.pins()
  await store.hints()
  const { states } = store
  const trust = new Trust(store, {}, { turn: (work) => work(), take() {}, changed() {} })
  const approvals = await trust.approvals()
  const [held] = await trust.before('a', [{
    name: 'a__echo',
    server: 'a',
    tool: 'echo',
    definition: { name: 'echo', inputSchema: { type: 'object' } },
    reason: 'changed',
    changes: [],
    key: 'https://a.example/mcp',
  }], undefined)
  trust.save({
    event: 'pins',
    server: 'a',
    key: 'https://a.example/mcp',
    pins: 'echo\tnew\n',
    fresh: ['echo'],
    byUser: true,
  }, [])
  store.save('a')
  await Promise.all([store.saved, trust.saved])
  return { store, kept, pins, approvals, held, states }
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const all = () => Object.fromEntries(keys.map((key) => [key, asText(sound[key])]))

test('a sound storage has no warnings', async () => {
  const { store, pins, approvals, held } = await readAll(all())
  assert.deepEqual(store.warnings, [])
  assert.deepEqual([...store.servers.keys()], ['a', 'b'])
  assert.deepEqual(Object.keys(pins).length, 2)
  assert.deepEqual(approvals.map((a) => a.tool), ['echo', 'x'])
  assert.equal(held!.before!.name, 'echo')
})

test('of damaged texts the sound entries are kept, and the first text aside', async () => {
  const servers = (entries: string) => `{"version":1,"servers":{${entries}}}`
  const b = '"b":{"url":"https://b.example/mcp"}'
  for (
    const [key, text, warning, check] of [
      ['portolan.servers', servers(`"a":null,${b}`), /dropped: "a"/, (r) => [...r.store.servers.keys()].join() === 'b'],
      [
        'portolan.servers',
        servers(`"a":{"url":5},${b}`),
        /dropped: "a"/,
        (r) => [...r.store.servers.keys()].join() === 'b',
      ],
      [
        'portolan.servers',
        servers(`"a":{"url":"https://a.example","headers":{}}`),
        /"a"/,
        (r) => !r.store.servers.size,
      ],
      ['portolan.servers', '{"version":1,"serv', /nothing of it/, (r) => !r.store.servers.size],
      ['portolan.servers', '[]', /nothing of it/, (r) => !r.store.servers.size],
      ['portolan.pins', '5', /nothing of it/, (r) => !Object.keys(r.pins).length],
      ['portolan.pins', '[]', /nothing of it/, (r) => !Object.keys(r.pins).length],
      ['portolan.pins', '"x"', /nothing of it/, (r) => !Object.keys(r.pins).length],
      ['portolan.pins', '{"a":5,"b":"t\\tpin\\n"}', /dropped: "a"/, (r) => r.pins['b'] === 't\tpin\n'],
      ['portolan.approved', '{"https://a.example/mcp":7}', /dropped/, (r) => !r.held!.before],
      ['portolan.approvals', '[null]', /dropped: "0"/, (r) => !r.approvals.length],
      [
        'portolan.approvals',
        `[7,${JSON.stringify((sound['portolan.approvals'] as unknown[])[0])}]`,
        /dropped: "0"/,
        (r) => r.approvals.length === 1,
      ],
    ] as [string, string, RegExp, (r: Awaited<ReturnType<typeof readAll>>) => boolean][]
  ) {
    const r = await readAll({ ...all(), [key]: text })
    assert.equal(r.store.warnings.length, 1, `${key} ${text}: ${r.store.warnings.join()}`)
    assert.match(r.store.warnings[0]!, warning)
    assert.ok(check(r), `${key} ${text}`)
    assert.equal(r.kept.get(`${key}.damaged`), text)
    const again = await readAll(Object.fromEntries(r.kept))
    assert.deepEqual(again.store.warnings, [], 'it is mended')
    const damagedAgain = await readAll({ ...Object.fromEntries(r.kept), [key]: 'other' })
    assert.equal(damagedAgain.kept.get(`${key}.damaged`), text, 'the first text stays')
  }
})

test('two thousand damaged storages are read', async () => {
  let seed = 1
  const random = (n: number) => (seed = seed * 48271 % 0x7fffffff) % n
  const odd: unknown[] = [
    null,
    5,
    '',
    'x',
    [],
    {},
    true,
    [null],
    { a: null },
    { url: 5 },
    -1e308,
    '\ud800',
    '__proto__',
  ]
  const mutated = (value: unknown): unknown => {
    if (random(4) === 0 || typeof value !== 'object' || value === null) return odd[random(odd.length)]
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
    const names = Object.keys(copy)
    const name = names[random(names.length)] ?? 'new'
    if (random(5) === 0) delete copy[name]
    else copy[random(8) ? name : '__proto__x'] = mutated(copy[name])
    return copy
  }
  const broken = (text: string) =>
    [
      () => text.slice(0, random(text.length)),
      () => text.slice(random(text.length)),
      () => text.replaceAll('"', ''),
      () => `${text}${text}`,
      () => text.replace(/[a-z]/, '\u0000'),
    ][random(5)]!()
  for (let i = 0; i < 2000; i++) {
    const texts: Record<string, unknown> = all()
    for (const key of keys.filter(() => random(2))) {
      const damages = [mutated(sound[key]), mutated(sound[key]), broken(texts[key] as string), odd[random(odd.length)]]
      const damage = damages[random(4)]
      texts[key] = random(9) ? asText(damage) : damage
    }
    const r = await readAll(texts).catch((e) => assert.fail(`${JSON.stringify(texts)}: ${e.stack}`))
    for (const config of r.store.servers.values()) assert.equal(typeof config.url, 'string')
    for (const pins of Object.values(r.pins)) assert.equal(typeof pins, 'string')
    assert.equal(
      JSON.parse(r.kept.get('portolan.pins') as string)['https://a.example/mcp'].includes('echo\tnew\n'),
      true,
    )
  }
})

test('a storage that throws is none', async () => {
  const store = storeOf({
    get() {
      throw new Error('forbidden')
    },
    set() {
      throw new Error('forbidden')
    },
    remove() {},
  })
  await store.load({ a: { url: 'https://a.example/mcp' } })
  assert.deepEqual([[...store.servers.keys()], store.warnings], [['a'], []])
  assert.deepEqual([await store.hints(), await store.storage.get('portolan.pins')], [undefined, undefined])
  assert.deepEqual(storageFor('memory').get('x'), undefined)
})

test('what could not be read is not replaced', async () => {
  const texts = all(), kept = new Map(Object.entries(texts))
  let isBusy = false
  const store = storeOf({
    get(key) {
      if (isBusy) throw new Error('busy')
      return kept.get(key) as string
    },
    set: (key, text) => void kept.set(key, text),
    remove: (key) => void kept.delete(key),
  })
  await store.load({})
  const trust = new Trust(store, {}, { turn: (work) => work(), take() {}, changed() {} })
  const save = async () => {
    store.save('a')
    await store.saved
    const pins = { key: 'https://c.example/mcp', pins: 'echo\tp\n', fresh: ['echo'] }
    trust.save({ event: 'pins', server: 'c', byUser: true, ...pins })
    await trust.saved
  }
  isBusy = true
  await save()
  assert.deepEqual(Object.fromEntries(kept), texts)
  isBusy = false
  await save()
  assert.deepEqual(Object.keys(JSON.parse(kept.get('portolan.servers') as string).servers), ['a', 'b'])
  assert.equal(Object.keys(JSON.parse(kept.get('portolan.pins') as string)).length, 3)
})

test('a change that the storage refuses is stored with the next one, and a warning says so', async () => {
  for (const refused of ['get', 'set']) {
    const kept = new Map<string, string>()
    let isRefused = true
    const act = <T>(method: string, result: T) => {
      if (isRefused && method === refused) throw new Error('refused')
      return result
    }
    const store = storeOf({
      get: (key) => act('get', kept.get(key)),
      set: (key, text) => void act('set', kept.set(key, text)),
      remove: (key) => void kept.delete(key),
    })
    store.take({ a: { url: 'https://a.example/mcp' }, b: { url: 'https://b.example/mcp' } })
    store.save('a')
    await store.saved
    assert.equal(store.warnings.length, 1, refused)
    isRefused = false
    store.save('b')
    await store.saved
    assert.deepEqual(Object.keys(await store.stored()).sort(), ['a', 'b'], refused)
  }
})

test('secrets of a removed server are deleted before its entry, and others are kept after theirs', async () => {
  const done: string[] = []
  const storage = { get: () => undefined, set: (_: string, text: string) => void done.push(text), remove() {} }
  const secrets = {
    get: async (_: string, config: ServerConfig) => config,
    async set(server: string, config: ServerConfig | undefined) {
      done.push(`${config ? 'kept' : 'deleted'} ${server}`)
      return true as const
    },
  }
  const store = new ConfigStore(storage, async () => secrets, true, (work) => work(), () => import('./repair.ts'))
  const url = 'https://a.example/mcp'
  store.take({ a: { url, headers: { K: 'v' }, auth: { clientId: 'c', clientSecret: 's' } } })
  store.save('a')
  await store.saved
  store.take({ a: null })
  store.save('a')
  await store.saved
  const entry = `"a":{"url":"${url}","auth":{"clientId":"c","clientSecret":""},"headers":["K"]}`
  assert.deepEqual(done, [
    `{"version":1,"servers":{${entry}}}`,
    'kept a',
    'deleted a',
    '{"version":1,"servers":{}}',
  ])
})

test('a choice of a tab leaves what another tab has stored about the server meanwhile', async () => {
  const kept = new Map<string, string>()
  const storage = {
    get: (key: string) => kept.get(key),
    set: (key: string, text: string) => void kept.set(key, text),
    remove: (key: string) => void kept.delete(key),
  }
  const [editing, other] = [storeOf(storage), storeOf(storage)]
  const change = async (store: ConfigStore, config: object, fields?: string[]) => {
    store.take({ s: { ...store.servers.get('s'), ...config } as ServerConfig })
    store.save('s', fields)
    await store.saved
    return (await store.stored())['s']
  }
  await change(editing, { url: 'https://old.example/mcp' })
  await other.load({})
  await change(editing, { url: 'https://new.example/mcp', timeoutMs: 9000 }, ['url', 'timeoutMs'])
  const moved = { url: 'https://new.example/mcp', timeoutMs: 9000 }
  assert.deepEqual(await change(other, { enabled: false }, ['enabled']), { ...moved, enabled: false })
  const tools = { allow: ['read'] }
  assert.deepEqual(await change(other, { tools }, ['tools']), { ...moved, enabled: false, tools })
  // A tab that decides about trust or secrets means the URL that it shows.
  assert.equal((await change(other, { trust: 'trust' }, ['trust']))?.url, 'https://old.example/mcp')
})

test('a storage that is silent is waited for once, and used again when it has answered', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const kept = new Map([['portolan.servers', asText(sound['portolan.servers'])]])
  let answer = () => {}
  const silence = new Promise<void>((resolve) => (answer = resolve))
  const warnings: string[] = []
  const storage = bounded({
    get: (key) => key === 'portolan.pins' ? silence.then(() => 'late') : kept.get(key),
    set: (key, text) => {
      if (key === 'refused') throw new Error('never')
      kept.set(key, text)
    },
  }, (w) => warnings.push(w))
  assert.match(await storage.get('portolan.servers') ?? '', /a\.example/)
  await assert.rejects(async () => storage.set('refused', 'x'), /never/)
  const first = assert.rejects(async () => storage.get('portolan.pins'), /has not answered for 10 s/)
  t.mock.timers.tick(10_000)
  await first
  await assert.rejects(async () => storage.get('portolan.servers'), /has not answered/)
  await assert.rejects(async () => storage.set('portolan.hints', 'x'), /has not answered/)
  assert.equal(warnings.length, 1)
  answer()
  await silence
  for (let i = 0; i < 5; i++) await Promise.resolve()
  assert.equal(await storage.get('portolan.pins'), 'late')
  await storage.set('portolan.hints', 'x')
  t.mock.timers.tick(20_000)
  assert.deepEqual([kept.get('portolan.hints'), warnings.length], ['x', 1])
})
