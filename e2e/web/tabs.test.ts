import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { wholeChromium } from '../rig/flags.ts'
import { happens, listen, root, startChromium, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { version } from '../../wasm/js/shared/version.ts'

// Workers that die and workers that tabs share, in Chromium, on the built package.

declare global {
  interface Window {
    r: Registry
    workers: Worker[]
    log: unknown[]
    slow: Promise<unknown>
  }
}

let browser: Browser
let site: Listening
let server: Awaited<ReturnType<typeof sdkServer>>
let downloads = 0
/** Sends the module in place of the site. */
let slowly: ((res: ServerResponse, body: Buffer) => void) | undefined

/** The way for a test to overwrite the memory of the module that the worker runs. */
const spy = `{ const { instantiate } = WebAssembly
  WebAssembly.instantiate = async (...args) => { const made = await instantiate(...args); self.memory = made.exports.mem; return made } }
`

before(async () => {
  browser = await startChromium()
  server = await sdkServer()
  site = await listen(async (req, res) => {
    const [, file, type] = req.url!.match(/^\/([a-z-]+\.(js|wasm))$/) ?? []
    if (!file)
      return void res.writeHead(200, { 'content-type': 'text/html' }).end(
        '<!doctype html><title>tab</title><link rel="icon" href="data:,">',
      )
    if (type === 'wasm') downloads++
    const body = await readFile(`${root}dist/npm/${file}`)
    res.writeHead(200, {
      'content-type': type === 'wasm' ? 'application/wasm' : 'text/javascript',
      'cache-control': 'no-store',
    })
    if (type === 'wasm' && slowly) slowly(res, body)
    else res.end(file === 'worker.js' ? spy + body : body)
  })
})
after(async () => {
  await Promise.all([browser.close(), site.close(), server.close()])
})

/** Among a browser's targets: other files use the same browser. */
const ours = (t: { type: string; url: string }) => t.type === 'shared_worker' && t.url.startsWith(site.url)

/** Tabs that know nothing of other tests' tabs. */
async function fresh(t: TestContext, of = browser): Promise<BrowserContext> {
  const context = await of.newContext()
  t.after(() => context.close())
  return context
}

/** A tab with a registry in window.r. */
async function tab(context: BrowserContext, options: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(site.url)
  await page.evaluate(`(async () => {
    window.workers = []
    window.Worker = class extends Worker { constructor(...args) { super(...args); workers.push(this) } }
    const { createRegistry } = await import('/index.js')
    window.r = await createRegistry(${options})
  })()`)
  return page
}

const until = (page: Page, what: string) => page.waitForFunction(what)

/** Crashes while a call is under way: how it ended, and whether the next call was answered. */
const crash = (page: Page, how: string) =>
  page.evaluate(`(async () => {
  const inFlight = r.call('s__wait', {}).then(() => 'answered', (e) => e.code + ' ' + e.retryable)
  await new Promise((resolve) => setTimeout(resolve, 100))
  ${how}
  const ended = await inFlight
  const listed = r.has('s__raw')
  const text = await r.dispatch('s__raw', { again: true })
  return { ended, listed, again: text.includes('again') }
})()`) as Promise<{ ended: string; listed: boolean; again: boolean }>

const replaced = { ended: 'runtime_crashed true', listed: true, again: true }

const withServers = (mode: string) =>
  `{ mode: '${mode}', storage: 'memory', servers: { demo: { url: 'builtin:demo' }, s: { url: '${server.url}', headers: { Authorization: 'Bearer kept' } } } }`

test('a worker.js of another version than the script is refused, wherever its module runs', async (t) => {
  const context = await fresh(t)
  await context.route('**/index.js', async (route) => {
    const text = await (await route.fetch()).text()
    assert.ok(text.includes(`"${version}"`))
    await route.fulfill({ contentType: 'text/javascript', body: text.replace(`"${version}"`, '"99.0.0"') })
  })
  for (const mode of ['auto', 'main', 'shared'])
    await assert.rejects(tab(context, withServers(mode)), /worker\.js has another version/, mode)
})

test('a worker that is terminated is replaced, with all it had', async (t) => {
  const context = await fresh(t)
  const page = await tab(context, withServers('auto'))
  await page.evaluate(async () => {
    await window.r.discover()
    await window.r.updateServer('demo', { tools: { deny: ['echo'] } })
    await window.r.updateServer('s', { tools: { deny: ['steps'] } })
  })
  server.headers.length = 0
  assert.deepEqual(await crash(page, 'workers.at(-1).terminate()'), replaced)
  assert.ok(server.headers.length > 0 && server.headers.every((h) => h.authorization === 'Bearer kept'))
  await until(page, "r.getSnapshot().withheld.map((t) => t.name).join() === 'demo__echo,s__steps'")
  assert.equal(await page.evaluate("r.has('s__steps')"), false)
  assert.equal(await page.evaluate('workers.length'), 2)
  for (let i = 0; i < 2; i++) assert.equal((await crash(page, 'workers.at(-1).terminate()')).again, true)
  const down = await page.evaluate(`(async () => {
    workers.at(-1).terminate()
    const changed = new Promise((resolve) => r.subscribe(() => { if (r.getHealth().s.status === 'error') resolve() }))
    await changed
    const { errorCode } = r.getHealth().s
    const refused = await r.call('s__raw', {}).catch((e) => e.code + ' ' + e.hint)
    const tools = r.getTools().length
    await r.retry('s')
    return { errorCode, refused, tools, text: await r.dispatch('s__raw', { back: true }) }
  })()`) as { errorCode: string; refused: string; tools: number; text: string }
  assert.deepEqual([down.errorCode, down.tools], ['runtime_crashed', 0])
  assert.match(down.refused, /^runtime_crashed .*retry/)
  assert.match(down.text, /back/)
  await page.evaluate('r.close()')
})

test('a worker that dies before its first reply is replaced by itself, too', async (t) => {
  const page = await tab(await fresh(t), withServers('auto'))
  const after = await page.evaluate(`(async () => {
    await r.discover()
    window.Worker = class extends Worker {
      postMessage(message, ...more) {
        super.postMessage(message, ...more)
        if (workers.length < 3 && [message].flat().some((m) => m.method === 'attach')) super.terminate()
      }
    }
    const settled = new Promise((resolve) => r.subscribe(() => {
      const { errorCode } = r.getHealth().s
      if (errorCode || workers.length === 3 && r.has('s__raw')) resolve(errorCode)
    }))
    workers[0].terminate()
    return { errorCode: await settled, text: await r.dispatch('s__raw', { up: 1 }), workers: workers.length }
  })()`) as { errorCode?: string; text: string; workers: number }
  assert.match(after.text, /up/)
  assert.deepEqual([after.errorCode, after.workers], [undefined, 3])
})

test('a worker that hangs is replaced when it misses a deadline by far', async (t) => {
  const context = await fresh(t)
  const page = await tab(context, withServers('worker'))
  await page.evaluate('r.discover()')
  await page.workers()[0]!.evaluate(`void setTimeout(() => { // its thread waits, and does nothing else
    Atomics.wait(new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer), 0, 0)
  })`)
  const late = await page.evaluate(`r.call('demo__echo', {}, { timeoutMs: 200 }).catch((e) => e.code)`)
  assert.equal(late, 'timeout')
  assert.equal(await page.evaluate('workers.length'), 1, 'it may be busy')
  const next = await page.evaluate(`r.call('demo__echo', {}, { timeoutMs: 11000 }).catch((e) => e.code)`)
  assert.equal(next, 'timeout')
  assert.equal(await page.evaluate(`r.dispatch('demo__echo', { text: 'up' })`), 'up')
  assert.equal(await page.evaluate('workers.length'), 2)
})

test('a page that was frozen beyond a deadline keeps its worker, and its other calls', async (t) => {
  const page = await tab(await fresh(t), withServers('worker'))
  await page.evaluate('r.discover()')
  server.calls.length = 0
  await page.evaluate(`void (window.slow = Promise.all([
    r.call('s__wait', {}, { timeoutMs: 5000 }).catch((e) => e.code),
    r.call('s__wait', {}, { timeoutMs: 60000 }).catch((e) => e.code),
  ]))`)
  await happens(() => server.calls.length >= 2)
  const cdp = await browser.newBrowserCDPSession()
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo')
  const renderers = processInfo.filter((p) => p.type === 'renderer')
  for (const { id } of renderers) process.kill(id, 'SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, 11_000)) // longer than a worker may be silent
  for (const { id } of renderers) process.kill(id, 'SIGCONT')
  await happens(() => server.calls.includes('cancelled'))
  assert.match(await page.evaluate(`r.dispatch('s__raw', { awake: 1 })`) as string, /awake/)
  await page.evaluate('r.close()')
  assert.deepEqual(await page.evaluate('slow'), ['timeout', 'closed'])
  assert.equal(await page.evaluate('workers.length'), 1)
})

for (const mode of ['worker', 'main'])
  test(`a module that traps is replaced, in mode ${mode}`, async (t) => {
    const whole = await startChromium([], wholeChromium)
    t.after(() => whole.close())
    const page = await tab(await fresh(t, whole), withServers(mode))
    await page.evaluate('r.discover()')
    const overwrite = 'new Uint8Array(self.memory.buffer).fill(0xff)'
    if (mode === 'main') {
      assert.deepEqual(await crash(page, `${overwrite}; r.call('demo__echo', {}).catch(() => {})`), replaced)
    } else {
      const crashed = crash(
        page,
        `await new Promise((resolve) => { window.overwritten = resolve }); r.call('demo__echo', {}).catch(() => {})`,
      )
      await until(page, 'window.overwritten')
      await page.workers()[0]!.evaluate(overwrite)
      await page.evaluate('overwritten()')
      assert.deepEqual(await crashed, replaced)
      assert.equal(await page.evaluate('workers.length'), 1, 'the worker itself lives on')
    }
    await page.evaluate('r.close()')
  })

test('a change in one tab keeps the newer secret that another tab has stored', async (t) => {
  const context = await fresh(t)
  const options = `{ mode: 'worker', rememberSecrets: true }`
  const secret = (value: string) => `{ headers: { Authorization: 'Bearer ${value}' } }`
  const a = await tab(context, options)
  await a.evaluate(`r.addServer('s', { url: '${server.url}', ...${secret('old')} })`)
  const b = await tab(context, options)
  await a.evaluate(`r.updateServer('s', ${secret('new')})`)
  await b.evaluate(`r.updateServer('s', { timeoutMs: 9000 })`)
  const c = await tab(context, options)
  server.headers.length = 0
  await c.evaluate('r.discover()')
  assert.equal(await c.evaluate('r.getSnapshot().servers.s.config.timeoutMs'), 9000)
  assert.ok(server.headers.length > 0 && server.headers.every((h) => h.authorization === 'Bearer new'))
})

test('a database that another tab keeps from opening is waited for with a bound', async (t) => {
  const context = await fresh(t)
  const other = await context.newPage()
  await other.goto(site.url)
  await other.evaluate(`new Promise((blocked) => {
    const open = indexedDB.open('portolan', 1)
    open.onsuccess = () => {
      window.db = open.result // it does not close for the next version
      indexedDB.open('portolan', 2).onblocked = blocked
    }
  })`)
  await assert.rejects(
    tab(context, `{ mode: 'main', rememberSecrets: true }`).catch((e) => {
      throw new Error(e.message.split('\n')[0])
    }),
    /RegistryError: the database that rememberSecrets needs does not open/,
  )
})

for (const silent of ['get', 'set', 'get set']) {
  test(`a storage of the app that never answers ${silent} ends neither start nor changes nor close`, async (t) => {
    const page = await (await fresh(t)).newPage()
    await page.clock.install()
    await page.goto(site.url)
    await page.evaluate(`(async () => {
      const { createRegistry } = await import('/index.js')
      const kept = new Map()
      window.log = []
      const silent = (name, does) => (...args) => {
        if (!'${silent}'.split(' ').includes(name)) return does(...args)
        log.push(name)
        return new Promise(() => {})
      }
      const storage = {
        get: silent('get', (key) => kept.get(key)),
        set: silent('set', (key, text) => void kept.set(key, text)),
        remove: (key) => void kept.delete(key),
      }
      window.slow = (async () => {
        const r = await createRegistry({ storage, servers: { demo: { url: 'builtin:demo' } } })
        await r.discover()
        const text = await r.dispatch('demo__echo', { text: 'here' })
        await r.addServer('off', { url: 'builtin:demo', enabled: false })
        const { warnings } = r.getSnapshot()
        await r.close()
        return { text, warning: warnings.join(' ') }
      })()
    })()`)
    await until(page, 'log.length > 0')
    await page.clock.runFor(10_000)
    const { text, warning } = await page.evaluate('slow') as { text: string; warning: string }
    assert.equal(text, 'here')
    assert.match(warning, /the storage of this app has not answered for 10 s/)
    assert.match(warning, /the servers are not kept on this device/)
  })
}

test('a closed registry waits for no shared worker any more', async (t) => {
  const page = await fresh(t).then((context) => context.newPage())
  await page.goto(site.url)
  const open = await page.evaluate(`(async () => {
    const open = new Set()
    window.BroadcastChannel = class extends BroadcastChannel {
      constructor(name) { super(name); open.add(this) }
      close() { super.close(); open.delete(this) }
    }
    const { createRegistry } = await import('/index.js')
    const options = { mode: 'shared', storage: 'memory', servers: { off: { url: 'builtin:demo', enabled: false } } }
    const r = await createRegistry(options)
    const before = open.size
    await r.close()
    return [before, open.size]
  })()`)
  assert.deepEqual(open, [1, 0])
})

test('registries of one page use one connection to the database', async (t) => {
  const page = await fresh(t).then((context) => context.newPage())
  await page.goto(site.url)
  const opened = await page.evaluate(`(async () => {
    const { open } = indexedDB
    let opened = 0
    IDBFactory.prototype.open = function (...args) { opened++; return open.apply(this, args) }
    const { createRegistry } = await import('/index.js')
    for (let i = 0; i < 3; i++) {
      const r = await createRegistry({ mode: 'main', servers: { demo: { url: 'builtin:demo' } } })
      await r.discover()
      await r.close()
    }
    return opened
  })()`)
  assert.equal(opened, 1)
})

test('registries of one page leave a single lock about their writes', async (t) => {
  const page = await tab(await fresh(t), `{ mode: 'main' }`)
  const locks = await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    for (let i = 0; i < 4; i++) {
      await using r = await createRegistry({ mode: 'main' })
      await r.addServer('s' + i, { url: 'builtin:demo', enabled: false })
    }
    const { held } = await navigator.locks.query()
    return held.map((l) => l.name).filter((name) => name.startsWith('portolan wrote '))
  })()`) as string[]
  assert.deepEqual(locks.map((name) => name.split(' ')[2]), ['4'])
})

test('tabs share one module and one state', async (t) => {
  const context = await fresh(t)
  downloads = 0
  const [a, b] = await Promise.all(
    [1, 2].map(() => tab(context, `{ mode: 'shared', servers: { demo: { url: 'builtin:demo' } } }`)),
  )
  assert.deepEqual(await Promise.all([a, b].map((p) => p!.evaluate('r.mode'))), ['shared', 'shared'])
  assert.equal(downloads, 1)
  await a!.evaluate(
    `r.addServer('s', { url: '${server.url}', headers: { Authorization: 'Bearer given in a' } }).then(() => r.discover())`,
  )
  await until(b!, "r.has('s__raw')")
  const state = (p: Page) => p.evaluate(() => JSON.stringify({ ...window.r.getSnapshot(), version: 0 }))
  await happens(async () => await state(a!) === await state(b!))
  assert.match(await b!.evaluate(`r.dispatch('s__raw', { from: 'b' })`) as string, /from/)
  server.headers.length = 0
  await b!.evaluate(`r.updateServer('s', { timeoutMs: 9000 })`)
  await b!.evaluate(`r.call('s__raw', {})`)
  assert.ok(server.headers.every((h) => h.authorization === 'Bearer given in a'), 'a secret of one tab works for all')
  await until(a!, 'r.getSnapshot().servers.s.config.timeoutMs === 9000')
  await b!.evaluate(`r.setEnabled('demo', false)`)
  await until(a!, "!r.has('demo__echo')")
  assert.ok(!(await a!.evaluate('JSON.stringify([...Object.entries(localStorage)])') as string).includes('given in a'))

  // A third tab finds all as it is, and a lost one takes nothing along but its calls.
  const c = await tab(context, `{ mode: 'shared' }`)
  assert.equal(await c.evaluate(`r.has('s__raw')`), true)
  server.calls.length = 0
  await c.evaluate(`void (window.slow = r.call('s__wait', {}).catch(() => {}))`)
  await a!.evaluate(`void (window.slow = r.call('s__wait', {}).then(() => 'answered', (e) => e.code))`)
  await happens(() => server.calls.filter((x) => x === 'wait').length === 2)
  server.calls.length = 0
  await c.close()
  await happens(() => server.calls.includes('cancelled'))
  assert.deepEqual(server.calls, ['cancelled'], 'the call of the closed tab, and no other')
  assert.match(await b!.evaluate(`r.dispatch('s__raw', { still: 1 })`) as string, /still/)
  await b!.evaluate('r.close()')
  assert.match(await a!.evaluate(`r.dispatch('s__raw', { still: 2 })`) as string, /still/)
  await a!.evaluate('r.close()')
  assert.equal(await a!.evaluate('slow'), 'closed')

  // Changes of the tabs were stored, each change once.
  const d = await tab(context, `{ mode: 'shared' }`)
  assert.deepEqual(
    await d.evaluate(() =>
      Object.entries(window.r.getSnapshot().servers).map(([n, s]) => [n, s.config.enabled, s.config.timeoutMs]).sort()
    ),
    [['demo', false, undefined], ['s', true, 9000]],
  )
})

test('tabs of two projects share no worker, and no servers', async (t) => {
  const context = await fresh(t)
  const servers = { ships: 'builtin:demo', charts: server.url }
  const tabs = []
  for (const [project, url] of Object.entries(servers)) {
    const page = await tab(context, `{ mode: 'shared', project: '${project}' }`)
    await page.evaluate(`r.addServer('s', { url: '${url}' }, { scope: 'project' })`)
    tabs.push(page)
  }
  const none = await tab(context, "{ mode: 'shared' }")
  await none.evaluate("r.addServer('mine', { url: 'builtin:demo', enabled: false })")
  const urls = (page: Page) =>
    page.evaluate('Object.fromEntries(Object.entries(r.getSnapshot().servers).map(([n, s]) => [n, s.config.url]))')
  assert.deepEqual(await urls(tabs[0]!), { s: servers.ships })
  assert.deepEqual(await urls(tabs[1]!), { s: servers.charts })
  assert.deepEqual(await urls(none), { mine: 'builtin:demo' })
  assert.deepEqual(await Promise.all(tabs.map((page) => page.evaluate('r.mode'))), ['shared', 'shared'])
})

test('a tab of a project follows where another tab has put a server', async (t) => {
  const context = await fresh(t)
  const [one, two] = [
    await tab(context, "{ mode: 'shared', project: 'ships' }"),
    await tab(context, "{ mode: 'shared', project: 'ships' }"),
  ]
  const is = (page: Page, name: string, scope: string) => until(page, `r.getHealth().${name}?.scope === '${scope}'`)
  await one.evaluate("r.addServer('mine', { url: 'builtin:demo' })")
  await one.evaluate("r.addServer('ours', { url: 'builtin:demo' }, { scope: 'project' })")
  await is(two, 'ours', 'project')
  await two.evaluate("r.updateServer('ours', { trust: 'trust' })")
  await two.evaluate("r.setEnabled('mine', false, { scope: 'project' })")
  await is(one, 'mine', 'override')
  await one.evaluate("r.updateServer('mine', { tools: { deny: ['echo'] } })")
  const stored = (key: string) => one.evaluate((key) => JSON.parse(localStorage[key] as string).servers as object, key)
  assert.deepEqual(await stored('portolan.servers'), { mine: { url: 'builtin:demo' } })
  assert.deepEqual(await stored('portolan.project.ships'), {
    ours: { url: 'builtin:demo', trust: 'trust', scope: 'project' },
    mine: { url: 'builtin:demo', scope: 'override', enabled: false, tools: { deny: ['echo'] } },
  })
})

test('an approval is stored by the tab that gave it, whatever the oldest tab does', async (t) => {
  const tools = [{ name: 'read', description: 'one', inputSchema: { type: 'object' } }]
  const changing = await sdkServer(tools)
  const context = await fresh(t)
  const options = `{ mode: 'shared', servers: { s: { url: '${changing.url}' } } }`
  const [oldest, second] = [await tab(context, options), await tab(context, options)]
  await second.evaluate('r.discover()')
  await until(second, "localStorage['portolan.pins']")
  tools[0]!.description = 'two'
  const stored = () => second.evaluate("localStorage['portolan.pins']")
  const before = await stored()
  assert.equal(await second.evaluate('r.discover().then((s) => s.held.length)'), 1)
  await oldest.evaluate('void setTimeout(() => { for (;;) {} })') // as one that is frozen, and never comes back
  await second.evaluate("r.approveTools('s')")
  assert.notEqual(await stored(), before)
  await changing.close()
})

/** Keeps a page from changing the storage until `window.go()`, as a busy browser does. */
const hold = `{ const { locks } = navigator, request = locks.request.bind(locks)
  const gate = new Promise((resolve) => { window.go = resolve })
  locks.request = (name, ...rest) => name === 'portolan storage' ? gate.then(() => request(name, ...rest)) : request(name, ...rest) }`

/** Changes a stored text in one page, and waits until the other has read it. */
async function heard(by: Page, from: Page, key: string, change: string): Promise<void> {
  const text = await from.evaluate(`(${change})(localStorage['${key}'])`) as string
  await by.evaluate((text) => {
    const { getItem } = Storage.prototype
    let changed = false
    const read = new Promise<void>((resolve) => {
      Storage.prototype.getItem = function(key) { // of policies, and then of pins
        const is = getItem.call(this, key)
        changed ||= is === text
        if (changed && key === 'portolan.pins') resolve()
        return is
      }
    })
    window.log = [() => read]
  }, text)
  await from.evaluate(([key, text]) => localStorage.setItem(key!, text!), [key, text])
  await by.evaluate('log[0]()')
  await by.evaluate(`r.approveTools('s', [])`) // what it sent has arrived before
}

/** Two tabs that share a worker, and a page of the site without a registry. */
async function twoTabs(t: TestContext, options: string): Promise<[Page, Page, Page]> {
  const context = await fresh(t)
  const tabs = [await tab(context, options), await tab(context, options)] as const
  const other = await context.newPage()
  await other.goto(site.url)
  return [...tabs, other]
}

test('approved tools that a closed tab had still to store are stored by another', async (t) => {
  const tools = [{ name: 'read', description: 'one', inputSchema: { type: 'object' } }]
  const changing = await sdkServer(tools)
  const [first, second] = await twoTabs(t, `{ mode: 'shared', servers: { s: { url: '${changing.url}' } } }`)
  await second.evaluate(hold)
  await second.evaluate('r.discover()')
  await until(first, "r.has('s__read')")
  assert.equal(await first.evaluate("localStorage['portolan.pins']"), undefined)
  await second.close()
  await until(first, "localStorage['portolan.pins']")
  await first.evaluate('r.close()')
  tools[0]!.description = 'two'
  const next = await tab(first.context(), `{ mode: 'shared', servers: { s: { url: '${changing.url}' } } }`)
  assert.equal(await next.evaluate('r.discover().then((s) => s.held.length)'), 1)
  await changing.close()
})

test('a policy that one tab changes is not undone by another tab, which follows that of another worker', async (t) => {
  const [first, second, other] = await twoTabs(t, `{ mode: 'shared' }`)
  await first.evaluate(`r.addServer('s', { url: 'builtin:demo' })`)
  await until(second, 'r.getSnapshot().servers.s')
  await first.evaluate(hold)
  await first.evaluate(`void (window.slow = r.updateServer('s', { trust: 'ask-always' }))`)
  const policy = 'r.getSnapshot().servers.s.config.trust'
  await until(second, `${policy} === 'ask-always'`)
  await heard(second, other, 'portolan.servers', `(text) => text + ' '`)
  assert.equal(await first.evaluate(policy), 'ask-always')
  await first.evaluate('go(), slow')
  await other.evaluate(
    `localStorage['portolan.servers'] = localStorage['portolan.servers'].replace('ask-always', 'trust')`,
  )
  for (const page of [first, second]) await until(page, `${policy} === 'trust'`)
})

test('a question ends with its worker, and a late answer goes to no other question', async (t) => {
  const asks = await sdkServer([{ name: 'ask', inputSchema: { type: 'object' } }])
  const context = await fresh(t)
  const page = await tab(
    context,
    `{ storage: 'memory', servers: { s: { url: '${asks.url}' } },
      onElicitation: ({ message, signal }) => new Promise((resolve) => {
        window.questions = { ...window.questions, [message]: resolve }
        window.ended ??= signal
        window.asked()
      }) }`,
  )
  const answers = await page.evaluate(`(async () => {
    const answer = (name) => ({ action: 'accept', content: { name } })
    const put = () => new Promise((resolve) => { window.asked = resolve })
    await r.discover()
    const first = put()
    const lost = r.dispatch('s__ask', { message: 'first' }).catch((e) => e.code)
    await first
    workers.at(-1).terminate()
    if (await lost !== 'runtime_crashed') return lost
    if (!ended.aborted) await new Promise((resolve) => ended.addEventListener('abort', resolve))
    const second = put()
    const answered = r.dispatch('s__ask', { message: 'second' })
    await second
    questions.first(answer('of the first'))
    await new Promise((resolve) => setTimeout(resolve)) // its answer is posted
    questions.second(answer('of the second'))
    return answered
  })()`)
  assert.equal(answers, 'of the second')
  await asks.close()
})

test('a question goes to the tab whose call brought it up', async (t) => {
  const asks = await sdkServer([{ name: 'ask', inputSchema: { type: 'object' } }])
  const context = await fresh(t)
  const options = (name: string) =>
    `{ mode: 'shared', storage: 'memory', servers: { s: { url: '${asks.url}' } }, onElicitation: () => ({ action: 'accept', content: { name: '${name}' } }) }`
  const tabs = [await tab(context, options('a')), await tab(context, options('b')), await tab(context, options('c'))]
  await tabs[0]!.evaluate('r.discover()')
  await until(tabs[2]!, "r.has('s__ask')")
  // Three at once: a browser has six connections to an HTTP/1.1 server, and answers need some.
  for (const _ of [1, 2])
    assert.deepEqual(await Promise.all(tabs.map((page) => page.evaluate(`r.dispatch('s__ask', {})`))), ['a', 'b', 'c'])
  await asks.close()
})

test('a question that belongs to no call is cancelled when its tab closes', async (t) => {
  const asks = await sdkServer([{ name: 'ask', inputSchema: { type: 'object' } }])
  const context = await fresh(t)
  const options =
    `{ mode: 'shared', storage: 'memory', servers: { s: { url: '${asks.url}' } }, onElicitation: () => new Promise(() => window.asked = true) }`
  const [first, second] = [await tab(context, options), await tab(context, options)]
  await second.evaluate('r.discover()')
  await until(first, "r.has('s__ask')")
  assert.equal(await first.evaluate(`r.dispatch('s__ask', { later: true })`), 'later')
  await until(first, 'window.asked')
  await first.close()
  await happens(() => asks.calls.some((call) => call.startsWith('later')))
  assert.deepEqual(asks.calls, ['ask', 'later: cancel'])
  await second.evaluate('r.close()')
  await asks.close()
})

test('a tab without enabled servers joins as soon as another has some', async (t) => {
  const context = await fresh(t)
  downloads = 0
  const [idle, busy] = [await tab(context, `{ mode: 'shared' }`), await tab(context, `{ mode: 'shared' }`)]
  assert.equal(downloads, 0)
  await busy.evaluate(`r.addServer('demo', { url: 'builtin:demo' }).then(() => r.discover())`)
  await until(idle, "r.has('demo__echo')")
  assert.equal(downloads, 1)
  const later = await tab(context, `{ mode: 'shared', storage: 'memory' }`)
  await until(later, "r.has('demo__echo')")
})

test('a tab that joins with a server that another tab has removed meanwhile does not add it again', async (t) => {
  const context = await fresh(t)
  const servers = `servers: { demo: { url: 'builtin:demo' } }`
  const first = await tab(context, `{ mode: 'shared', ${servers} }`)
  await first.evaluate(`r.addServer('gone', { url: 'builtin:demo' })`)
  const second = await context.newPage()
  await second.goto(site.url)
  // The tab has read the storage, and joins later.
  await second.evaluate(`(async () => {
    const { locks } = navigator, request = locks.request.bind(locks)
    window.slow = new Promise((reached) => {
      locks.request = (name, ...rest) => {
        if (!name.startsWith('portolan-tab ')) return request(name, ...rest)
        reached()
        return new Promise((resolve) => { window.go = resolve }).then(() => request(name, ...rest))
      }
    })
    const { createRegistry } = await import('/index.js')
    window.made = createRegistry({ mode: 'shared', ${servers} }).then((made) => { window.r = made })
    await slow
  })()`)
  await first.evaluate(`r.removeServer('gone')`)
  await second.evaluate(`go(), made.then(() => r.discover())`)
  const names = (page: Page) => page.evaluate('Object.keys(r.getSnapshot().servers).sort()')
  assert.deepEqual(await Promise.all([first, second].map(names)), [['demo'], ['demo']])
  await second.evaluate(`r.addServer('gone', { url: 'builtin:demo' })`)
  await first.evaluate('r.close()')
  await second.evaluate('r.close()')
  const later = await tab(context, `{ mode: 'shared', ${servers} }`)
  assert.deepEqual(await names(later), ['demo', 'gone'])
})

test('a tab that opens after the data of the site was deleted gets a worker of its own', async (t) => {
  const context = await fresh(t)
  const options = `{ mode: 'shared', servers: { demo: { url: 'builtin:demo' } } }`
  const before = await tab(context, options)
  await before.evaluate('r.discover()')
  const cdp = await context.newCDPSession(before)
  await cdp.send('Storage.clearDataForOrigin', { origin: site.url, storageTypes: 'all' })
  const later = await tab(context, options)
  await later.evaluate('r.discover()')
  assert.equal(await later.evaluate('r.mode'), 'worker')
  for (const page of [before, later]) assert.equal(await page.evaluate(`r.dispatch('demo__echo', { text: 'x' })`), 'x')
})

test('a page makes a registry again after the data of its site was deleted, in each mode', async (t) => {
  const context = await fresh(t)
  for (const mode of ['worker', 'shared', 'main']) {
    const page = await tab(context, withServers(mode))
    await page.evaluate('r.close()')
    const cdp = await context.newCDPSession(page)
    await cdp.send('Storage.clearDataForOrigin', { origin: site.url, storageTypes: 'all' })
    const echo = await page.evaluate(`(async () => {
      const { createRegistry } = await import('/index.js')
      await using r = await createRegistry(${withServers(mode)})
      await r.discover()
      return await r.dispatch('demo__echo', { text: 'again' })
    })()`)
    assert.equal(echo, 'again', mode)
    await page.close()
  }
})

test('a tab that waits no longer for the shared worker gives it no module later', async (t) => {
  const page = await fresh(t).then((context) => context.newPage())
  await page.goto(site.url)
  await page.evaluate(`(async () => {
    const { prototype } = MessagePort, hears = new Map
    window.held = []
    const { set } = Object.getOwnPropertyDescriptor(prototype, 'onmessage')
    Object.defineProperty(prototype, 'onmessage', {
      set(hear) {
        hears.set(this, hear)
        set.call(this, (e) => held.push(() => hears.get(this)?.(e)))
      },
    })
    window.posted = []
    const { postMessage } = prototype
    prototype.postMessage = function (...args) { posted.push(args[0]); postMessage.apply(this, args) }
    const { setTimeout } = window
    window.setTimeout = (fn, ms) => ms === 15_000 ? void (window.giveUp ??= fn) : setTimeout(fn, ms)
    const { createRegistry } = await import('/index.js')
    window.made = createRegistry({ mode: 'shared', servers: { demo: { url: 'builtin:demo' } } })
  })()`)
  await until(page, 'held.length')
  await page.evaluate('giveUp()')
  assert.equal(await page.evaluate('made.then(async (r) => (await r.discover(), r.mode))'), 'worker')
  const late = `held.forEach((hear) => hear()), posted.filter((m) => 'source' in m).length`
  assert.equal(await page.evaluate(late), 0)
})

test('a tab waits for the shared worker as long as another one downloads the module', async (t) => {
  const context = await fresh(t)
  const begun = Promise.withResolvers<[ServerResponse, Buffer]>()
  slowly = (...download) => {
    slowly = undefined
    begun.resolve(download)
  }
  const before = downloads
  const options = `{ mode: 'shared', servers: { demo: { url: 'builtin:demo' } } }`
  const first = tab(context, options)
  const [res, body] = await begun.promise
  const page = await context.newPage()
  await page.goto(site.url)
  await page.evaluate(`(async () => {
    const { setTimeout, clearTimeout } = window
    window.waits = []
    window.setTimeout = (fn, ms) => ms === 15_000 ? -waits.push(fn) : setTimeout(fn, ms)
    window.clearTimeout = (id) => id < 0 ? void (waits[-id - 1] = undefined) : clearTimeout(id)
    const { createRegistry } = await import('/index.js')
    window.made = createRegistry(${options})
  })()`)
  let sent = 0
  do res.write(body.subarray(sent, sent += 20_000))
  while (sent < body.length / 2 && !await page.evaluate('waits.length > 1'))
  await page.evaluate('waits[0]?.()') // 15 s after it joined, and sooner after the last part of the module
  res.end(body.subarray(sent))
  assert.equal(await page.evaluate('made.then(async (r) => (await r.discover(), r.mode))'), 'shared')
  assert.equal(await (await first).evaluate('r.mode'), 'shared')
  assert.equal(downloads - before, 1)
})

test('a shared worker that dies is replaced for all tabs', async (t) => {
  const context = await fresh(t)
  const [a, b] = await Promise.all([1, 2].map(() => tab(context, `{ mode: 'shared' }`)))
  await a!.evaluate(`r.addServer('s', { url: '${server.url}', headers: { Authorization: 'Bearer of a' } })`)
  await b!.evaluate(`r.addServer('demo', { url: 'builtin:demo' })`)
  await b!.evaluate('r.discover()')
  await until(a!, "r.has('demo__echo') && r.has('s__raw')")
  await a!.evaluate(`void (window.slow = r.call('s__wait', {}).then(() => 'answered', (e) => e.code))`)
  const cdp = await browser.newBrowserCDPSession()
  const { targetInfos } = await cdp.send('Target.getTargets')
  const workers = targetInfos.filter(ours)
  assert.equal(workers.length, 1)
  // As the browser ends one: close() within would leave Chromium connecting tabs to what has closed.
  await cdp.send('Target.closeTarget', { targetId: workers[0]!.targetId })
  assert.equal(await a!.evaluate('slow'), 'runtime_crashed')
  server.headers.length = 0
  // It may not have heard yet: then it hears by this call, which it may repeat.
  const again = `r.dispatch('s__raw', { again: 1 })`
  assert.match(
    await b!.evaluate(
      `${again}.catch((e) => e.code === 'runtime_crashed' && e.retryable ? ${again} : Promise.reject(e))`,
    ) as string,
    /again/,
  )
  assert.match(await a!.evaluate(`r.dispatch('s__raw', { again: 2 })`) as string, /again/)
  assert.equal(await a!.evaluate(`r.dispatch('demo__echo', { text: 'x' })`), 'x')
  assert.ok(server.headers.some((h) => h.authorization === 'Bearer of a'))
  const after = (await cdp.send('Target.getTargets')).targetInfos.filter(ours)
  assert.equal(after.length, 1, 'one for both')
})
