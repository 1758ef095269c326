import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { violations } from '../panel/axe.ts'
import { cases, sandboxCases } from './servers/appcases.ts'
import { startApps, type AppServer } from './servers/appserver.ts'
import { appSite, sandboxSite } from './appsite.ts'
import { soakEngines } from '../rig/engines.ts'
import { startChromium, listen, type Listening } from '../rig/harness.ts'
import { blocksOf } from '../rig/snippets.ts'

// Apps of tools, in the built element and the built sandbox page, which has an origin of its own.

let browser: Browser, sandbox: Listening, site: Listening, spy: Listening, apps: AppServer, other: Listening
/** The requests to the server that nobody may reach. */
const leaks: string[] = []

before(async () => {
  // Hostile apps must not reach those of other tests.
  browser = await startChromium()
  spy = await listen((req, res) => {
    leaks.push(`${req.method} ${req.url}`)
    res.writeHead(200, { 'access-control-allow-origin': '*' }).end()
  })
  sandbox = await sandboxSite()
  site = await appSite(sandbox.url)
  apps = await startApps(spy.url)
  other = await listen(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (req.method !== 'POST') return void res.writeHead(204, cors).end()
    const { id, method } = JSON.parse(body) as { id?: number; method: string }
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: 'other', version: '1' },
      },
      'tools/list': { tools: [{ name: 'other_secret', inputSchema: { type: 'object' } }] },
      'resources/read': { contents: [{ uri: 'other://secret', text: 'a secret' }] },
      'tools/call': { content: [{ type: 'text', text: 'a secret' }] },
    }
    res.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json', ...cors })
      .end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }))
  })
})
after(async () => {
  await browser?.close()
  await Promise.all([sandbox, site, spy, apps, other].map((s) => s?.close()))
})

const address = (params: Record<string, string> = {}, of = site) =>
  `${of.url}/?${new URLSearchParams({
    sandbox: sandbox.url,
    servers: JSON.stringify({
      apps: { url: `${apps.url}/mcp`, transport: 'streamable-http' },
      other: { url: `${other.url}/mcp`, transport: 'streamable-http' },
    }),
    ...params,
  })}`

/** Opens the page. With `clock`, its time stands still until the test moves it. */
async function open(
  t: TestContext,
  params?: Record<string, string>,
  { clock, ...options }: BrowserContextOptions & { clock?: boolean } = {},
): Promise<Page> {
  const context = await browser.newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const time = Date.now()
  if (clock) await page.clock.install({ time })
  await page.goto(address(params))
  await page.waitForSelector('html[data-ready]')
  if (clock) await page.clock.pauseAt(time + 60_000)
  apps.reports.clear()
  leaks.length = 0
  return page
}

/** The content of the app, inside the sandbox page. */
const inner = (page: Page, selector: string): Locator =>
  page.frameLocator('iframe').frameLocator('iframe').locator(selector)

test('P52: an app is shown, hears of the call, and calls back', async (t) => {
  const page = await open(t)
  assert.deepEqual(await page.evaluate(() => window.showApp('friendly', { args: { day: 'monday' } })), {
    state: 'ready',
  })
  assert.equal(await apps.reported('friendly'), 'tool-input,tool-result')
  assert.deepEqual(apps.capabilities['extensions'], {
    'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] },
  })
  assert.equal(await inner(page, '#result').textContent(), 'High water at 12:40 <b>says</b> friendly.')
  await page.waitForFunction(() => window.app.shadowRoot!.querySelector('iframe')!.clientHeight === 180)
  apps.reports.clear()
  await inner(page, '#again').click()
  assert.equal(await apps.reported('friendly'), 'again')
  // The theme of the page, while the app runs.
  await page.evaluate(() => {
    document.documentElement.style.colorScheme = 'dark'
  })
  await inner(page, 'html[data-theme=dark]').waitFor()
  // Full screen and back, in the same frame.
  await page.getByRole('button', { name: 'Full screen' }).click()
  assert.equal(await page.evaluate(() => window.app.displayMode), 'fullscreen')
  assert.deepEqual(await violations(page, { whole: true }), [])
  await page.getByRole('button', { name: 'Back to the page' }).click()
  assert.equal(await inner(page, '#result').textContent(), 'High water at 12:40 <b>says</b> friendly.')
  await page.evaluate(() => window.app.close())
  assert.match((await page.getByText('The app is closed.').textContent())!, /closed/)
  assert.equal(page.frames().length, 1)
})

