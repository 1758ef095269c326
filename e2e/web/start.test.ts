import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { createRegistry, preload, RegistryError } from '../../dist/npm/index.js'
import type { LoadProgress, StorageAdapter } from '../../wasm/js/shared/types.ts'
import { launchChromium, listen, openPage, root, type Listening } from '../rig/harness.ts'

// When the module is loaded, and which.

let wasm: Buffer
/** Serves the module under any name, and says how often. */
let site: Listening
let asked: string[] = []
let broken = false
/** The module is sent once this has resolved. */
let held = Promise.resolve()
before(async () => {
  wasm = await readFile(`${root}dist/npm/portolan.wasm`)
  site = await listen(async (req, res) => {
    const built = req.url!.match(/^\/([a-z-]+\.js)$/)
    if (built)
      return void res.writeHead(200, { 'content-type': 'text/javascript' }).end(
        await readFile(`${root}dist/npm/${built[1]}`),
      )
    if (!req.url!.endsWith('.wasm'))
      return void res.writeHead(200, { 'content-type': 'text/html' }).end(
        '<!doctype html><title>start</title><link rel="icon" href="data:,">',
      )
    asked.push(req.url!)
    if (broken) return void res.writeHead(503).end()
    await held
    res.writeHead(200, { 'content-type': 'application/wasm' }).end(wasm)
  })
})
after(() => site.close())

/** An address that no other test has loaded the module from. */
let addresses = 0
const address = () => {
  asked = []
  return `${site.url}/${++addresses}.wasm`
}

const fails = (code: string, text?: RegExp) => (e: unknown) => {
  assert.ok(e instanceof RegistryError, String(e))
  assert.equal(e.code, code, e.message)
  if (text) assert.match(`${e.message} ${e.hint}`, text)
  return true
}

const digest = (algorithm: string) => `${algorithm}-${createHash(algorithm).update(wasm).digest('base64')}`

test('nothing is downloaded before the first server is on', async () => {
  const url = address()
  const kept = new Map([[
    'portolan.servers',
    '{"version":1,"servers":{"stored":{"url":"https://s.example/mcp","enabled":false,"headers":["X-Key"],"tools":{"deny":["a"]}}}}',
  ]])
  const storage: StorageAdapter = {
    get: (k) => kept.get(k),
    set: (k, v) => void kept.set(k, v),
    remove: (k) => void kept.delete(k),
  }
  const r = await createRegistry({ wasm: url, storage, servers: { demo: { url: 'builtin:demo', enabled: false } } })
  let heard = 0
  r.subscribe(() => {
    heard++
  })
  assert.equal(r.mode, 'main')
  assert.match(r.version, /^\d/)
  const { status, servers, tools } = r.getSnapshot()
  assert.deepEqual([status, Object.keys(servers).sort(), tools], ['idle', ['demo', 'stored'], []])
  assert.deepEqual(servers.stored!.config, {
    url: 'https://s.example/mcp',
    proxy: false,
    enabled: false,
    tools: { deny: ['a'] },
    missingHeaders: ['X-Key'], // its value was not stored
  })
  assert.equal(r.getHealth().demo!.status, 'disabled')
  assert.equal((await r.discover()).status, 'ready')
  assert.deepEqual(r.getTools(), [])
  assert.equal(r.has('demo__echo'), false)
  assert.equal((await r.discover(['stored'])).status, 'ready')
  assert.ok(heard > 0)
  assert.deepEqual(asked, [])

  broken = true
  await assert.rejects(r.setEnabled('demo', true), fails('load_failed', /503/))
  assert.equal(r.getHealth().demo!.status, 'disabled')
  assert.equal((await r.discover()).status, 'ready')
  broken = false
  await assert.rejects(r.call('demo__echo', {}), fails('unknown_tool', /getTools/))
  await assert.rejects(r.retry('demo'), fails('disabled', /setEnabled/))
  for (const wrong of [r.retry('gone'), r.removeServer('gone'), r.setEnabled('gone', true), r.discover(['gone'])])
    await assert.rejects(wrong, fails('unknown_server'))
  await r.setEnabled('demo', false)
  await r.removeServer('stored')
  await Promise.resolve()
  assert.deepEqual(Object.keys(r.getSnapshot().servers), ['demo'])
  await Promise.all([r.setEnabled('demo', true), r.addServer('two', { url: 'builtin:demo' })])
  await r.discover()
  assert.equal(await r.dispatch('demo__echo', { text: 'up' }), 'up')
  assert.ok(r.has('two__echo'))
  assert.equal(asked.length, 2)
  await r.close()
  assert.ok(!kept.get('portolan.servers')!.includes('stored'), 'what was removed is not stored any more')
})

