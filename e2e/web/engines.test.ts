import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { behindProxy } from '../rig/behindproxy.ts'
import { engines } from '../rig/engines.ts'
import { startFarm } from '../rig/farm.ts'
import { listen, root, sendFile, type Engine, type EnginePage } from '../rig/harness.ts'
import { lawServer } from './servers/lawserver.ts'
import { asks, plan, runSite, summary } from './runsite.ts'

const running: Record<string, Engine> = {}
let { site, plain, proxy, close } = {} as Awaited<ReturnType<typeof behindProxy>>

before(async () => {
  ;({ site, plain, proxy, close } = await behindProxy())
  for (const [name, launch] of Object.entries(engines)) running[name] = await launch()
})

after(async () => {
  await Promise.all(Object.values(running).map((engine) => engine.close()))
  await close?.()
})

/** Resolves once an expression is true in a page. */
const until = (page: EnginePage, isSo: string) =>
  page.evaluate(
    `new Promise((r) => { const look = () => { if (${isSo}) r(); else setTimeout(look, 50) }; look() })`,
  )

for (const name of Object.keys(engines)) {
  for (const mode of ['worker', 'main', 'shared']) {
    test(`the main job in ${name}, in mode ${mode}`, async () => {
      const page = await running[name]!.open(site.url)
      const seen = await page.evaluate<
        { mode: string; servers: Record<string, string>; text: string; sum: string; progress: number[] }
      >(`(async () => {
      const { createRegistry } = await import('/portolan/index.js')
      const registry = await createRegistry({ mode: '${mode}', storage: 'memory', proxy: ${
        JSON.stringify(proxy.template)
      } })
      await registry.addServer('demo', { url: 'builtin:demo' })
      await registry.addServer('plain', { url: ${JSON.stringify(plain.url)}, proxy: 'auto' })
      const { servers } = await registry.discover()
      const progress = []
      await registry.call('plain__steps', { steps: 3, everyMs: 20 }, { onProgress: (p) => progress.push(p.progress) })
      const seen = {
        mode: registry.mode, servers: Object.fromEntries(Object.entries(servers).map(([n, s]) => [n, s.status])), progress,
        text: await registry.dispatch('plain__raw', { text: 'ahoy' }), sum: await registry.dispatch('demo__add', { a: 40, b: 2 }),
      }
      await registry.close()
      return seen
    })()`)
      assert.equal(seen.mode, mode)
      assert.deepEqual(seen.servers, { demo: 'connected', plain: 'connected' })
      assert.match(seen.text, /"ahoy"/)
      assert.equal(seen.sum, '42')
      assert.deepEqual(seen.progress, [1, 2, 3])
    })
  }

  test(`a server with large bodies gets the IO worker in ${name}`, { timeout: 180_000 }, async (t) => {
    const script = await readFile(`${root}dist/npm/worker.js`, 'utf8')
    const says = `if (globalThis.name === 'portolan-io') new BroadcastChannel('io').postMessage('runs')`
    const types = { 'content-type': 'text/javascript' }
    const [farm, own] = await Promise.all([
      startFarm(),
      listen((req, res) => {
        if (req.url === '/') res.writeHead(200, { 'content-type': 'text/html' }).end()
        else if (req.url === '/worker.js') res.writeHead(200, types).end(`${says}\n${script}`)
        else void sendFile(`${root}dist/npm`, req.url!, res)
      }),
    ])
    t.after(() => Promise.all([farm.close(), own.close()]))
    const url = farm.cases.find((c) => c.name === 'a text of 12 MB')!.url.replace('RUN', `io-${name}`)
    const page = await running[name]!.open(`${own.url}/`)
    const heard = await page.evaluate(`(async () => {
      const { createRegistry } = await import('/index.js')
      const heard = new Promise((resolve) => { new BroadcastChannel('io').onmessage = (e) => resolve(e.data) })
      const r = await createRegistry({ storage: 'memory', servers: { bad: { url: ${JSON.stringify(url)} } } })
      await r.discover()
      const [{ name }] = r.getSnapshot().tools
      for (let i = 0; i < 2; i++) await r.call(name, {})
      return heard.finally(() => r.close())
    })()`)
    assert.equal(heard, 'runs')
  })

  test(`search, deferred tools and a view in ${name}`, { timeout: 30_000 }, async () => {
    const page = await running[name]!.open(site.url)
    const seen = await page.evaluate<Record<string, unknown>>(`(async () => {
    const { createRegistry } = await import('/portolan/index.js')
    const r = await createRegistry({ storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
    await r.discover()
    await r.addTools('page', [{ name: 'ship', description: 'Names our ship.', run: () => 'Ada' }])
    const [{ name, why }] = await r.search('ad two nubmers')
    const tools = r.getTools({ deferred: { budgetTokens: 0 } }).map((t) => t.function.name)
    const { structuredContent } = await r.call('portolan_search_tools', { query: 'what is the name of our ship', limit: 1 })
    const called = await r.call('portolan_call_tool', { name: 'page__ship', arguments: {} })
    const view = r.view({ servers: ['page'] })
    const refused = await view.call('demo__add', { a: 1, b: 2 }).catch((e) => e.code)
    const [first] = await r.suggest('add numbers', { max: 1 })
    await r.close()
    return { name, why, tools, found: structuredContent.names, called: called.text, refused, first: first.name }
  })()`)
    assert.deepEqual(seen, {
      name: 'demo__add',
      why: seen['why'],
      tools: ['portolan_search_tools', 'portolan_call_tool'],
      found: ['page__ship'],
      called: 'Ada',
      refused: 'not_offered',
      first: 'demo__add',
    })
    assert.match(String(seen['why']), /description: .*numbers|description: .*nubmers/)
  })

  test(`a host run in its element in ${name}: a question, a reply, the answer`, { timeout: 30_000 }, async (t) => {
    const [law, runs] = await Promise.all([lawServer(), runSite()])
    t.after(() => Promise.all([law.close(), runs.close()]))
    const params = new URLSearchParams({ law: law.url, says: JSON.stringify([asks, plan(), summary]) })
    const page = await running[name]!.open(`${runs.url}/?${params}`)
    await until(page, `'ready' in document.documentElement.dataset`)
    const type = (id: string, text: string) =>
      page.evaluate(`(() => {
      const field = element.shadowRoot.querySelector('#${id}')
      field.value = ${JSON.stringify(text)}
      field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }))
      return element.updateComplete.then(() => field.form.requestSubmit())
    })()`)
    await type('prompt', 'Liability of carriers')
    await until(page, `element.shadowRoot.querySelector('#reply')`)
    await type('reply', 'By sea')
    await until(page, `element.shadowRoot.querySelector('[part=answer]')`)
    const types = await page.evaluate<string[]>(`happened.map((e) => e.type)`)
    assert.deepEqual(types.filter((type) => type !== 'progress'), ['clarify', 'results_preview', 'answer'])
    assert.ok(await page.evaluate(`happened.some((e) => e.pct === 100)`))
    assert.equal(await page.evaluate(`element.shadowRoot.querySelectorAll('[part=results] li').length`), 10)
  })

  test(`the chat of the demo page in ${name}`, { timeout: 180_000 }, async () => {
    const page = await running[name]!.open(`${site.url}/`)
    await until(page, `/ready in/.test(document.querySelector('#runtime').textContent)`)
    const say = async (idea: string, answer: string) => {
      await page.evaluate(
        `[...document.querySelectorAll('#ideas button')].find((b) => ${idea}.test(b.textContent)).click()`,
      )
      await until(
        page,
        `${answer}.test(document.querySelector('#log').textContent) && !document.querySelector('#send').disabled`,
      )
    }
    await say('/picture/', '/Here it is/')
    await say('/three cities/', '/the first two were added: 43 degrees/')
    await say('/theme/', '/function of this page/')
    assert.equal(await page.evaluate(`document.querySelectorAll('#log img').length`), 1)
  })
}

