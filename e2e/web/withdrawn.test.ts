import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { listen, root, sendFile, startChromium, type Listening } from '../rig/harness.ts'
import { RawChromium } from '../rig/rawchromium.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { bodyOf } from './servers/sdksessions.ts'

// Losses of a page while it is used, in Chromium, on the built package.

let browser: Browser
let site: Listening
/** Files of the package that the network does not bring. */
let missing: string[] = []
/** Pages by path. */
const pages: Record<string, string> = {}
/** Takes what a page says to /log. The page gets its answer afterwards. */
let logged = async (_: string): Promise<unknown> => undefined

before(async () => {
  browser = await startChromium(['--host-resolver-rules=MAP plain.example 127.0.0.1'])
  site = await listen((req, res) => {
    if (missing.includes(req.url!.slice(1))) return void res.writeHead(503).end()
    if (req.url === '/log') return void bodyOf(req).then(logged).then(() => res.end())
    if (req.url!.startsWith('/?')) return void res.writeHead(200, { 'content-type': 'text/html' }).end(pages[req.url!])
    if (req.url !== '/') return void sendFile(`${root}dist/npm/`, req.url!, res)
    res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><link rel="icon" href="data:,">')
  })
})
after(async () => {
  await browser?.close()
  await site?.close()
})

/** A page whose uncaught errors are in `faults`. */
async function open(
  context: BrowserContext,
  options: string,
  faults: string[] = [],
  url = site.url,
): Promise<Page> {
  const page = await context.newPage()
  page.on('pageerror', (e) => faults.push(e.message))
  await page.goto(url)
  await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    window.r = await createRegistry(${options})
    await r.discover()
  })()`)
  return page
}

async function fresh(t: TestContext): Promise<BrowserContext> {
  const context = await browser.newContext()
  t.after(() => context.close())
  return context
}

const demo = "{ servers: { demo: { url: 'builtin:demo' } } }"

const headersKept = (page: Page) => page.evaluate('Object.keys(r.getSnapshot().servers.s.config.headers ?? {}).join()')

test('a secret that finds no room in the database is named, and stored once there is room', async (t) => {
  const context = await fresh(t)
  const page = await context.newPage()
  const tools = await context.newCDPSession(page)
  await page.goto(site.url)
  await tools.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: 1000 })
  const full = await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    window.r = await createRegistry()
    const config = { url: 'https://s.example/mcp', headers: { first: 'secret' }, rememberSecrets: true, enabled: false }
    await r.addServer('s', config)
    const refused = await createRegistry({ rememberSecrets: true }).then(String, (e) => e.code + ' ' + e.message)
    return [r.getSnapshot().warnings, refused]
  })()`)
  assert.deepEqual(full, [
    ['the secrets of the server "s" are not kept on this device: this site has no room for secrets'],
    'invalid_option this site has no room for secrets',
  ])
  await tools.send('Storage.overrideQuotaForOrigin', { origin: site.url })
  await page.evaluate("r.updateServer('s', { headers: { second: 'secret' } })")
  assert.equal(await headersKept(await open(context, '{}')), 'second')
})

test('secrets are stored each time, though the browser deletes the database again and again', async (t) => {
  const context = await fresh(t)
  const faults: string[] = []
  const page = await open(context, '{ rememberSecrets: true }', faults)
  const tools = await context.newCDPSession(page)
  await page.evaluate("r.addServer('s', { url: 'https://s.example/mcp', enabled: false })")
  for (let i = 0; i < 20; i++) {
    await tools.send('Storage.clearDataForOrigin', { origin: site.url, storageTypes: 'indexeddb' })
    await page.evaluate(`r.updateServer('s', { headers: { h${i}: 'secret' } })`)
    assert.equal(await page.evaluate('r.getSnapshot().warnings?.join()'), undefined, `deletion ${i}`)
  }
  assert.equal(await headersKept(await open(context, '{ rememberSecrets: true }')), 'h19')
  assert.deepEqual(faults, [])
})

