import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { build, type Plugin } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { createElement as h } from 'react'
import { renderToString } from 'react-dom/server'
import { createRegistry } from '../../dist/npm/index.js'
import { Elicitation, PortolanPanel, useMCP, useQuestions, useRegistry } from '../../dist/npm/react.js'
import { launchChromium, listen, openPage, root, sendFile, type Listening } from '../rig/harness.ts'

// The bindings of the built package, with React and with Preact in its place.

test('on a server they render and do nothing', async () => {
  const r = await createRegistry({
    storage: 'memory',
    mode: 'main',
    servers: { demo: { url: 'builtin:demo', enabled: false } },
  })
  const globals = Object.getOwnPropertyNames(globalThis).length
  const App = () => {
    const { status, tools, registry } = useMCP({ servers: { s: { url: 'https://s.example/mcp' } } })
    const questions = useQuestions()
    const names = useRegistry(r, (s) => Object.keys(s.servers))
    return h(
      'main',
      null,
      `${status} ${tools.length} ${registry} ${names.join()} ${useRegistry(undefined).status}`,
      h(PortolanPanel, { registry: r, id: 'panel', view: 'tools' }),
      h(Elicitation, { questions }),
      h(Elicitation, { questions, children: () => 'never' }),
    )
  }
  assert.equal(
    renderToString(h(App)),
    '<main>starting 0 undefined demo idle<portolan-panel id="panel"></portolan-panel><portolan-questions></portolan-questions></main>',
  )
  assert.equal(Object.getOwnPropertyNames(globalThis).length, globals)
  // React 18 gives a ref to no other function.
  assert.equal((PortolanPanel as unknown as { $$typeof: symbol }).$$typeof, Symbol.for('react.forward_ref'))
  await r.close()
})

/** The package's files are fetched as they are, not bundled. */
const beside: Plugin = {
  name: 'beside',
  setup: (b) =>
    b.onResolve(
      { filter: /(^|\/)(index|panel|prompts|elicitation)\.js$/ },
      ({ path }) => ({ path: `/${path.split('/').pop()}`, external: true }),
    ),
}

const libraries = {
  react: {},
  preact: { react: 'preact/compat', 'react-dom': 'preact/compat', 'react-dom/client': 'preact/compat/client' },
}