test('P52: the focus stays in an app that is closed and opened again', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('friendly', { args: { day: 'monday' } }))
  const focused = () => page.evaluate(() => window.app.shadowRoot!.activeElement?.textContent)
  await page.getByRole('button', { name: 'Close the app' }).press('Enter')
  await page.getByText('The app is closed.').waitFor()
  assert.equal(await focused(), 'Try again')
  await page.keyboard.press('Enter')
  await inner(page, '#result').waitFor()
  assert.equal(await focused(), 'Full screen')
})

test('P52: an app in full screen keeps the focus of the keyboard, and Escape ends it beside its buttons', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('friendly'))
  await apps.reported('friendly')
  await page.evaluate(() => {
    const main = document.querySelector('main')!
    main.prepend(Object.assign(document.createElement('button'), { textContent: 'Before' }))
    main.append(Object.assign(document.createElement('button'), { textContent: 'Behind' }))
  })
  await page.getByRole('button', { name: 'Full screen' }).click()
  const covers = page.getByRole('dialog', { name: 'App from apps' })
  await covers.waitFor()
  const seen = new Set<string>()
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab']) {
    await page.keyboard.press(key)
    assert.equal(await page.evaluate(() => document.activeElement?.localName), 'portolan-app', key)
    seen.add(await page.evaluate(() => window.app.shadowRoot!.activeElement!.localName))
  }
  assert.deepEqual([...seen].sort(), ['button', 'iframe'])
  // Backwards from the first button, the last element of the app comes next.
  await covers.getByRole('button', { name: 'Back to the page' }).focus()
  await page.keyboard.press('Shift+Tab')
  assert.equal(await page.evaluate(() => window.app.shadowRoot!.activeElement!.localName), 'iframe')
  await inner(page, '#again:focus').waitFor()
  await page.keyboard.press('Shift+Tab')
  assert.equal(await page.evaluate(() => window.app.shadowRoot!.activeElement!.textContent), 'Close the app')
  await covers.getByText('App from apps').click()
  await page.keyboard.press('Escape')
  assert.equal(await page.evaluate(() => window.app.displayMode), 'inline')
  assert.equal(await covers.count(), 0)
  assert.equal(await inner(page, '#result').textContent(), 'High water at 12:40 <b>says</b> friendly.')
  await page.getByRole('button', { name: 'Behind' }).focus()
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Behind')
})

test('P52: an app gets the arguments once more when the model has written all', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('friendly', { args: { day: 'monday' }, partial: true }))
  assert.equal(await apps.reported('friendly'), 'tool-input-partial,tool-input,tool-result')
})

test('P52: an app hears of a call that was cancelled before it was ready, and of another language', async (t) => {
  const page = await open(t)
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      observer.disconnect()
      window.app.cancelled('the person left')
    }).observe(document.querySelector('main')!, { childList: true })
    return window.showApp('listens', { partial: true })
  })
  assert.equal(await apps.reported('listens'), 'tool-cancelled: the person left')
  apps.reports.clear()
  await page.evaluate(() => (window.app.locale = 'de'))
  assert.equal(await apps.reported('listens'), 'de')
})

test('P52: an app hears of another width of its place', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('measures'))
  const widths = []
  for (const rem of [30, 20]) {
    const width = await page.evaluate((rem) => {
      document.querySelector('main')!.style.maxWidth = `${rem}rem`
      return window.app.shadowRoot!.querySelector('iframe')!.clientWidth
    }, rem)
    await inner(page, `html[data-width="${width}"]`).waitFor({ state: 'attached' })
    widths.push(width)
  }
  assert.equal(new Set(widths).size, 2)
})