test('a transaction of another tab that does not end keeps no registry from starting, changing and closing', async (t) => {
  const context = await fresh(t)
  const page = await open(context, '{ rememberSecrets: true }')
  await page.evaluate(
    "r.addServer('s', { url: 'https://s.example/mcp', headers: { first: 'secret' }, enabled: false })",
  )
  await page.evaluate(`new Promise((held) => {
    const open = indexedDB.open('portolan', 1)
    open.onsuccess = () => {
      const store = open.result.transaction('secrets', 'readwrite').objectStore('secrets')
      const again = () => { if (!window.ends) store.get('x').onsuccess = again }
      store.get('x').onsuccess = () => { again(); held() }
    }
  })`)
  const other = await context.newPage()
  await other.goto(site.url)
  const outcome = await other.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    window.r = await createRegistry({ rememberSecrets: true, servers: { demo: { url: 'builtin:demo' } } })
    await r.discover()
    const text = await r.dispatch('demo__echo', { text: 'here' })
    await r.addServer('t', { url: 'https://t.example/mcp', headers: { t: 'secret' }, enabled: false })
    const { warnings } = r.getSnapshot()
    await r.close()
    return { text, warnings }
  })()`) as { text: string; warnings: string[] }
  assert.equal(outcome.text, 'here')
  assert.match(
    outcome.warnings.join('\n'),
    /the secrets of the server "s" are not kept on this device: .* does not open/,
  )
  await page.evaluate('window.ends = true')
  assert.equal(await headersKept(await open(context, '{ rememberSecrets: true }')), 'first')
})

test('parts that the network did not bring once are loaded at their next use', async (t) => {
  const faults: string[] = []
  missing = ['activity.js', 'offers.js', 'results.js', 'signin.js', 'storage-lock.js', 'tasks.js', 'trust.js']
  t.after(() => {
    missing = []
  })
  const page = await open(
    await fresh(t),
    "{ servers: { demo: { url: 'builtin:demo' } }, onApprove: () => 'always' }",
    faults,
  )
  const use = () =>
    page.evaluate(`(async () => {
      const seen = []
      const uses = {
        answer: () => r.dispatch('demo__echo', { text: 'x' }),
        prompts: async () => (await r.prompts()).length > 0,
        tasks: async () => (await r.tasks()).length,
        signIn: () => r.signIn('demo'),
        observe: async () => {
          const end = r.observe((a) => seen.push(a.kind))
          await r.discover()
          await r.dispatch('demo__echo', { text: 'x' }).catch(() => {})
          end()
          return seen.includes('call')
        },
      }
      const outcomes = []
      for (const name in uses)
        outcomes.push(name + ': ' + await uses[name]().catch((e) => e.code + ' ' + /^[a-z-]+\\.js|$/.exec(e.message)[0]))
      return outcomes
    })()`) as Promise<string[]>
  await page.evaluate('r.discover()')
  assert.deepEqual(await use(), [
    'answer: load_failed trust.js',
    'prompts: load_failed offers.js',
    'tasks: load_failed tasks.js',
    'signIn: load_failed signin.js',
    'observe: false',
  ])
  missing = ['results.js']
  assert.equal((await use())[0], 'answer: load_failed results.js')
  missing = []
  assert.deepEqual(await use(), ['answer: x', 'prompts: true', 'tasks: 0', 'signIn: sign_in_failed ', 'observe: true'])
  const other = await open(page.context(), demo)
  assert.equal(await other.evaluate('r.approvals().then((a) => a.length)'), 1)
  assert.deepEqual(faults, [])
})

test('a page over plain HTTP, which has no cryptography, learns why it cannot sign in', async (t) => {
  const page = await open(await fresh(t), demo, [], `http://plain.example:${new URL(site.url).port}`)
  const outcome = await page.evaluate("r.signIn('demo').catch((e) => e.code + ': ' + e.message + '. ' + e.hint)")
  assert.equal(
    outcome,
    'sign_in_failed: a page over plain HTTP has no cryptography for a sign-in. ' +
      'Serve the page over https, or from localhost.',
  )
  assert.equal(await page.evaluate("r.dispatch('demo__echo', { text: 'x' })"), 'x')
})

test('a registry that begins offline counts no failure, and lists its servers once the network is back', async (t) => {
  const server = await sdkServer()
  t.after(() => server.close())
  const context = await fresh(t)
  const url = `http://plain.example:${new URL(site.url).port}`
  const options = "{ mode: 'main', storage: 'memory', servers: { demo: { url: 'builtin:demo' } } }"
  const page = await open(context, options, [], url)
  await context.setOffline(true)
  const offline = await page.evaluate(`(async () => {
    const { createRegistry } = await import('/index.js')
    window.late = await createRegistry({ mode: 'main', storage: 'memory', servers: { s: { url: '${server.url}' } } })
    for (let i = 0; i < 4; i++) await late.discover()
    const { errorCode, consecutiveFailures, suspended } = late.getHealth().s
    return [errorCode, consecutiveFailures, suspended]
  })()`)
  assert.deepEqual(offline, ['network', 0, false])
  await context.setOffline(false)
  await page.waitForFunction("late.has('s__raw')")
})

