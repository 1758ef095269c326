import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import type { Registry, RegistryError, SearchHit } from '../../wasm/js/shared/types.ts'
import { listing, someTools } from '../panel/servers.ts'
import { crashing } from '../rig/crash.ts'
import type { FaultServer } from './servers/faultserver.ts'
import { launchChromium, openPage, servePackage, type Listening } from '../rig/harness.ts'

let browser: Browser
let site: Listening
let files: FaultServer
let many: FaultServer

const file = (name: string, description: string, parameter: string) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { [parameter]: { type: 'string' } } },
})

before(async () => {
  files = await listing([
    file('read_file', 'Reads the whole content of a file.', 'path'),
    file('write_file', 'Creates a file, or overwrites it.', 'content'),
    file('getWeather', 'The forecast for a city.', 'city'),
    { ...file('app_only', 'Reads a file for an app.', 'path'), _meta: { ui: { visibility: ['app'] } } },
  ])
  many = await listing(someTools(2000))
  site = await servePackage()
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await site?.close()
  await files?.close()
  await many?.close()
})

const queries = ['read a file', 'weahter', 'buoy 25', 'save some content', 'which light', 'xylophone quartet']

/** Runs as text in a page, too. */
async function searchAll(registry: Registry, queries: string[]): Promise<SearchHit[][]> {
  const all: SearchHit[][] = []
  for (const query of queries) all.push(await registry.search(query, { limit: 5 }))
  return all
}

const servers = () => ({ disk: { url: files.url }, many: { url: many.url } })

/** The hits of a registry in Node, with which those of pages are compared. */
async function expected(): Promise<SearchHit[][]> {
  const registry = await createRegistry({ storage: 'memory', servers: servers() })
  await registry.discover()
  const all = await searchAll(registry, queries)
  await registry.close()
  return all
}

test('Node 20, which has no Map.groupBy, searches too', async (t) => {
  const groupBy = Object.getOwnPropertyDescriptor(Map, 'groupBy')
  Reflect.deleteProperty(Map, 'groupBy')
  t.after(() => groupBy && Object.defineProperty(Map, 'groupBy', groupBy))
  const registry = await createRegistry({ storage: 'memory', servers: { disk: { url: files.url } } })
  t.after(() => registry.close())
  await registry.discover()
  assert.equal((await registry.search('read a file'))[0]!.name, 'disk__read_file')
})

test('P46: a search finds tools by their words, and says where these stand', async () => {
  const [read, weather, buoy, save, , none] = await expected()
  assert.equal(read![0]!.name, 'disk__read_file')
  assert.equal(read![0]!.why, 'name: read, file')
  assert.equal(read![0]!.description, 'Reads the whole content of a file.')
  assert.equal(weather![0]!.name, 'disk__getWeather')
  assert.equal(buoy![0]!.name, 'many__buoy_25')
  assert.equal(save![0]!.name, 'disk__write_file')
  assert.match(save![0]!.why, /parameter: content/)
  assert.deepEqual(none, [])
  for (const hits of [read, weather, buoy]) {
    assert.ok(hits!.every(({ score }, i) => score > 0 && score <= 1 && score <= (hits![i - 1]?.score ?? 1)))
  }
})

