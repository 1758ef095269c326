import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { AppState } from '../../web/apps/types.ts'
import { appSite, sandboxSite } from './appsite.ts'
import { soakEngines } from '../rig/engines.ts'
import {
  answering,
  freePort,
  launch,
  launchChromium,
  root,
  startProxy,
  type Engine,
  type Listening,
  type Running,
} from '../rig/harness.ts'

// Apps of servers that others wrote.

const node = join(root, 'node_modules/.bin/node')
const bin = (name: string) => join(root, 'e2e/servers/node_modules/.bin', name)
const others: Record<string, Engine> = {}
let dir: string, browser: Browser, sandbox: Listening, site: Listening
let proxy: Awaited<ReturnType<typeof startProxy>>
let running: Running[] = []
let servers: Record<string, object>

/** The token that n8n-mcp wants of its clients. It has 32 characters. */
const token = 'a-token-for-the-tests-of-portolan'

/** A PDF of one page that says "Harbour". */
const pdf = () => {
  const stream = 'BT /F1 24 Tf 20 100 Td (Harbour) Tj ET'
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let text = '%PDF-1.4\n'
  const at = objects.map((object, i) => {
    const offset = text.length
    text += `${i + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = text.length
  return `${text}xref\n0 6\n0000000000 65535 f \n${
    at.map((n) => `${String(n).padStart(10, '0')} 00000 n \n`).join('')
  }trailer << /Size 6 /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`
}

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-apps-'))
  await writeFile(join(dir, 'harbour.pdf'), pdf())
  const loopback = { NODE_OPTIONS: `--import=${new URL('../rig/loopback.mjs', import.meta.url)}` }
  const ports = await Promise.all(Array.from({ length: 4 }, freePort)) as [number, number, number, number]
  const [map, monitor, files, n8n] = ports
  const at = (port: number) => ({ ...loopback, PORT: String(port) })
  running = [
    launch(node, [bin('mcp-map-server')], at(map)),
    launch(node, [bin('mcp-system-monitor-server')], at(monitor)),
    launch(node, [bin('mcp-pdf-server'), join(dir, 'harbour.pdf')], at(files)),
    // Its program of that name speaks stdio.
    launch(node, [join(root, 'e2e/servers/node_modules/n8n-mcp/dist/mcp/index.js')], {
      ...at(n8n),
      HOME: dir,
      HOST: '127.0.0.1',
      MCP_MODE: 'http',
      AUTH_TOKEN: token,
      N8N_MCP_TELEMETRY_DISABLED: 'true',
    }),
  ]
  const urls = ports.map((port) => `http://127.0.0.1:${port}/mcp`)
  await Promise.all(urls.map((url, i) => answering(url, running[i]!)))
  sandbox = await sandboxSite()
  site = await appSite(sandbox.url)
  proxy = await startProxy(site.url)
  servers = Object.fromEntries(
    ['map', 'monitor', 'pdf', 'n8n'].map((name, i) => {
      const headers = name === 'n8n' && { headers: { authorization: `Bearer ${token}` } }
      return [name, { url: urls[i]!, transport: 'streamable-http', proxy: true, ...headers }]
    }),
  )
  browser = await launchChromium()
  for (const [name, launch] of Object.entries(soakEngines)) others[name] = await launch()
})
after(async () => {
  await Promise.all([browser?.close(), ...Object.values(others).map((engine) => engine.close())])
  await Promise.all([sandbox, site].map((s) => s?.close()))
  await Promise.all([...running, proxy].map((r) => r?.stop()))
  if (dir) await rm(dir, { recursive: true, force: true })
})

interface Row {
  server: string
  tool: string
  args: () => object
  state: AppState
  /** An expression in the app that is true once it has drawn. */
  shows?: string
  /** Hosts that the app asks, without reaching them. */
  asks?: string[]
  /** The app declares features of the browser. */
  wants?: true
}

const rows: Row[] = [
  {
    server: 'monitor',
    tool: 'get-system-info',
    args: () => ({}),
    state: { state: 'ready' },
    // The figures come from a tool that is for apps only.
    shows: `/[0-9] GB/.test(document.body.innerText)`,
  },
  {
    server: 'pdf',
    tool: 'display_pdf',
    args: () => ({ url: join(dir, 'harbour.pdf') }),
    wants: true,
    state: { state: 'ready' },
    // The file comes in parts by a tool that is for apps only. Its page has dark pixels, and its text can be selected.
    shows: `/Harbour/.test(document.body.innerText) && [...document.querySelectorAll('canvas')].some((c) => c.width &&
      c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v, i) => i % 4 < 3 && v < 60))`,
  },
  {
    server: 'n8n',
    tool: 'validate_node',
    args: () => ({ nodeType: 'nodes-base.webhook', config: {} }),
    state: { state: 'ready' },
    // It shows a line, which opens.
    shows: `(document.querySelector('details:not([open]) > summary, [aria-expanded=false]')?.click(),
      /Webhook path is required/.test(document.body.innerText))`,
  },
  {
    server: 'map',
    tool: 'show-map',
    args: () => ({ label: 'Harbour' }),
    // Without its library, which is on a host that it declares, the app never answers.
    state: { state: 'card', why: 'silent' },
    asks: ['cesium.com'],
  },
]

/** A page with the element, for one server. */
const address = ({ server }: Row) =>
  `${site.url}/?${new URLSearchParams({
    sandbox: sandbox.url,
    proxy: proxy.template,
    servers: JSON.stringify({ [server]: servers[server] }),
  })}`

/** Shows the app, without the features that it wants. */
const show = ({ server, tool, args, wants }: Row) =>
  `(() => {
    const shown = showApp('${tool}', ${JSON.stringify({ server, args: args() })})
    const without = () => [...app.shadowRoot.querySelectorAll('button')].find((b) => b.textContent === 'Go on without')
    const look = () => { const button = globalThis.app && without(); button ? button.click() : setTimeout(look, 100) }
    ${wants ? 'look()' : ''}
    return shown
  })()`

/** Resolves once the expression is true. */
const until = (expression: string) =>
  `new Promise((r) => { const look = () => { if (${expression}) r(); else setTimeout(look, 100) }; look() })`

for (const row of rows) {
  const { server, state, shows, asks } = row
  const outcome = state.why ?? 'drawn'
  test(`P52: the app of ${server} in Chromium: ${outcome}`, { timeout: 180_000 }, async (t) => {
    const context = await browser.newContext({ viewport: { width: 1000, height: 900 } })
    t.after(() => context.close())
    const page = await context.newPage()
    const start = Date.now()
    if (state.state === 'card') await page.clock.install({ time: start })
    const asked = new Set<string>()
    await context.route(/^https:/, (route) => {
      asked.add(new URL(route.request().url()).host)
      return route.abort()
    })
    await page.goto(address(row))
    await page.waitForSelector('html[data-ready]')
    // The time stands still until the app has asked, however busy the machine is.
    if (state.state === 'card') await page.clock.pauseAt(start + 60_000)
    const shown = page.evaluate(show(row))
    if (state.state === 'card') {
      // The driver may miss requests of a frame that has just begun. The app's document says what it asks for.
      const app = page.frameLocator('iframe').frameLocator('iframe')
      for (const host of asks!)
        await app.locator(`script[src^="https://${host}/"]`).waitFor({ state: 'attached', timeout: 120_000 })
      await page.clock.fastForward(10_000)
    }
    assert.deepEqual(await shown, state)
    if (shows) await page.frames().at(-1)!.evaluate(until(shows))
    else await page.getByRole('button', { name: 'Try again' }).waitFor()
    for (const host of asked) assert.ok(asks?.includes(host), `asks ${host}`)
    const { SHOTS } = process.env
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/real-${server}.png` })
  })

  for (const name of Object.keys(soakEngines)) {
    test(`P52: the app of ${server} in ${name}: ${outcome}`, { timeout: 180_000 }, async () => {
      const page = await others[name]!.open(address(row))
      await page.evaluate(until(`'ready' in document.documentElement.dataset`))
      assert.deepEqual(await page.evaluate(show(row)), state)
      if (shows) await page.inside(until(shows))
      else assert.ok(await page.evaluate(`app.shadowRoot.textContent.includes('Try again')`))
    })
  }
}