test('P52: the bar of an open app, and a card, follow the language', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('friendly'))
  await page.getByRole('button', { name: 'Close the app' }).focus()
  const inArabic = () =>
    page.evaluate(async () => {
      const { default: messages } = await import('./npm/locales/ar.js' as string) as { default: Record<string, string> }
      Object.assign(window.app, { locale: 'ar', messages })
      await Promise.resolve()
      return messages
    })
  const words = await inArabic()
  await page.getByRole('button', { name: words['app_full']! }).waitFor()
  const close = page.getByRole('button', { name: words['app_close']! })
  assert.ok(await close.evaluate((button) => button.matches(':focus')), 'the focus stays')
  assert.equal(await page.getByRole('button', { name: 'Close the app' }).count(), 0)
  assert.equal(await page.getByText('App from apps').count(), 0)
  await close.click()
  await page.getByText(words['app_why_closed']!).waitFor()
  await page.evaluate(() => Object.assign(window.app, { locale: 'en', messages: undefined }))
  await page.getByText('The app is closed.').waitFor()
})

test('P52: an app gets only the modes that it has', async (t) => {
  const page = await open(t)
  await page.getByRole('heading').click() // the page was used
  await page.evaluate(() => window.showApp('knows_modes'))
  assert.equal(await apps.reported('knows_modes'), 'inline,pip,inline,inline')
  assert.equal(await page.getByRole('button', { name: 'Close the app' }).count(), 1)
  assert.equal(await page.getByRole('button', { name: 'Full screen' }).count(), 0)
  const mode = await page.evaluate(() => {
    window.app.displayMode = 'fullscreen'
    return window.app.displayMode
  })
  assert.equal(mode, 'inline')
})

test('P52: without apps, servers do not see the capability, and no tool for apps is there', async (t) => {
  const page = await open(t, { apps: 'off' })
  await page.evaluate(() => window.registry.discover())
  assert.equal(apps.capabilities['extensions'], undefined)
  const call = await page.evaluate(() =>
    window.registry.call('for_apps', {}, { app: 'apps' }).then((r) => r.text, (e) => e.code as string)
  )
  assert.equal(call, 'unknown_tool')
})

test('P52: models never reach a tool for apps', async (t) => {
  const page = await open(t)
  const seen = await page.evaluate(async () => {
    const r = window.registry
    const code = (p: Promise<unknown>) => p.then(() => 'worked', (e) => e.code as string)
    const name = 'apps__for_apps'
    return {
      has: r.has(name),
      offered: r.getTools().some((t) => /"(apps__)?for_apps"/.test(JSON.stringify(t))),
      snapshot: /"(apps__)?for_apps"/.test(JSON.stringify(r.getSnapshot())),
      found: (await r.search('for_apps only apps')).some((h) => h.name === name),
      call: await code(r.call(name, {})),
      dispatch: await code(r.dispatch(name, {})),
      withOptions: await code(r.call(`${name}\n{"app":true}`, {})),
      through: await r.call('portolan_call_tool', { name, arguments: {} }).then((x) => x.text, (e) => e.code as string),
      view: await code(r.view({}).call('for_apps', {}, { app: 'apps' } as never)),
      otherServer: await code(r.call('for_apps', {}, { app: 'other' })),
      byApp: (await r.call('for_apps', {}, { app: 'apps' })).text,
    }
  })
  assert.equal(seen.byApp, 'only apps hear this')
  assert.doesNotMatch(seen.through, /only apps hear/)
  const { through: _, byApp: __, ...rest } = seen
  assert.deepEqual(rest, {
    has: false,
    offered: false,
    snapshot: false,
    found: false,
    call: 'unknown_tool',
    dispatch: 'unknown_tool',
    withOptions: 'unknown_tool',
    view: 'invalid_option',
    otherServer: 'unknown_tool',
  })
})

test('P52: an isolated page shows an app, if the sandbox page has the headers of docs/apps.md', async (t) => {
  const documented = blocksOf('docs/apps.md').find((b) => b.lang === 'text')!.text.trim().split('\n')
  const there = await sandboxSite(Object.fromEntries(documented.map((line) => line.split(': '))))
  const isolated = await appSite(there.url, {
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-opener-policy': 'same-origin',
  })
  t.after(() => Promise.all([there.close(), isolated.close()]))
  const page = await browser.newPage()
  t.after(() => page.close())
  await page.goto(address({ sandbox: there.url }, isolated))
  await page.waitForSelector('html[data-ready]')
  assert.equal(await page.evaluate(() => crossOriginIsolated), true)
  assert.deepEqual(await page.evaluate(() => window.showApp('friendly')), { state: 'ready' })
})

