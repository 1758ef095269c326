import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { launchChromium, listen, startProxy, type Listening } from '../rig/harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { violations } from './axe.ts'
import { openPanel, panelSite, type PanelPage } from './site.ts'

let browser: Browser, site: Listening
before(async () => {
  browser = await launchChromium()
  site = await panelSite()
})
after(async () => {
  await browser?.close()
  await site?.close()
})

const box = ({ panel }: PanelPage) => panel.getByRole('textbox', { name: 'Add a server' })
const lookThere = ({ panel }: PanelPage) => panel.getByRole('button', { name: 'Look for servers there' }).click()
const done = async ({ page, faults }: PanelPage) => {
  assert.deepEqual(faults, [])
  await page.close()
}

/** Opens the panel with the domain of a URL in the box. The requests to it are counted. */
async function typed(url: string, query: Record<string, string> = {}) {
  const p = await openPanel(browser, site, { query })
  const { host } = new URL(url)
  const asked: string[] = []
  p.page.on('request', (r) => {
    const at = new URL(r.url())
    if (at.host === host) asked.push(at.pathname)
  })
  await box(p).fill(host)
  await p.panel.getByText(`Asks ${host} four times at most`).waitFor()
  return { p, asked, host }
}

/** Adds what is found, and waits until it is connected. Returns its configuration. */
async function add(p: PanelPage) {
  await p.panel.getByRole('button', { name: 'Add server' }).click()
  await p.panel.getByRole('article').getByText('Connected').waitFor()
  return p.page.evaluate(() => Object.values(window.registry.getSnapshot().servers)[0]!.config)
}

test('S15: nothing is fetched before the click; then /mcp of a domain is found and added', async (t) => {
  const server = await sdkServer()
  t.after(() => server.close())
  const { p, asked } = await typed(server.url)
  assert.deepEqual(asked, [])
  await lookThere(p)
  await p.panel.getByText('/mcp: an MCP server').waitFor()
  assert.deepEqual(asked, ['/.well-known/mcp/server-card.json', '/.well-known/mcp.json', '/mcp'])
  assert.equal((await add(p)).url, server.url)
  await done(p)
})

test('S15: the card of a domain names its server', async (t) => {
  const card: Record<string, unknown> = { name: 'com.example/tides', version: '1.0.0' }
  const server = await sdkServer([], { card })
  t.after(() => server.close())
  card['remotes'] = [{ type: 'streamable-http', url: server.url.replace('/mcp', '/v1/tides') }]
  const { p, asked } = await typed(server.url)
  await lookThere(p)
  await p.panel.getByText('/.well-known/mcp/server-card.json: a server card').waitFor()
  assert.deepEqual(asked, ['/.well-known/mcp/server-card.json'])
  assert.equal(await p.panel.getByLabel('Name', { exact: true }).inputValue(), 'tides')
  assert.equal((await add(p)).url, server.url.replace('/mcp', '/v1/tides'))
  await done(p)
})

test('S15: a server on /sse only', async (t) => {
  const streams = new Map<string, SSEServerTransport>()
  const server = await listen(async (req, res) => {
    for (const name of ['origin', 'headers', 'methods']) res.setHeader(`access-control-allow-${name}`, '*')
    const { pathname, searchParams } = new URL(req.url!, 'http://x')
    if (req.method === 'OPTIONS') return void res.writeHead(204).end()
    const stream = streams.get(searchParams.get('sessionId') ?? '')
    if (stream && req.method === 'POST') return stream.handlePostMessage(req, res)
    if (pathname !== '/sse' || req.method !== 'GET') return void res.writeHead(404).end()
    const program = new Server({ name: 'old', version: '1' }, { capabilities: { tools: {} } })
    program.setRequestHandler(
      ListToolsRequestSchema,
      () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
    )
    const opened = new SSEServerTransport('/messages', res)
    streams.set(opened.sessionId, opened)
    await program.connect(opened as never)
  })
  t.after(() => server.close())
  const { p, asked } = await typed(server.url)
  await lookThere(p)
  await p.panel.getByText('/sse: an MCP server').waitFor()
  await p.panel.getByText('/mcp: nothing').waitFor()
  assert.equal(asked.length, 4)
  const { url, transport } = await add(p)
  assert.deepEqual([url, transport], [`${server.url}/sse`, 'sse'])
  await done(p)
})

test('S15: a server on another host is shown in bold', async (t) => {
  const card = { name: 'x/y', version: '1.0.0', remotes: [{ type: 'sse', url: 'https://elsewhere.example/mcp' }] }
  const server = await sdkServer([], { card })
  t.after(() => server.close())
  const { p, host } = await typed(server.url)
  await lookThere(p)
  await p.panel.getByText(`The server card of ${host} names a server on another host: elsewhere.example.`).waitFor()
  assert.equal(await p.panel.locator('.entry strong', { hasText: /^elsewhere\.example$/ }).count(), 1)
  assert.deepEqual(await violations(p.page), [])
  await box(p).fill('127.0.0.1:9/x')
  await p.panel.getByText('elsewhere.example').first().waitFor({ state: 'detached' })
  await done(p)
})

test('S15: a domain without a server is said to have none', async (t) => {
  const empty = await listen((_, res) => void res.writeHead(404, { 'access-control-allow-origin': '*' }).end())
  t.after(() => empty.close())
  const { p, host, asked } = await typed(empty.url)
  await lookThere(p)
  await p.panel.getByText(`No server was found at ${host}.`).waitFor()
  assert.equal(asked.length, 4)
  await done(p)
})

test('S15: a domain without CORS is added at its usual address, and goes through the proxy', async (t) => {
  const hidden = await sdkServer([], { cors: false })
  const proxy = await startProxy(site.url)
  t.after(() => Promise.all([proxy.stop(), hidden.close()]))
  for (const query of [{ proxy: proxy.template }, {}]) {
    const { p, host } = await typed(hidden.url, query as Record<string, string>)
    await lookThere(p)
    await p.panel.getByText(`${host} may be down, or hide its answers from web pages (CORS).`).waitFor()
    await p.panel.getByRole('button', { name: 'Add server' }).click()
    const card = p.panel.getByRole('article')
    await card.getByText('proxy' in query ? 'Connected' : 'may not allow web pages (CORS)').first().waitFor()
    const { config } = await p.page.evaluate(() => Object.values(window.registry.getSnapshot().servers)[0]!)
    assert.deepEqual([config.url, config.proxy], [hidden.url, 'auto'])
    await done(p)
  }
})
