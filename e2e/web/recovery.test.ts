import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readFile } from 'node:fs/promises'
import { connectRegistry, createRegistry, RegistryError } from '../../dist/npm/index.js'
import type { ElicitationRequest } from '../../wasm/js/shared/types.ts'
import { Host } from '../../dist/npm/worker.js'
import type { Host as BuiltHost } from '../../wasm/js/host/host.ts'
import { crashing, endModule } from '../rig/crash.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { happens } from '../rig/harness.ts'

// The real module is crashed: it exits, or traps on memory that was overwritten.

let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  server = await sdkServer()
})
after(() => server.close())

const fails = (code: string, text?: RegExp) => (e: unknown) => {
  assert.ok(e instanceof RegistryError, String(e))
  assert.equal(e.code, code, e.message)
  if (text) assert.match(`${e.message} ${e.hint}`, text)
  return true
}

test('a page that joins while the module is replaced brings its servers', async () => {
  const file = await readFile(new URL('../../dist/npm/portolan.wasm', import.meta.url))
  const host = await Host.load(await WebAssembly.compile(file)) as BuiltHost
  const demo = { url: 'builtin:demo' }, s = { url: server.url }
  await host.start({}, { servers: { demo, s }, given: [] })
  const page = host.open()
  const { promise: lost, resolve } = Promise.withResolvers<void>()
  page.onmessage = (m) => (m as { event?: string }).event === 'lost' && resolve()
  page.post({ id: 1, method: 'attach' })
  await new Promise((resolve) => setImmediate(resolve))
  endModule()
  await lost
  const servers = {
    demo: { ...demo, tools: { deny: ['echo'] } },
    s: { ...s, headers: { Authorization: 'Bearer late' } },
    late: demo,
  }
  assert.deepEqual({ ...await host.adopt({ servers, given: ['demo', 'late'] }, 0) }, {})
  const r = await connectRegistry(host.open())
  server.headers.length = 0
  await r.discover()
  assert.deepEqual(Object.keys(r.getSnapshot().servers).sort(), ['demo', 'late', 's'])
  assert.equal(r.has('demo__echo'), false)
  assert.ok(r.has('late__echo') && r.has('s__raw'))
  assert.ok(server.headers.length > 0 && server.headers.every((h) => h.authorization === 'Bearer late'))
  await r.close()
  host.exit()
})

test('a module that ends is replaced, with all it had', async (t) => {
  const { r, crash } = await crashing({
    servers: { demo: { url: 'builtin:demo' }, s: { url: server.url, headers: { Authorization: 'Bearer kept' } } },
  })
  await r.addServer('late', { url: 'builtin:demo' })
  await r.addServer('gone', { url: 'builtin:demo' })
  await r.addServer('off', { url: 'builtin:demo' })
  await r.updateServer('late', { tools: { deny: ['echo'] } })
  await r.discover()
  await r.removeServer('gone')
  await r.setEnabled('off', false)
  const before = r.getSnapshot()
  server.headers.length = 0

  const inFlight = r.call('s__wait', {})
  inFlight.catch(() => {})
  await happens(() => server.calls.includes('wait'))
  const began = performance.now()
  await crash()
  await assert.rejects(inFlight, (e) => fails('runtime_crashed', /started again/)(e) && (e as RegistryError).retryable)
  const noticed = performance.now() - began
  assert.ok(r.has('s__raw'), 'the list stays while the module comes back')
  assert.match(await r.dispatch('s__raw', { again: true }), /again/)
  t.diagnostic(
    `noticed after ${Math.round(noticed)} ms (goal 1,000), back after ${
      Math.round(performance.now() - began)
    } (goal 2,000)`,
  )

  await r.discover()
  const now = r.getSnapshot()
  assert.deepEqual(now.tools.map((t) => t.name), before.tools.map((t) => t.name))
  assert.deepEqual(now.withheld.map((t) => t.name), ['late__echo'])
  assert.deepEqual(Object.keys(now.servers).sort(), ['demo', 'late', 'off', 's'])
  assert.equal(now.servers.off!.status, 'disabled')
  assert.ok(server.headers.length > 0 && server.headers.every((h) => h.authorization === 'Bearer kept'))
  await r.close()
})