test('P52: a connected registry shows an app, which calls tools for apps', async (t) => {
  const page = await open(t, { connected: '' })
  assert.deepEqual(await page.evaluate(() => window.showApp('friendly')), { state: 'ready' })
  assert.equal(await apps.reported('friendly'), 'tool-input,tool-result')
  for (const name of ['calls_tool_for_apps', 'calls_tool_for_models', 'calls_other_server', 'calls_search']) {
    await page.evaluate((name) => window.showApp(name), name)
    assert.deepEqual(await apps.reported(name), cases.find((c) => c.name === name)!.want, name)
  }
  const seen = await page.evaluate(async () => {
    const r = window.registry
    const outcome = (p: Promise<{ text: string }>) => p.then((x) => x.text, (e) => e.code as string)
    return {
      byApp: await outcome(r.call('for_apps', {}, { app: 'apps' })),
      otherServer: await outcome(r.call('for_apps', {}, { app: 'other' })),
      byModel: await outcome(r.call('apps__for_apps', {})),
      has: r.has('apps__for_apps'),
      ownTool: await outcome(r.call('portolan_search_tools', { query: 'x' }, { app: 'apps' })),
      noServer: await outcome(r.call('for_apps', {}, { app: '' })),
    }
  })
  assert.deepEqual(seen, {
    byApp: 'only apps hear this',
    otherServer: 'unknown_tool',
    byModel: 'unknown_tool',
    has: false,
    ownTool: 'unknown_tool',
    noServer: 'unknown_tool',
  })
})

/** A hostile app may never report. */
const ending = { timeout: 60_000 }

/** One page for all hostile apps, which must not harm it. */
let shared: Page | undefined
const popups: string[] = []
async function hostile(t: TestContext): Promise<Page> {
  if (!shared) {
    shared = await (await browser.newContext()).newPage()
    await shared.goto(address())
    await shared.waitForSelector('html[data-ready]')
    shared.context().on('page', (p) => popups.push(p.url()))
  }
  const page = shared
  await page.evaluate(() => window.events.splice(0))
  apps.reports.clear()
  leaks.length = popups.length = 0
  t.after(() => page.evaluate(() => window.app.remove()))
  return page
}