test('a page that comes back from the back/forward cache goes on, in each mode', async (t) => {
  const server = await sdkServer()
  const chromium = await RawChromium.launch() // Playwright turns the cache off
  t.after(() => Promise.all([server.close(), chromium.remove()]))
  /** Undefined if the browser has not kept the page. */
  async function cameBack(mode: string): Promise<unknown> {
    const page = await chromium.open(site.url)
    await page.evaluate(`(async () => {
      const { createRegistry } = await import('/index.js')
      const servers = { demo: { url: 'builtin:demo' }, s: { url: '${server.url}' } }
      window.r = await createRegistry({ mode: '${mode}', rememberSecrets: true, servers })
      await r.discover()
      await r.addServer('first', { url: 'builtin:demo', headers: { first: 'secret' } })
      window.counted = r.dispatch('demo__count', { to: 10, delayMs: 50 })
      window.changes = []
      r.subscribe(() => changes.push(Object.keys(r.getHealth()).join()))
    })()`)
    await page.send('Page.navigate', { url: 'about:blank' })
    await page.holds("location.href === 'about:blank'")
    await page.evaluate('void setTimeout(() => history.back())')
    await page.holds("location.href !== 'about:blank' && document.readyState === 'complete'")
    const outcome = await page.evaluate(`(async () => {
      if (!window.r) return
      await r.addServer('second', { url: 'builtin:demo', headers: { second: 'secret' } })
      const { warnings = [] } = r.getSnapshot()
      const again = await r.dispatch('s__raw', { again: 1 })
      const count = await counted
      const last = changes.at(-1)
      for (const name of ['first', 'second']) await r.removeServer(name)
      await r.close()
      return [r.mode, count, /again/.test(again), last, warnings]
    })()`)
    await page.evaluate('localStorage.clear()')
    await page.close()
    return outcome
  }
  for (const mode of ['main', 'worker', 'shared']) {
    let outcome
    for (let i = 0; i < 5 && !outcome; i++) outcome = await cameBack(mode)
    assert.deepEqual(outcome, [mode, 'counted to 10', true, 'demo,s,first,second', []])
  }
})

const prerendered = 'a page that is prerendered for longer than a worker may take has a worker once it is shown'
test(prerendered, { timeout: 60_000 }, async (t) => {
  const chromium = await RawChromium.launch()
  t.after(() => chromium.remove())
  // Three waits of 15 s for a worker end at once, as long as nobody sees the page.
  pages['/?prerendered'] = `<!doctype html><script type="module">
    const log = (text) => fetch('/log', { method: 'POST', body: text })
    const { setTimeout } = window
    let waits = 0
    window.setTimeout = (f, ms) => {
      if (ms < 15_000 || !document.prerendering) return setTimeout(f, ms)
      setTimeout(() => (f(), ++waits === 3 && log('show it')))
    }
    const { addEventListener } = document
    document.addEventListener = (type, ...rest) => {
      if (type === 'prerenderingchange') log('show it')
      addEventListener.call(document, type, ...rest)
    }
    const { createRegistry } = await import('/index.js')
    const created = createRegistry({ mode: 'worker', storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    await log(await created.then((r) => 'mode ' + r.mode, (e) => e.code))
  </script>`
  pages['/?start'] = `<!doctype html><script type="speculationrules">
    { "prerender": [{ "urls": ["/?prerendered"], "eagerness": "immediate" }] }
  </script><script>
    fetch('/log', { method: 'POST', body: 'when?' }).then(() => location.href = '/?prerendered')
  </script>`
  let show = () => {}
  const shown = new Promise<void>((resolve) => show = resolve)
  const outcome = new Promise<string>((resolve) => {
    logged = async (text) => {
      if (text === 'when?') return shown
      if (text === 'show it') show()
      else resolve(text)
    }
  })
  await chromium.cdp.send('Target.createTarget', { url: `${site.url}/?start` }) // no tab of DevTools is prerendered
  assert.equal(await outcome, 'mode worker')
})