test('what was approved outlives a module', async () => {
  const tools = [{ name: 'once', description: 'one', inputSchema: { type: 'object' } }]
  const steered = await sdkServer(tools)
  const { r, crash } = await crashing({ servers: { s: { url: steered.url } } })
  await r.discover()
  tools[0]!.description = 'two'
  await crash()
  const { held } = await r.discover()
  assert.deepEqual(held.map((h) => [h.tool, h.reason, h.before?.description, h.changes]), [['once', 'changed', 'one', [
    'description',
  ]]])
  assert.equal(r.has('s__once'), false)
  await r.close()
  await steered.close()
})

test('calls that wait for the lists of the next module, and fail at once, do not end it', async () => {
  const servers = Object.fromEntries(
    [1, 2, 3].map((i) => [`s${i}`, { url: server.url, tools: { deny: ['wait'] } }]),
  )
  const { r, crash, current } = await crashing({ servers })
  await r.discover()
  await crash()
  const calls = [1, 2, 3].flatMap((i) => [r.dispatch(`s${i}__wait`, {}), r.dispatch(`s${i}__raw`, {})])
  const ended = await Promise.all(calls.map((c) => c.then(() => 'done', (e) => (e as RegistryError).code)))
  assert.deepEqual(ended, [1, 2, 3].flatMap(() => ['unknown_tool', 'done']))
  const next = current()
  await r.discover()
  assert.equal(current(), next)
  await r.close()
})

test('a server that is removed before the next module has listed it leaves no tools', async () => {
  const { r, crash } = await crashing({ servers: { demo: { url: 'builtin:demo' }, s: { url: server.url } } })
  await r.discover()
  await crash()
  await r.removeServer('s')
  assert.equal((await r.discover()).tools.filter((t) => t.server === 's').length, 0)
  assert.equal(r.has('s__raw'), false)
  await r.close()
})

test('a question ends with its module', async () => {
  const asks = await sdkServer([{ name: 'ask', inputSchema: { type: 'object' } }])
  let put = (_: ElicitationRequest) => {}
  const asked = new Promise<ElicitationRequest>((resolve) => put = resolve)
  const { r, crash } = await crashing({
    servers: { s: { url: asks.url } },
    onElicitation: (q) => new Promise(() => put(q)),
  })
  await r.discover()
  const inFlight = r.call('s__ask', {})
  const { signal } = await asked
  await Promise.all([crash(), assert.rejects(inFlight, fails('runtime_crashed'))])
  assert.equal(signal.aborted, true)
  await r.close()
  await asks.close()
})

test('what does not come back leaves the list', async () => {
  const fleeting = await sdkServer()
  const { r, crash } = await crashing({
    servers: { demo: { url: 'builtin:demo' }, s: { url: fleeting.url } },
  })
  await r.discover()
  assert.ok(r.has('s__raw'))
  await fleeting.close()
  const left = new Promise<void>((resolve) => {
    r.subscribe(() => {
      if (!r.has('s__raw')) resolve()
    })
  })
  await crash()
  assert.equal(await r.dispatch('demo__echo', { text: 'x' }), 'x', 'the others do not wait for it')
  await left
  assert.equal(r.getHealth().s!.status, 'error')
  await r.close()
})

test('after three restarts in a minute it stays down until it is wanted', async () => {
  const { r, crash } = await crashing({ servers: { demo: { url: 'builtin:demo' } } })
  await r.discover()
  for (let i = 0; i < 3; i++) {
    await crash()
    assert.equal(await r.dispatch('demo__echo', { text: 'x' }), 'x')
  }
  const inFlight = r.call('demo__count', { to: 100, delayMs: 50 })
  inFlight.catch(() => {})
  await crash()
  await assert.rejects(inFlight, fails('runtime_crashed'))
  await assert.rejects(r.dispatch('demo__echo', { text: 'x' }), fails('runtime_crashed', /retry/))
  await assert.rejects(r.subscribeResource('demo', 'a:1', () => {}), fails('runtime_crashed', /retry/))
  const { demo } = r.getHealth()
  assert.deepEqual([demo!.status, demo!.errorCode, r.getTools().length], ['error', 'runtime_crashed', 0])
  await r.retry('demo')
  assert.equal(await r.dispatch('demo__echo', { text: 'back' }), 'back')
  assert.equal(r.getHealth().demo!.status, 'connected')
  await r.close()
})