// WebKit keeps a page that is left, and releases its locks. withdrawn.test.ts has Chromium, which keeps both.
for (const mode of ['worker', 'main', 'shared']) {
  test(`a page that is back calls again in WebKit, in mode ${mode}`, { timeout: 30_000 }, async () => {
    const page = await running['WebKit']!.open(`${site.url}/portolan/`)
    await page.evaluate(`(async () => {
      const { createRegistry } = await import('/portolan/index.js')
      addEventListener('pageshow', (e) => { window.isBack = e.persisted })
      window.r = await createRegistry({ mode: '${mode}', storage: 'memory', servers: { demo: { url: 'builtin:demo' } } })
      await r.discover()
      window.lost = r.call('demo__count', { to: 1000, delayMs: 100 }).then(() => '', (e) => e.code)
    })()`)
    /** Leaves the page, and waits for the next one. */
    const leave = async (how: string, arrived: string) => {
      await page.evaluate(`void setTimeout(() => ${how}, 0)`)
      while (!await page.evaluate(arrived).catch(() => false)); // a page that goes away answers nothing
    }
    await leave(`location.href = '/elsewhere'`, `location.pathname === '/elsewhere'`)
    await leave(`history.back()`, `window.isBack`)
    const echo = `r.dispatch('demo__echo', { text: 'back' })`
    // It may not have heard yet: then it hears by this call, which it may repeat.
    const repeated = `(e) => e.code === 'runtime_crashed' && e.retryable ? ${echo} : Promise.reject(e)`
    assert.equal(await page.evaluate(`${echo}.catch(${repeated})`), 'back')
    if (mode === 'shared') assert.equal(await page.evaluate(`lost`), 'runtime_crashed', 'the worker ended what it lost')
    await page.evaluate(`r.close()`)
  })
}
