import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import type { PortLike, Registry, StorageAdapter } from '../../wasm/js/shared/types.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Overrides of tools, over a real MCP server that says the arguments it got.

let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  server = await sdkServer([{
    name: 'find',
    title: 'Find',
    description: 'Finds ships.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string' }, limit: { type: 'integer' }, account: { type: 'string' } },
      required: ['query', 'account'],
    },
  }], { results: { find: { content: [{ type: 'text', text: 'found' }] } } })
})
after(() => server?.close())

const overrides = {
  find: { name: 'search_ships', description: 'Searches our ships.', hideParams: ['limit'], fixed: { account: 'a1' } },
  raw: { fixed: { who: 'me' }, hideParams: ['secretly'] },
}

async function open(options: Parameters<typeof createRegistry>[0] = {}): Promise<Registry> {
  const r = await createRegistry({ storage: 'memory', servers: { s: { url: server.url, overrides } }, ...options })
  await r.discover()
  return r
}

const code = (code: string) => (e: unknown) => (e as { code?: string }).code === code
/** The arguments that the server got. */
const got = (text: string) => (JSON.parse(text) as { params: { arguments: unknown } }).params.arguments

test('P48: models see the override, and the original is kept', async () => {
  const r = await open({ validate: true })
  const [tool] = r.getTools({ include: ['s__search_ships'] })
  assert.deepEqual(tool!.function, {
    name: 's__search_ships',
    description: '[s] Searches our ships.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  })
  assert.ok(!r.has('s__find'))
  const info = r.getSnapshot().tools.find((t) => t.tool === 'find')!
  assert.equal(info.original!.description, 'Finds ships.')
  assert.equal(await r.dispatch('s__search_ships', { query: 'x' }), 'found')
  await assert.rejects(r.dispatch('s__search_ships', {}), code('invalid_arguments'))
  await assert.rejects(r.dispatch('s__find', { query: 'x' }), code('unknown_tool'))
  await r.close()
})

test('P48: the server gets fixed arguments, and no hidden ones', async () => {
  const r = await open()
  assert.deepEqual(got(await r.dispatch('s__raw', '{"a": 9007199254740993, "who": "you", "secretly": 1}')), {
    a: 9007199254740992,
    who: 'me',
  })
  assert.match(await r.dispatch('s__raw', '{"a": 9007199254740993}'), /9007199254740993/)
  assert.deepEqual(got(await r.dispatch('s__raw', {})), { who: 'me' })
  await r.close()
})

test('P48: overrides change while a server is on, and two tools never get one name', async () => {
  const r = await open()
  const pin = r.getSnapshot().tools.find((t) => t.tool === 'find')!.pin
  await r.updateServer('s', { overrides: { find: { description: 'Other.' } } })
  const info = r.getSnapshot().tools.find((t) => t.name === 's__find')!
  assert.equal(info.definition.description, 'Other.')
  assert.equal(info.pin, pin, 'the pin is of the original')
  assert.ok(!r.has('s__search_ships'))
  assert.deepEqual(got(await r.dispatch('s__raw', {})), {})
  await assert.rejects(r.updateServer('s', { overrides: { find: { name: 'raw' } } }), code('invalid_config'))
  await assert.rejects(
    r.updateServer('s', { overrides: { find: { name: 'x' }, raw: { name: 'x' } } }),
    code('invalid_config'),
  )
  for (
    const bad of [
      { find: 1 },
      { find: { nam: 'x' } },
      { find: { fixed: [] } },
      { find: { hideParams: 'a' } },
      { find: { name: 'x'.repeat(200) } },
      1,
    ]
  ) await assert.rejects(r.updateServer('s', { overrides: bad as never }), code('invalid_config'))
  assert.equal(r.getSnapshot().tools.find((t) => t.name === 's__find')!.definition.description, 'Other.')
  await r.updateServer('s', { overrides: undefined })
  const plain = r.getSnapshot().tools.find((t) => t.name === 's__find')!
  assert.deepEqual([plain.definition.description, plain.original], ['Finds ships.', undefined])
  await r.updateServer('s', { overrides: { find: { name: 'two words' } } })
  assert.ok(r.getSnapshot().tools.some((t) => /^s_two_words_\w{10}$/.test(t.name)), 'the naming rule holds')
  await r.close()
})

test('P48: overrides are stored, and another realm sees them', async () => {
  const texts = new Map<string, string>()
  const storage: StorageAdapter = {
    get: (key) => texts.get(key),
    set: (key, value) => void texts.set(key, value),
    remove: (key) => void texts.delete(key),
  }
  const first = await open({ storage, servers: {} })
  await first.addServer('s', { url: server.url, overrides })
  await first.close()
  const r = await open({ storage, servers: {} })
  const { port1, port2 } = new MessageChannel()
  const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
  const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
  while (!far.has('s__search_ships')) await new Promise<void>((resolve) => far.subscribe(() => resolve()))
  const info = far.getSnapshot().tools.find((t) => t.tool === 'find')!
  assert.deepEqual([info.definition.description, info.original?.description], ['Searches our ships.', 'Finds ships.'])
  assert.deepEqual(far.getSnapshot().servers['s']!.config.overrides, overrides)
  assert.equal(await far.dispatch('s__search_ships', { query: 'x' }), 'found')
  await far.close()
  stop()
  port1.close()
  await r.close()
})