test('a change of the configuration loads the module, which says what is wrong and keeps the rest', async () => {
  const url = 'https://s.example/mcp'
  const kept = new Map<string, string>()
  const storage: StorageAdapter = {
    get: (k) => kept.get(k),
    set: (k, v) => void kept.set(k, v),
    remove: (k) => void kept.delete(k),
  }
  const r = await createRegistry({ wasm: address(), storage })
  await assert.rejects(r.addServer('s', { url, colour: 1 } as never), fails('invalid_config', /colour/))
  await r.addServer('s', { url, enabled: false, headers: { A: 'hush' }, timeoutMs: 5 })
  await r.updateServer('s', {
    url: 'https://s.example:443/mcp',
    headers: { A: '[redacted]', B: 'more' },
    timeoutMs: undefined,
  })
  await assert.rejects(r.updateServer('s', { headers: { C: '[redacted]' } }), fails('invalid_config', /"C"/))
  const config = { url: 'https://s.example:443/mcp', enabled: false }
  assert.deepEqual(r.getSnapshot().servers.s!.config, {
    ...config,
    proxy: false,
    headers: { A: '[redacted]', B: '[redacted]' },
  })
  assert.deepEqual(JSON.parse(kept.get('portolan.servers')!).servers, { s: { ...config, headers: ['A', 'B'] } })
  assert.equal(asked.length, 1)
  await r.close()

  const later = await createRegistry({ wasm: address(), storage })
  assert.equal(later.getHealth().s!.status, 'disabled')
  await later.removeServer('s')
  assert.deepEqual(JSON.parse(kept.get('portolan.servers')!).servers, {})
  await later.close()
})

test('a registry that never started closes', async () => {
  const r = await createRegistry({ wasm: address(), storage: 'memory' })
  await r.close()
  await assert.rejects(r.addServer('s', { url: 'builtin:demo' }), fails('closed'))
  assert.deepEqual(asked, [])
})

test('a discovered registry refreshes the first server that comes', async () => {
  const r = await createRegistry({ storage: 'memory' })
  await r.discover()
  const listed = new Promise<void>((resolve) => {
    r.subscribe(() => {
      if (r.has('demo__echo')) resolve()
    })
  })
  await r.addServer('demo', { url: 'builtin:demo' })
  await listed
  await r.close()
})

test('preload loads what registries then share', async () => {
  const url = address()
  const phases: LoadProgress[] = []
  await preload({ wasm: url, onProgress: (p) => phases.push(p) })
  assert.equal(asked.length, 1)
  assert.ok(phases.some((p) => p.phase === 'download' && p.loaded === wasm.length), JSON.stringify(phases.at(-1)))
  const registries = await Promise.all(
    [1, 2].map(() => createRegistry({ wasm: url, storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })),
  )
  assert.equal(asked.length, 1)
  for (const r of registries) await r.close()
  await assert.rejects(preload({ wasm: `${site.url}/none` }), fails('load_failed'))
  await assert.rejects(preload({ wasm: address(), signal: AbortSignal.abort() }), fails('aborted'))
})

test('integrity admits the file it names, and no other', async () => {
  const servers = { demo: { url: 'builtin:demo' } }
  const file = new URL(`file://${root}dist/npm/portolan.wasm`)
  for (const integrity of [digest('sha256'), digest('sha384'), `sha256-AAAA ${digest('sha512')}`]) {
    for (const wasm of [address(), file])
      await (await createRegistry({ wasm, integrity, storage: 'memory', servers })).close()
  }
  const other = `sha384-${createHash('sha384').update('other').digest('base64')}`
  for (const wasm of [address(), file]) {
    await assert.rejects(
      createRegistry({ wasm, integrity: other, storage: 'memory', servers }),
      (e) => fails('integrity_failed', /unchanged/)(e) && (e as Error).message.includes(digest('sha384')),
    )
  }
  await assert.rejects(createRegistry({ integrity: 'md5-abc' }), fails('invalid_option', /sha384/))
  await assert.rejects(createRegistry({ integrity: other, wasm }), fails('invalid_option', /address/))
})

test('in a page, too', async () => {
  const browser = await launchChromium()
  const page = await openPage(browser, `${site.url}/`, /integrity|digest/)
  const url = address()
  const good = digest('sha384'), bad = `sha384-${createHash('sha384').update('other').digest('base64')}`
  const seen = await page.evaluate(`(async () => {
    const { createRegistry, preload } = await import('/index.js')
    const none = await createRegistry({ wasm: '${url}', integrity: '${good}' })
    const files = () => performance.getEntriesByType('resource').map((e) => new URL(e.name).pathname)
    const before = files()
    const mode = none.mode
    await none.addServer('demo', { url: 'builtin:demo' })
    await none.discover()
    const text = await none.dispatch('demo__echo', { text: none.mode })
    const refused = await createRegistry({ wasm: '${url}', integrity: '${bad}', servers: { demo: { url: 'builtin:demo' } } }).catch((e) => e.code + ': ' + e.message)
    await none.close()
    return { before, mode, text, refused }
  })()`) as { before: string[]; mode: string; text: string; refused: string }
  assert.deepEqual(seen.before.filter((f) => /wasm|worker/.test(f)), [])
  assert.deepEqual([seen.mode, seen.text], ['worker', 'worker'])
  assert.match(seen.refused, /^integrity_failed: /)
  assert.ok(seen.refused.includes(good))
  assert.deepEqual(page.faults, [])
  await browser.close()
})