for (const { name, want, card, meta } of cases) {
  test(`P52: hostile: ${name}`, ending, async (t) => {
    const silent = card === 'silent'
    // A large app may need more than the time that an app has, if the machine is busy.
    const page = silent || name === 'is_large' ? await open(t, {}, { clock: true }) : await hostile(t)
    const shown = page.evaluate((name) => window.showApp(name), name)
    if (silent) {
      await inner(page, 'body').waitFor({ state: 'attached' })
      await page.clock.fastForward(10_000)
    }
    if (meta && 'permissions' in meta) {
      await page.getByText('This app asks for: the camera', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Go on without' }).click()
    }
    if (card) {
      // It may have been ready before.
      await page.waitForFunction(
        (why) => window.events.some((e) => JSON.stringify(e.detail) === JSON.stringify({ state: 'card', why })),
        card,
      )
      assert.match((await page.evaluate(() => window.app.shadowRoot!.querySelector('pre')!.textContent))!, /High water/)
      assert.equal(page.frames().length, 1)
    } else {
      assert.equal((await shown).state, 'ready')
      assert.deepEqual(await apps.reported(name), want)
    }
    assert.equal(apps.reports.has('spoofed'), false)
    assert.deepEqual(leaks, [])
    assert.deepEqual(popups, [])
    assert.ok(page.url().startsWith(site.url))
    assert.equal(await page.evaluate(() => ({} as { polluted?: number }).polluted), undefined)
    assert.ok(await page.evaluate(() => (window.app.shadowRoot!.querySelector('iframe')?.clientHeight ?? 0) <= 2000))
  })
}

for (const { name, script, most, last, refused } of sandboxCases) {
  test(`P52: hostile, at the sandbox page: ${name}`, ending, async (t) => {
    const page = await open(t)
    const { heard, seconds } = await page.evaluate(
      ([sandbox, script]) =>
        new Promise<{ heard: unknown[]; seconds: number }>((resolve) => {
          const frame = Object.assign(document.createElement('iframe'), {
            src: `${sandbox}#${encodeURIComponent(location.origin)}`,
          })
          const own = 'ui/notifications/sandbox-'
          const say = `const say = (method, value) => parent.postMessage({ jsonrpc: '2.0', method, value }, '*')`
          const html = `<body><script>${say};${script}</script>`
          const heard: unknown[] = []
          let began = 0
          addEventListener('message', ({ source, data }) => {
            if (source !== frame.contentWindow) return
            const { method } = (data ?? {}) as { method?: string }
            if (method === `${own}proxy-ready`) {
              began = performance.now()
              return frame.contentWindow!.postMessage({ method: `${own}resource-ready`, params: { html } }, '*')
            }
            heard.push(data)
            if (method !== 'end' && !method?.startsWith(own)) return
            resolve({ heard, seconds: (performance.now() - began) / 1000 })
          })
          document.body.append(frame)
        }),
      [sandbox.url, script] as const,
    )
    const end = heard.pop() as { method: string; value?: unknown }
    assert.equal(end.method.split('-').at(-1), last)
    assert.ok(heard.length + Number(last === 'end') <= most + 50 * seconds, `${heard.length} in ${seconds} s`)
    if (refused) assert.equal(end.value, refused)
    // The test ends by its time if the app stays.
    while (last === 'flood' && page.frames().length > 2) await page.evaluate(() => new Promise(requestAnimationFrame))
  })
}

test('P52: an app reaches what it declares', async (t) => {
  const page = await open(t)
  // With its html, or only in the list of its server.
  for (const name of ['declares', 'is_listed']) {
    await page.evaluate((name) => window.showApp(name), name)
    assert.equal(await apps.reported(name), 200)
  }
  assert.deepEqual(leaks, ['GET /', 'GET /'])
})

test('P52: a message of an app is one block, as the specification writes it, or several', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('says_one'))
  assert.deepEqual(await apps.reported('says_one'), {})
  const [message] = await page.evaluate(() => window.events.filter(({ type }) => type === 'app-message'))
  const content = [{ type: 'text', text: 'alone' }]
  assert.deepEqual(message!.detail, { server: 'apps', role: 'user', content })
})

test('P52: what an app asks for is a list of the language', async (t) => {
  const page = await open(t, { locale: 'ar' })
  await page.evaluate(() => void window.showApp('asks_both'))
  await page.getByText('الكاميرا، الميكروفون').waitFor()
})

test('P52: an app has a feature that the person allows', async (t) => {
  const page = await open(t)
  const shown = page.evaluate(() => window.showApp('asks_camera'))
  const allow = page.getByRole('button', { name: 'Allow', exact: true })
  await allow.waitFor()
  await page.waitForFunction((since) => performance.now() - since > 600, await page.evaluate(() => performance.now()))
  await allow.click()
  await shown
  assert.equal(await apps.reported('asks_camera'), true)
})

test('P52: a link opens only by a click that was meant', async (t) => {
  const page = await open(t, {}, { clock: true })
  await page.context().route('https://pilot.example/**', (route) => route.fulfill({ body: 'booked' }))
  await page.evaluate(() => window.showApp('links'))
  const link = page.getByRole('link', { name: 'Open page' })
  await link.waitFor()
  assert.match(await page.evaluate(() => window.app.shadowRoot!.textContent!), /wants to open a page at pilot\.example/)
  assert.equal(await link.getAttribute('rel'), 'noopener noreferrer')
  await link.evaluate((a) => a.dispatchEvent(new MouseEvent('click', { cancelable: true, bubbles: true })))
  const popup = page.context().waitForEvent('page')
  await page.clock.runFor(600)
  await link.click()
  await page.clock.runFor(1) // the question ends after the click
  assert.equal(new URL((await popup).url()).host, 'pilot.example')
  assert.deepEqual(await apps.reported('links'), {})
})