test('a module that has grown too large is replaced while nobody waits for it', async () => {
  const { r, current } = await crashing({
    limits: { memoryBytes: 1 },
    servers: { demo: { url: 'builtin:demo' }, s: { url: server.url, headers: { Authorization: 'Bearer kept' } } },
  })
  const first = current()
  const slow = r.call('demo__count', { to: 3, delayMs: 20 }).catch((e: RegistryError) => e.code) // its tool is not listed yet
  await r.discover()
  const tools = r.getSnapshot().tools.map((t) => t.name)
  await slow
  const counted = r.call('demo__count', { to: 3, delayMs: 50 })
  server.headers.length = 0
  assert.match(await r.dispatch('s__raw', { a: 1 }), /tools/)
  assert.equal((await counted).isError, false, 'a call under way is waited for')
  assert.match(await r.dispatch('s__raw', { a: 2 }), /tools/)
  const second = current()
  assert.notEqual(second, first)
  assert.match(await r.dispatch('s__raw', { a: 3 }), /tools/)
  await r.discover()
  assert.equal(current(), second, 'once in a minute')
  assert.deepEqual(r.getSnapshot().tools.map((t) => t.name), tools)
  assert.deepEqual(Object.values(r.getHealth()).map((h) => h.status), ['connected', 'connected'])
  assert.ok(server.headers.every((h) => h.authorization === 'Bearer kept'))
  await r.close()
})

test('a module that has grown too large is replaced while an app follows logs', async () => {
  const { r, current } = await crashing({ limits: { memoryBytes: 1 }, servers: { s: { url: server.url } } })
  const first = current()
  const heard = new Promise<void>((resolve) => {
    r.observe(({ kind }) => {
      if (kind === 'log') resolve()
    }, { logs: true })
  })
  await r.resources() // it comes after the request for logs
  await r.discover()
  assert.match(await r.dispatch('s__raw', {}), /raw/)
  assert.notEqual(current(), first)
  const logging = setInterval(() => void r.call('s__steps', { log: 'high water' }).catch(() => {}), 50)
  await heard.finally(() => clearInterval(logging)) // the log is followed again
  await r.close()
})

test('a module that ends after a retry alone lists its tools again', async () => {
  const { r, crash } = await crashing({ servers: { demo: { url: 'builtin:demo' } } })
  await r.retry('demo')
  await crash()
  assert.equal(await r.dispatch('demo__echo', { text: 'x' }), 'x')
  await r.close()
})

test('a module that traps is replaced', async () => {
  const { instantiate } = WebAssembly
  const memories: WebAssembly.Memory[] = []
  WebAssembly.instantiate = (async (...args: Parameters<typeof instantiate>) => {
    const made = await instantiate(...args) as unknown as WebAssembly.Instance
    memories.push(made.exports.mem as WebAssembly.Memory)
    return made
  }) as never
  const said: unknown[] = []
  const { error } = console
  console.error = (...words) => said.push(...words)
  try {
    const r = await createRegistry({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    await r.discover()
    new Uint8Array(memories[0]!.buffer).fill(0xff)
    await assert.rejects(r.dispatch('demo__echo', { text: 'x' }), fails('runtime_crashed'))
    assert.equal(await r.dispatch('demo__echo', { text: 'up' }), 'up')
    assert.equal(memories.length, 2)
    assert.ok(said.length > 0, 'the trap is on the console')
    await r.close()
  } finally {
    WebAssembly.instantiate = instantiate
    console.error = error
  }
})

test('a registry that is closed while its module comes back stays closed', async () => {
  const { r, crash } = await crashing({ servers: { demo: { url: 'builtin:demo' } } })
  await r.discover()
  await crash()
  const late = r.dispatch('demo__echo', { text: 'x' }).catch(fails('closed'))
  await r.close()
  await late
  await assert.rejects(r.dispatch('demo__echo', { text: 'x' }), fails('closed'))
})