test('in a page, preload starts a worker, rehearses in another and leaves nothing behind', async () => {
  const browser = await launchChromium()
  const page = await openPage(browser, `${site.url}/`)
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  let workers = 0
  const gone = new Promise<void>((resolve) =>
    page.on('worker', (worker) => {
      workers++
      worker.on('close', () => resolve())
    })
  )
  const url = address()
  const stored = await page.evaluate(`(async () => {
    globalThis.portolan = await import('/index.js')
    await portolan.preload({ wasm: '${url}' })
    return Object.keys(localStorage)
  })()`)
  assert.deepEqual(stored, [])
  assert.equal(workers, 2)
  await gone
  const seen = await page.evaluate(`(async () => {
    const r = await portolan.createRegistry({ wasm: '${url}' })
    await r.addServer('demo', { url: 'builtin:demo' })
    await r.discover()
    const seen = { mode: r.mode, servers: Object.keys(r.getSnapshot().servers), tools: r.getTools().length }
    await r.close()
    return seen
  })()`)
  assert.deepEqual(seen, { mode: 'worker', servers: ['demo'], tools: 7 })
  assert.equal(workers, 2)
  assert.deepEqual(requests.filter((r) => !r.startsWith(site.url)), [])
  // A registry that does not wait for the rehearsal ends it.
  const other = address()
  const early = await page.evaluate(`(async () => {
    const ready = portolan.preload({ wasm: '${other}' })
    const r = await portolan.createRegistry({ wasm: '${other}', servers: { demo: { url: 'builtin:demo' } } })
    await Promise.all([r.discover(), ready])
    const tools = r.getTools().length
    await r.close()
    return tools
  })()`)
  assert.equal(early, 7)
  assert.deepEqual(page.faults, [])
  await browser.close()
})

/** A server of 2025-11-25 that keeps its requests. `asked` resolves once there is one. */
async function keeper(): Promise<Listening & { requests: string[]; asked(): Promise<void> }> {
  const requests: string[] = []
  let tell = () => {}
  const asked = () =>
    new Promise<void>((resolve) => {
      tell = resolve
      if (requests.length) resolve()
    })
  const server = await listen(async (req, res) => {
    res.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*, authorization')
    if (req.method !== 'POST') return void res.writeHead(req.method === 'OPTIONS' ? 204 : 405).end()
    const chunks: Buffer[] = []
    for await (const c of req) chunks.push(c as Buffer)
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string }
    requests.push(`${method} ${req.headers.authorization ?? ''}`.trim())
    tell()
    if (id === undefined) return void res.writeHead(202).end()
    const serverInfo = { name: 'keeper', version: '1' }
    const result = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
      'tools/list': { tools: [{ name: 'tide', inputSchema: { type: 'object' } }] },
    }[method]
    res.writeHead(result ? 200 : 400, { 'content-type': 'application/json' })
    res.end(
      JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) }),
    )
  })
  return Object.assign(server, { requests, asked })
}

test('in a page, the first request of each server that is on leaves before the module, and leaves once', async () => {
  const browser = await launchChromium()
  const page = await openPage(browser, `${site.url}/`, /400|405/)
  const [on, secret, off, sse] = await Promise.all([keeper(), keeper(), keeper(), keeper()])
  const servers = {
    on: { url: on.url },
    secret: { url: secret.url, headers: { Authorization: 'Bearer 5c1d', 'X-Team': 'a' } },
    off: { url: off.url, enabled: false },
    sse: { url: sse.url, transport: 'sse' },
  }
  const visit = async () => {
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    await page.goto(site.url)
    const url = address()
    const listed = page.evaluate(`(async () => {
      const { createRegistry } = await import('/index.js')
      const r = await createRegistry({ wasm: '${url}', servers: ${JSON.stringify(servers)} })
      await r.discover(['on', 'secret'])
      const tools = r.getTools().length
      while (!localStorage.getItem('portolan.hints')) await new Promise((resolve) => setTimeout(resolve, 10))
      await r.close()
      return tools
    })()`)
    await Promise.all([on.asked(), secret.asked()])
    const before = [on, secret, off, sse].map((s) => s.requests.splice(0))
    release()
    assert.equal(await listed, 2)
    const after = [on, secret, off, sse].map((s) => s.requests.splice(0))
    return { before, after }
  }
  const rest = ['notifications/initialized', 'tools/list']
  const as = (...methods: string[]) => methods.map((m) => `${m} Bearer 5c1d`)
  assert.deepEqual(await visit(), {
    before: [['server/discover'], as('server/discover'), [], []],
    after: [['initialize', ...rest], as('initialize', ...rest), [], []],
  })
  assert.deepEqual(await visit(), {
    before: [['initialize'], as('initialize'), [], []],
    after: [rest, as(...rest), [], []],
  }, 'of servers that are known')
  assert.deepEqual(page.faults, [])
  await Promise.all([browser.close(), on.close(), secret.close(), off.close(), sse.close()])
})