test('P52: a link that is refused by keyboard gives the focus to the app', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('links'))
  await page.getByRole('button', { name: 'No', exact: true }).press('Enter')
  assert.deepEqual(await apps.reported('links'), { isError: true })
  assert.equal(await page.evaluate(() => window.app.shadowRoot!.activeElement?.tagName), 'IFRAME')
})

test('P52: the focus on the main button of a card is outside of its ground', async (t) => {
  const page = await open(t)
  void page.evaluate(() => window.showApp('asks_camera')).catch(() => {}) // it ends with the page
  const allow = page.getByRole('button', { name: 'Allow', exact: true })
  await allow.focus()
  const [outline, offset] = await allow.evaluate((e) => {
    const { outlineStyle, outlineOffset } = getComputedStyle(e)
    return [outlineStyle, parseFloat(outlineOffset)]
  })
  assert.equal(outline, 'solid')
  assert.ok(offset! > 0)
})

test('P52: an app stays while its server is off, and comes once its server lists the tool', async (t) => {
  const page = await open(t)
  assert.equal((await page.evaluate(() => window.showApp('friendly'))).state, 'ready')
  await page.evaluate(() => window.registry.setEnabled('apps', false))
  await page.waitForFunction(() => !window.registry.getSnapshot().tools.some((tool) => tool.server === 'apps'))
  await page.evaluate(() => {
    window.app.args = { day: 'tuesday' }
    return new Promise(requestAnimationFrame)
  })
  assert.equal(page.frames().length, 3)
  const early = await page.evaluate(() => {
    const { registry, result, sandbox } = window.app
    window.app.remove()
    window.app = document.createElement('portolan-app')
    Object.assign(window.app, { registry, result, sandbox })
    document.body.append(window.app)
    return new Promise((resolve) => window.app.addEventListener('app-state', (e) => resolve(e.detail), { once: true }))
  })
  assert.deepEqual(early, { state: 'card', why: 'none' })
  const later = await page.evaluate(async () => {
    const state = new Promise((resolve) =>
      window.app.addEventListener('app-state', (e) => resolve(e.detail), { once: true })
    )
    await window.registry.setEnabled('apps', true)
    await window.registry.discover()
    return state
  })
  assert.deepEqual(later, { state: 'ready' })
})

test('P52: a changed app waits for the person', async (t) => {
  const page = await open(t)
  t.after(() => {
    apps.version = 1
  })
  assert.equal((await page.evaluate(() => window.showApp('friendly'))).state, 'ready')
  apps.version = 2
  assert.deepEqual(await page.evaluate(() => window.showApp('friendly')), { state: 'card', why: 'changed' })
  assert.equal(page.frames().length, 1)
  await page.waitForFunction((since) => performance.now() - since > 600, await page.evaluate(() => performance.now()))
  await page.getByRole('button', { name: 'Show the app' }).click()
  await page.waitForFunction(() => window.app.shadowRoot!.querySelector('iframe')?.style.visibility === '')
  assert.equal((await page.evaluate(() => window.showApp('friendly'))).state, 'ready')
})

test('P52: an app ends with the address of its server, and what was approved there does not count elsewhere', {
  timeout: 60_000,
}, async (t) => {
  const second = await startApps(spy.url)
  t.after(() => second.close())
  const server = { url: `${apps.url}/mcp`, transport: 'streamable-http', trust: 'ask-always' }
  const page = await open(t, { servers: JSON.stringify({ apps: server }) })
  await page.evaluate(() => window.registry.approveTools('apps'))
  const shows = async () => {
    const since = await page.evaluate(() => performance.now())
    await page.waitForFunction((since) => performance.now() - since > 600, since)
    await page.getByRole('button', { name: 'Show the app' }).click()
  }
  assert.deepEqual(await page.evaluate(() => window.showApp('friendly')), { state: 'card', why: 'new' })
  await shows()
  await apps.reported('friendly')
  await page.evaluate(() => window.events.splice(0))
  await page.evaluate(async (url) => {
    await window.registry.updateServer('apps', { url })
    await window.registry.discover()
    await window.registry.approveTools('apps')
  }, `${second.url}/mcp`)
  await page.waitForFunction(() => window.events.some((e) => JSON.stringify(e.detail).includes('new')))
  assert.equal(page.frames().length, 1)
  await shows()
  await second.reported('friendly')
})

