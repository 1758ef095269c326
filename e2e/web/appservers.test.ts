import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import type { AppState } from '../../web/apps/types.ts'
import { appSite, sandboxSite } from './appsite.ts'
import {
  answering,
  freePort,
  launch,
  launchChromium,
  root,
  startProxy,
  type Listening,
  type Running,
} from './harness.ts'

// Apps of servers that others wrote.

const node = join(root, 'node_modules/.bin/node')
const bin = (name: string) => join(root, 'e2e/servers/node_modules/.bin', name)
let dir: string, browser: Browser, sandbox: Listening, site: Listening
let proxy: Awaited<ReturnType<typeof startProxy>>
let running: Running[] = []
let servers: Record<string, object>

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
  const loopback = { NODE_OPTIONS: `--import=${new URL('loopback.mjs', import.meta.url)}` }
  const ports = await Promise.all(Array.from({ length: 3 }, freePort)) as [number, number, number]
  const [map, monitor, files] = ports
  const at = (port: number) => ({ ...loopback, PORT: String(port) })
  running = [
    launch(node, [bin('mcp-map-server')], at(map)),
    launch(node, [bin('mcp-system-monitor-server')], at(monitor)),
    launch(node, [bin('mcp-pdf-server'), join(dir, 'harbour.pdf')], at(files)),
  ]
  const urls = ports.map((port) => `http://127.0.0.1:${port}/mcp`)
  await Promise.all(urls.map(answering))
  sandbox = await sandboxSite()
  site = await appSite(sandbox.url)
  proxy = await startProxy(site.url)
  servers = Object.fromEntries(
    ['map', 'monitor', 'pdf'].map((
      name,
      i,
    ) => [name, { url: urls[i]!, transport: 'streamable-http', proxy: true }]),
  )
  browser = await launchChromium()
})
after(async () => {
  await browser?.close()
  await Promise.all([sandbox, site].map((s) => s?.close()))
  await Promise.all([...running, proxy].map((r) => r?.stop()))
  if (dir) await rm(dir, { recursive: true, force: true })
})

const rows: {
  server: string
  tool: string
  args: () => object
  state: AppState
  check: (page: Page, app: FrameLocator, asked: string[]) => Promise<unknown>
}[] = [
  {
    server: 'monitor',
    tool: 'get-system-info',
    args: () => ({}),
    state: { state: 'ready' },
    // The figures come from a tool that is for apps only.
    check: (_, app) => app.getByText(/[0-9] GB/).first().waitFor(),
  },
  {
    server: 'map',
    tool: 'show-map',
    args: () => ({ label: 'Harbour' }),
    // Without its library, which is on a host that it declares, the app never answers.
    state: { state: 'card', why: 'silent' },
    check: async (page, _, asked) => {
      assert.ok(asked.length)
      assert.deepEqual([...new Set(asked.map((url) => new URL(url).host))], ['cesium.com'])
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    },
  },
  {
    server: 'pdf',
    tool: 'display_pdf',
    args: () => ({ url: join(dir, 'harbour.pdf') }),
    // Its html is larger than 4 MiB, the limit of one event.
    state: { state: 'card', why: 'unreadable' },
    check: (page) => page.getByText(/harbour\.pdf/).first().waitFor(),
  },
]

for (const { server, tool, args, state, check } of rows) {
  test(`the app of ${server}: ${state.why ?? 'drawn'}`, async (t) => {
    const context = await browser.newContext({ viewport: { width: 1000, height: 900 } })
    t.after(() => context.close())
    const page: Page = await context.newPage()
    const asked: string[] = []
    await context.route(/^https:/, (route) => {
      asked.push(route.request().url())
      return route.abort()
    })
    const params = {
      sandbox: sandbox.url,
      proxy: proxy.template,
      servers: JSON.stringify({ [server]: servers[server] }),
    }
    await page.goto(`${site.url}/?${new URLSearchParams(params)}`)
    await page.waitForSelector('html[data-ready]')
    const became = await page.evaluate(
      ([tool, server, args]) => window.showApp(tool, { server, args }),
      [tool, server, args()] as const,
    )
    assert.deepEqual(became, state)
    await check(page, page.frameLocator('iframe').frameLocator('iframe'), asked)
    const { SHOTS } = process.env
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/real-${server}.png` })
  })
}