for (const [library, alias] of Object.entries(libraries))
  describe(library, () => {
    let browser: Browser
    let site: Listening, page: Page & { faults: string[] }
    const run = (name: string) => page.evaluate(`${name}()`)

    before(async () => {
      browser = await launchChromium()
      const { outputFiles } = await build({
        entryPoints: [`${root}e2e/web/reactpage.ts`],
        bundle: true,
        format: 'esm',
        write: false,
        alias,
        plugins: [beside],
        define: { 'process.env.NODE_ENV': '"development"' },
        logLevel: 'error',
      })
      site = await listen(async (req, res) => {
        if (req.url === '/')
          return void res.writeHead(200, { 'content-type': 'text/html' }).end(
            '<!doctype html><title>react</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
          )
        if (req.url === '/page.js')
          return void res.writeHead(200, { 'content-type': 'text/javascript' }).end(outputFiles[0]!.text)
        if (req.url !== '/silent') await sendFile(`${root}dist/npm`, req.url!, res)
      })
      page = await openPage(browser, site.url)
      await page.waitForFunction('window.panel')
    })
    after(async () => {
      await Promise.all([browser.close(), site.close()])
    })

    test('W15: a component renders when what it selects has changed', async () => {
      const { first, afterCall, afterSwitch } = await run('renders') as Record<string, Record<string, number>>
      assert.deepEqual(first, { names: 1, inline: 1, set: 1, status: 1, latency: 1, whole: 1 })
      for (const same of ['names', 'inline', 'status']) assert.equal(afterCall![same], 1, same)
      assert.ok(afterCall!.latency === 2 && afterCall!.whole! >= 2, JSON.stringify(afterCall))
      for (const changed of ['names', 'inline', 'status'])
        assert.ok(afterSwitch![changed]! >= 2 && afterSwitch![changed]! <= 3, JSON.stringify(afterSwitch))
    })

    // Preact subscribes after painting: what has changed until then shows a frame late.
    test('nothing tears', async () => assert.deepEqual(await page.evaluate(`tearing(${library === 'react'})`), []))

    test('W15: a registry lives as long as its component, also in StrictMode', async () => {
      const { seen, ...rest } = await run('lifetime') as { seen: string[] }
      assert.deepEqual(rest, {
        early: 'early',
        text: 'hello',
        status: 'ready',
        stable: true,
        health: 'connected',
        workers: 1,
        closed: 'closed',
        left: 'closed',
      })
      assert.ok(seen[0] === 'starting' && seen.includes('ready'), seen.join())
    })

    test('a call in the first effect waits for its tool, and no longer than for the first discovery', async () =>
      assert.deepEqual(await run('firstEffect'), { said: 'early', unknown: 'unknown_tool' }))

    test('a call that waits for its tool can be cancelled', async () =>
      assert.deepEqual(await run('cancelled'), { code: 'aborted', lastError: null }))

    test(
      'a call that waits for its registry can be cancelled',
      { timeout: 20_000 },
      async () => assert.deepEqual(await run('cancelledEarly'), { codes: ['aborted', 'aborted'], status: 'starting' }),
    )

    test('a registry that somebody else closes is not ready any more', async () =>
      assert.deepEqual(await run('closing'), { before: 'ready ready 7', after: 'partial partial 0 closed' }))

    test('a module that ends during the first discovery is no lasting error', async () =>
      assert.deepEqual(await run('crashing'), { error: null, said: 'again' }))

    test('an error is shown', async () => {
      for (const options of ['{ colour: "red" }', '{ signal: { aborted: false } }'])
        assert.deepEqual(await page.evaluate(`failing(${options})`), {
          code: 'invalid_option',
          status: 'failed',
          tools: [],
          refused: 'invalid_option',
        })
    })

    test('a question is a form, then an address, and unmounting cancels, also in StrictMode', async (t) => {
      t.after(() => page.evaluate('unmountChat()'))
      await run('chat')
      const dialog = page.locator('portolan-questions dialog[open]')
      const answer = page.evaluate('registry.dispatch("demo__ask", {})')
      await dialog.getByText('What is your name?').waitFor()
      const url = page.evaluate('address()')
      await dialog.getByText('1 more question waits.').waitFor()
      assert.equal(await dialog.count(), 1)
      await dialog.getByLabel('name').fill('Ada')
      await dialog.getByRole('button', { name: 'Check answer' }).click()
      await dialog.getByRole('button', { name: 'Send' }).click()
      assert.equal(await answer, 'Hello, Ada.')
      await dialog.getByText('pay.example', { exact: true }).waitFor()
      await dialog.getByRole('button', { name: 'Decline' }).click()
      assert.equal(await url, 'decline')
      assert.equal(await page.evaluate('address("javascript:1")'), 'decline')

      const open = page.evaluate('Promise.all([address(), question()])')
      await dialog.getByText('pay.example', { exact: true }).waitFor()
      await page.evaluate('unmountChat()')
      assert.deepEqual(await open, ['cancel', { action: 'cancel' }])
      assert.deepEqual(await page.evaluate('question()'), { action: 'cancel' })
      assert.equal(await dialog.count(), 0)
      assert.deepEqual(page.faults, [])
    })

    test('a question that the server withdraws closes its dialog, and the next one is shown', async (t) => {
      t.after(() => page.evaluate('unmountChat()'))
      await run('chat')
      const dialog = page.locator('portolan-questions dialog[open]')
      const [first, second] = [page.evaluate('withdrawn()'), page.evaluate('address()')]
      await dialog.getByText('Which berth?').waitFor()
      await page.evaluate('withdraw()')
      assert.deepEqual(await first, { action: 'cancel' })
      await dialog.getByText('pay.example', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      assert.equal(await second, 'cancel')
    })

    test('a function renders the questions of a page with its own looks', async (t) => {
      t.after(() => page.evaluate('unmountChat()'))
      await page.evaluate('chat(true)')
      const both = page.evaluate('Promise.all([question(), address()])')
      await page.locator('#own').getByText('Which berth?').click()
      await page.locator('#own').getByText('https://pay.example/1').click()
      assert.deepEqual(await both, [{ action: 'accept', content: { berth: 3 } }, 'accept'])
      await page.locator('#own').waitFor({ state: 'detached' })
      assert.equal(await page.locator('portolan-questions').count(), 0)
    })

    test('a panel that is defined before it is hydrated', async () =>
      assert.deepEqual(await run('hydratedPanel'), { faults: [], isSame: true }))

    test('a slash menu that is defined before it is hydrated', async () => {
      assert.deepEqual(await run('hydrated'), { faults: [], same: true, list: 'listbox' })
      assert.deepEqual(page.faults, [])
    })

    test('the panel takes props and tells events', async () => {
      assert.deepEqual(await run('panel'), {
        props: { registry: true, view: 'tools', class: 'mine', ref: true },
        later: { view: 'activity', same: true },
        views: ['servers undefined', 'tools 500'],
      })
      assert.deepEqual(page.faults, [])
    })
  })