test('P52: without a page on another origin there is a card', async (t) => {
  const page = await open(t)
  for (const [sandbox, why] of [['', 'no_sandbox'], [site.url, 'bad_sandbox'], ['data:text/html,x', 'bad_sandbox']]) {
    const state = await page.evaluate((sandbox) => window.showApp('friendly', { sandbox }), sandbox!)
    assert.deepEqual(state, { state: 'card', why })
  }
  assert.deepEqual(await violations(page, { whole: true }), [])
  // As frameworks take a property away.
  const without = await page.evaluate(async () => {
    document.documentElement.lang = 'ar'
    const state = new Promise((resolve) => window.app.addEventListener('app-state', (e) => resolve(e.detail)))
    Object.assign(window.app, { sandbox: undefined, locale: undefined })
    return [await state, window.app.shadowRoot!.querySelector('section')!.lang]
  })
  assert.deepEqual(without, [{ state: 'card', why: 'no_sandbox' }, 'ar'])
})

test('P52: an app that ignores its end is removed, and is heard no more', async (t) => {
  const page = await open(t)
  await page.evaluate(() => window.showApp('ticks'))
  await apps.reported('ticks')
  await page.evaluate(() => window.app.close())
  assert.equal(page.frames().length, 1)
  await page.evaluate(() => window.registry.call('apps__friendly', {})) // what was under way has arrived
  apps.reports.clear()
  await page.waitForTimeout(300) // it ticks each 100 ms
  assert.equal(apps.reports.has('ticks'), false)
  await page.evaluate(() => window.showApp('ticks'))
  await page.evaluate(() => window.app.remove())
  assert.equal(page.frames().length, 1)
})

test('P52: it fits, light and dark, in Arabic too, and axe finds nothing', async (t) => {
  for (const width of [380, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(t, {}, { viewport: { width, height: 700 }, colorScheme })
      await page.evaluate(() => window.showApp('friendly'))
      await apps.reported('friendly')
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
      assert.deepEqual(await violations(page, { whole: true }), [])
      const { SHOTS } = process.env
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/inline-${width}-${colorScheme}.png` })
      await page.getByRole('button', { name: 'Full screen' }).click()
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/full-${width}-${colorScheme}.png` })
      await page.keyboard.press('Escape')
      assert.equal(await page.evaluate(() => window.app.displayMode), 'inline')
    }
  }
  const page = await open(t, { locale: 'ar' })
  await page.evaluate(() => window.showApp('friendly'))
  await page.getByRole('button', { name: 'ملء الشاشة' }).waitFor()
})

for (const [engine, launch] of Object.entries(soakEngines)) {
  test(`P52: ${engine} shows an app, and keeps it in its place`, { timeout: 180_000 }, async (t) => {
    const running = await launch()
    t.after(() => running.close())
    apps.reports.clear()
    leaks.length = 0
    const page = await running.open(address())
    const ready =
      `new Promise((r) => { const at = () => 'ready' in document.documentElement.dataset ? r() : requestAnimationFrame(at); at() })`
    await page.evaluate(ready)
    assert.deepEqual(await page.evaluate(`showApp('friendly')`), { state: 'ready' })
    assert.equal(await apps.reported('friendly'), 'tool-input,tool-result')
    for (
      const name of [
        'fetches',
        'fetches_in_data_worker',
        'fetches_in_blob_worker',
        'reads_local_storage',
        'reads_parent',
        'evaluates',
        'loads_image',
      ]
    ) {
      await page.evaluate(`showApp('${name}')`)
      assert.deepEqual(await apps.reported(name), cases.find((c) => c.name === name)!.want, name)
    }
    // It may be gone before its report.
    await page.evaluate(`showApp('goes_elsewhere')`)
    while (!apps.reports.has('goes_elsewhere') && !await page.evaluate(`events.some((e) => e.detail.why === 'left')`))
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(apps.reports.get('goes_elsewhere') ?? 'still here', 'still here')
    assert.deepEqual(leaks, [])
  })
}