/** A page with a registry, which has listed all servers. */
async function tab(mode: string): Promise<Page> {
  const page = await openPage(browser, site.url)
  await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    window.r = await createRegistry({ mode: '${mode}', storage: 'memory', servers: ${JSON.stringify(servers())} })
    await r.discover()
  })()`)
  return page
}

const run = (page: Page, registry = 'r') =>
  page.evaluate(`(${searchAll})(${registry}, ${JSON.stringify(queries)})`) as Promise<SearchHit[][]>

for (const mode of ['worker', 'main', 'shared']) {
  test(`P46: mode ${mode} gives the same hits, and so does a connected registry`, async () => {
    const page = await tab(mode)
    const want = await expected()
    assert.equal(await page.evaluate('r.mode'), mode)
    assert.deepEqual(await run(page), want)
    await page.evaluate(`(async () => {
      const { connectRegistry, portChannel, serveRegistry } = await import('/index.js')
      const { port1, port2 } = new MessageChannel()
      serveRegistry(r, portChannel(port1))
      window.connected = await connectRegistry(portChannel(port2))
    })()`)
    assert.deepEqual(await run(page, 'connected'), want)
    await page.close()
  })
}

test('P46: only tools that models may call now are found', async () => {
  const registry = await createRegistry({ storage: 'memory', servers: servers() })
  await registry.discover()
  const names = async (query: string, servers?: string[]) =>
    (await registry.search(query, servers && { servers })).map((h) => h.name)
  assert.ok(!(await names('reads a file for an app')).includes('disk__app_only'))
  assert.deepEqual(await names('file', ['many']), [])
  await registry.updateServer('disk', { tools: { deny: ['read_file'] } })
  assert.deepEqual(await names('file'), ['disk__write_file'])
  await registry.updateServer('disk', { tools: {} })
  assert.deepEqual((await names('file')).sort(), ['disk__read_file', 'disk__write_file'])
  await registry.setEnabled('disk', false)
  assert.deepEqual(await names('file'), [])
  await registry.setEnabled('disk', true)
  await registry.discover()
  assert.deepEqual((await names('file')).sort(), ['disk__read_file', 'disk__write_file'])
  await registry.removeServer('disk')
  assert.deepEqual(await names('file'), [])
  await registry.close()
})

test('P46: held tools are not found', async () => {
  const registry = await createRegistry({
    storage: 'memory',
    servers: { disk: { url: files.url, trust: 'ask-always' } },
  })
  await registry.discover()
  assert.ok(registry.getSnapshot().held.length)
  assert.deepEqual(await registry.search('file'), [])
  await registry.approveTools('disk')
  assert.equal((await registry.search('file')).length, 2)
  await registry.close()
})

test('P46: a host that was started again gets the tools again', async () => {
  const { r, crash } = await crashing({ servers: servers() })
  await r.discover()
  const before = await searchAll(r, queries)
  await crash()
  await r.discover()
  assert.deepEqual(await searchAll(r, queries), before)
  await r.close()

  const page = await tab('worker')
  const first = await run(page)
  const again = await page.evaluate(`(async () => {
    const { portChannel, serveRegistry, connectRegistry, createRegistry } = await import('/index.js')
    const made = []
    window.Worker = class extends Worker { constructor(...args) { super(...args); made.push(this) } }
    const other = await createRegistry({ mode: 'worker', storage: 'memory', servers: ${JSON.stringify(servers())} })
    await other.discover()
    await other.search('file')
    made[0].terminate()
    await other.discover().catch(() => {}) // it may have been sent to the worker that has gone
    await other.discover()
    const all = await (${searchAll})(other, ${JSON.stringify(queries)})
    await other.close()
    return all
  })()`)
  assert.deepEqual(again, first)
  await page.close()
})

test('P46: several searches at once, and one that is cancelled', async () => {
  const registry = await createRegistry({ storage: 'memory', servers: servers() })
  await registry.discover()
  const ends = new AbortController()
  const all = Promise.all(queries.map((query) => registry.search(query, { limit: 5 })))
  const cancelled = registry.search('file', { signal: ends.signal })
  ends.abort()
  await assert.rejects(cancelled, (e: RegistryError) => e.code === 'aborted')
  assert.deepEqual(await all, await expected())
  registry.getTools({ deferred: { budgetTokens: 0 } })
  await registry.close()
  await assert.rejects(registry.search('file'), (e: RegistryError) => e.code === 'closed')
  await assert.rejects(
    registry.call('portolan_call_tool', { name: 'disk__read_file' }),
    (e: RegistryError) => e.code === 'closed',
  )
})

test('P46: wrong queries and options are refused', async () => {
  const registry = await createRegistry({ storage: 'memory', servers: { disk: { url: files.url } } })
  const refused = (query: unknown, options: unknown, code: string) =>
    assert.rejects(registry.search(query as string, options as never), (e: RegistryError) => e.code === code)
  await refused(7, {}, 'invalid_arguments')
  await refused('file', { limit: 0 }, 'invalid_option')
  await refused('file', { limit: 51 }, 'invalid_option')
  await refused('file', { limits: 5 }, 'invalid_option')
  await refused('file', { servers: 'disk' }, 'invalid_option')
  assert.deepEqual(await registry.search('file'), []) // nothing is listed yet
  await registry.close()
})

test('P46: tools of a registry that is connected stay searchable while they change', async () => {
  const registry = await createRegistry({ storage: 'memory', servers: servers() })
  await registry.discover()
  const { port1, port2 } = new MessageChannel()
  const stop = serveRegistry(registry, portChannel(port1))
  const connected = await connectRegistry(portChannel(port2))
  assert.deepEqual(await searchAll(connected, queries), await searchAll(registry, queries))
  await connected.setEnabled('many', false)
  assert.deepEqual(await connected.search('buoy 25'), [])
  await connected.close()
  stop()
  port1.close()
  await registry.close()
})

test('P46: a part that is not served fails the search by name', async () => {
  const page = await openPage(browser, site.url, /Failed to load resource/)
  await page.context().route('**/search.js', (route) => route.fulfill({ status: 404, body: '' }))
  const faults = await page.evaluate(`(async () => {
    const { connectRegistry, createRegistry, portChannel, serveRegistry } = await import('/index.js')
    const r = await createRegistry({ mode: 'worker', storage: 'memory', servers: ${
    JSON.stringify({ disk: { url: files.url } })
  } })
    await r.discover()
    const { port1, port2 } = new MessageChannel()
    serveRegistry(r, portChannel(port1))
    const connected = await connectRegistry(portChannel(port2))
    const fault = (r) => r.search('file').then(() => 'none', (e) => e.code + ': ' + e.message.slice(0, 9))
    return [await fault(r), await fault(connected)]
  })()`)
  assert.deepEqual(faults, ['load_failed: search.js', 'load_failed: search.js'])
  await page.close()
})
