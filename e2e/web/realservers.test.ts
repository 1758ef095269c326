import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import type { ElicitationRequest, ElicitationUrlRequest, Registry } from '../../wasm/js/shared/types.ts'
import { createRegistry } from '../../dist/npm/index.js'
import { violations } from '../panel/axe.ts'
import {
  answering,
  freePort,
  launch,
  launchChromium,
  openPage,
  root,
  serveFolder,
  start,
  startProxy,
  type Listening,
} from '../rig/harness.ts'
import { oauthServer } from './servers/oauthserver.ts'
import { startServers, type RealServer } from './servers/servers.ts'

/** The findings of one run about a server: the part that must be the same in every realm. */
interface Found {
  status: string
  transport: string | undefined
  protocolVersion: string | undefined
  tools: string[]
  text: string
}

declare global {
  interface Window {
    registry: Registry
  }
}

let servers: RealServer[]
let stop: () => Promise<void>
let proxy: Awaited<ReturnType<typeof startProxy>>
let site: Listening
let browser: Browser
/** A folder for pictures of the panel, where somebody wants to look at them. */
const pictures = process.env.PORTOLAN_PICTURES
const found = new Map<string, Record<string, Found>>()

before(async () => {
  ;({ servers, stop } = await startServers())
  site = await serveFolder(`${root}dist/demo`)
  proxy = await startProxy(site.url)
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await site?.close()
  await proxy?.stop()
  await stop?.()
})

/** The main job, written once: it runs in Node, and as text in a page. */
async function mainJob(registry: Registry, servers: RealServer[], proxied: boolean): Promise<Record<string, Found>> {
  for (const s of servers)
    await registry.addServer(s.name, { url: s.url, headers: s.headers, proxy: proxied && !s.cors })
  const snapshot = await registry.discover()
  const out: Record<string, Found> = {}
  for (const s of servers) {
    const health = snapshot.servers[s.name]!
    const tools = snapshot.tools.filter((t) => t.server === s.name)
    const tool = tools.find((t) => t.tool === s.call.tool)
    const text = tool
      ? await registry.dispatch(tool.name, s.call.args).catch((e) => `${e.code}: ${e.message}`)
      : 'no such tool'
    out[s.name] = {
      status: health.status,
      transport: health.transport,
      protocolVersion: health.protocolVersion,
      tools: tools.map((t) => t.name),
      text,
    }
  }
  return out
}

function check(found: Record<string, Found>): void {
  for (const s of servers) {
    const f = found[s.name]!
    assert.equal(f.status, 'connected', `${s.name}: ${JSON.stringify(f)}`)
    assert.equal(f.transport, s.transport, s.name)
    assert.ok(f.tools.length > 0, `${s.name} has tools`)
    assert.ok(f.tools.every((name) => /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)), `${s.name}: ${f.tools}`)
    assert.match(f.text, s.call.want, s.name)
  }
}

test('ten servers of others, from Node', async () => {
  const registry = await createRegistry({ storage: 'memory' })
  try {
    const f = await mainJob(registry, servers, false)
    check(f)
    found.set('node', f)
  } finally {
    await registry.close()
  }
})

for (const mode of ['worker', 'main']) {
  test(`ten servers of others, from Chromium, in mode ${mode}`, async () => {
    // A refused preflight is how a browser learns that a server is of an older era, or lacks a stream.
    const page = await openPage(
      browser,
      `${site.url}/?mode=${mode}`,
      /CORS policy|Failed to load resource|TrustedScriptURL/,
    )
    await page.waitForFunction(() => !!window.registry)
    assert.equal(await page.evaluate(() => window.registry.mode), mode)
    // As text, for the page's own policy forbids eval.
    const f = await page.evaluate(`(async () => {
      const mainJob = ${mainJob}
      const { createRegistry } = await import('/portolan/index.js')
      const registry = await createRegistry({ mode: '${mode}', storage: 'memory', proxy: '${proxy.template}' })
      try {
        return await mainJob(registry, ${JSON.stringify(servers)}, true)
      } finally {
        await registry.close()
      }
    })()`) as Record<string, Found>
    check(f)
    found.set(mode, f)
    assert.deepEqual(page.faults, [])
    await page.close()
  })
}

test('ten servers of others, natively, from the command line', async () => {
  const portolan = (...args: string[]) => promisify(execFile)(`${root}dist/bin/portolan`, args, { maxBuffer: 64 << 20 })
  const auth = ['--header', 'Authorization: Bearer e2e-token']
  interface Listed {
    servers: Record<string, { url: string; status: string; transport: string; protocolVersion: string }>
    tools: { server: string; tool: string }[]
  }
  const list = async () =>
    JSON.parse((await portolan('tools', ...servers.map((s) => s.url), ...auth, '--json')).stdout) as Listed
  const listed = await list()
  for (const s of servers) {
    const [name, server] = Object.entries(listed.servers).find(([, v]) => v.url === s.url)!
    assert.equal(server.status, 'connected', s.name)
    assert.equal(server.transport, s.transport, s.name)
    assert.equal(server.protocolVersion, found.get('node')![s.name]!.protocolVersion, s.name)
    const tools = listed.tools.filter((t) => t.server === name)
    assert.equal(tools.length, found.get('node')![s.name]!.tools.length, s.name)
    const call = await portolan('call', s.url, s.call.tool, JSON.stringify(s.call.args), ...auth).then(
      (r) => r.stdout,
      (e) => `server_error: ${e.stderr}`,
    )
    assert.match(call, s.call.want, s.name)
  }
})

// The server `everything` adds tools when it has handled `initialized`.
test('each first list is whole', async () => {
  for (const { name, url } of servers.filter((s) => s.name.startsWith('everything'))) {
    for (let i = 0; i < (process.env.PORTOLAN_SOAK ? 120 : 12); i++) {
      const registry = await createRegistry({ storage: 'memory', servers: { s: { url } } })
      const { tools } = await registry.discover()
      assert.deepEqual(tools.map((t) => t.tool), found.get('node')![name]!.tools.map((t) => t.replace(/^.*__/, '')))
      await registry.close()
    }
  }
})

test('a real server asks by a form, by an address, and by an error with an address', async () => {
  const forms: ElicitationRequest[] = [], addresses: ElicitationUrlRequest[] = []
  let opens = true
  const registry = await createRegistry({
    storage: 'memory',
    servers: { s: { url: servers.find((s) => s.name === 'everything')!.url } },
    onElicitation: (q) => (forms.push(q), { action: 'accept', content: { name: 'Ada', integer: 7 } }),
    onElicitationUrl: (q) => (addresses.push(q), opens ? 'accept' : 'decline'),
  })
  await registry.discover()
  assert.match(await registry.dispatch('s__trigger-elicitation-request', {}), /Name: Ada[^]*Favorite Integer: 7/)
  assert.equal(forms[0]!.tool, 'trigger-elicitation-request')
  const open = { url: 'https://pay.example/7', message: 'Pay, please', elicitationId: 'p7' }
  assert.match(await registry.dispatch('s__trigger-url-elicitation', open), /accept/)
  await registry.dispatch('s__trigger-url-elicitation', { ...open, errorPath: true }) // sent once more after the visit
  assert.deepEqual(addresses.map((q) => [q.url, q.tool, !!q.awaitsEnd]), [
    [open.url, 'trigger-url-elicitation', false],
    ['https://modelcontextprotocol.io/', 'trigger-url-elicitation', true],
    [open.url, 'trigger-url-elicitation', false], // during the call that is sent once more
  ])
  opens = false
  const refused = registry.dispatch('s__trigger-url-elicitation', { ...open, elicitationId: 'p8', errorPath: true })
  await assert.rejects(refused, { code: 'server_error' })
  assert.equal(registry.getSnapshot().servers['s']!.consecutiveFailures, 0)
  await registry.close()
})

/** Calls a tool of server-everything at a terminal, where `type` answers what is asked. Returns what it says. */
async function callAtTerminal(t: TestContext, tool: string, type: (prompt: string) => string): Promise<string> {
  const { url } = servers.find((s) => s.name === 'everything')!
  // `script` of Debian's bsdutils runs the command at a terminal.
  const child = spawn('script', ['-qec', `${root}dist/bin/portolan call ${url} ${tool}`, '/dev/null'])
  t.after(() => child.kill())
  let said = '', read = 0
  child.stdout.on('data', (chunk) => {
    said += chunk
    const prompt = said.slice(read)
    if (!/: $/.test(prompt)) return
    read = said.length
    child.stdin.write(`${type(prompt)}\n`)
  })
  const [code] = await once(child, 'exit')
  assert.equal(code, 0, said)
  return said
}

test('the command line asks the person at the terminal', { timeout: 60_000 }, async (t) => {
  let name = 'Ada'
  const said = await callAtTerminal(t, 'trigger-elicitation-request', (prompt) => {
    if (prompt.includes('Send this?')) return 'y'
    const typed = name
    name = ''
    return typed
  })
  assert.match(said, /The server \S+ asks: [^]*Name: Ada/)
})

test('a person at the terminal writes the message that a server wants', { timeout: 60_000 }, async (t) => {
  const prompts: string[] = []
  const said = await callAtTerminal(t, `trigger-sampling-request '{"prompt":"How many?"}'`, (prompt) => {
    prompts.push(prompt)
    return 'Forty-two.'
  })
  assert.equal(prompts.length, 1)
  assert.match(prompts[0]!, /How many\?/)
  assert.match(said, /"role": "assistant"[^]*Forty-two\./)
})

test('a tool of a real server that runs as a task only', async () => {
  const { url } = servers.find((s) => s.name === 'everything')!
  const registry = await createRegistry({ storage: 'memory', servers: { s: { url } } })
  await registry.discover()
  const said: (string | undefined)[] = []
  const text = await registry.dispatch('s__simulate-research-query', { topic: 'tides', ambiguous: false }, {
    onProgress: ({ message }) => said.push(message),
  })
  assert.match(text, /tides/)
  assert.ok(said.some((message) => message), 'the task tells its state')
  const stop = new AbortController()
  const stopped = registry.dispatch('s__simulate-research-query', { topic: 'tides', ambiguous: false }, {
    signal: stop.signal,
    onProgress: () => stop.abort(),
  })
  await assert.rejects(stopped, { code: 'aborted' })
  await registry.close()
})

test('the same tools and answers everywhere', () => {
  const node = found.get('node')!
  for (const [realm, f] of found) {
    for (const s of servers) {
      assert.deepEqual(f[s.name]!.tools, node[s.name]!.tools, `${s.name} in ${realm}`)
      assert.equal(f[s.name]!.protocolVersion, node[s.name]!.protocolVersion, `${s.name} in ${realm}`)
    }
  }
})

/** The official SDK's example with sign-in. It has no CORS, so its token goes through the proxy. */
async function signInExample(t: TestContext): Promise<string> {
  const [port, authorization] = [await freePort(), await freePort()]
  const example =
    `${root}e2e/servers/node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js`
  const running = launch(
    'node',
    ['--import', new URL('../rig/loopback.mjs', import.meta.url).href, example, '--oauth'],
    {
      MCP_PORT: String(port),
      MCP_AUTH_PORT: String(authorization),
    },
  )
  t.after(() => running.stop())
  const url = `http://localhost:${port}/mcp`
  await answering(url, running)
  return url
}

test('all in the panel of `up`, as a person adds them', async (t) => {
  const up = await start(
    `${root}dist/bin/portolan`,
    ['up', '--root', `${root}dist/demo`, '--listen', '127.0.0.1:0'],
    /is at (\S+)/,
  )
  t.after(() => up.stop())
  const [closed, open] = [await signInExample(t), await oauthServer()]
  t.after(() => open.close())
  const page = await openPage(browser, up.ready[1]!, /CORS policy|Failed to load resource|TrustedScriptURL/)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const panel = page.locator('portolan-panel')
  const card = (name: string) => panel.getByRole('article', { name, exact: true })
  const button = (name: string, text: string) => card(name).getByRole('button', { name: text, exact: true })
  const add = async (name: string, url: string) => {
    await panel.getByRole('textbox', { name: 'Add a server' }).fill(url)
    await panel.getByLabel('Name', { exact: true }).fill(name)
    await panel.getByRole('button', { name: 'Add server', exact: true }).click()
  }
  const connected = (name: string) => card(name).getByText(/^Connected/).waitFor()
  const byProxy = 'Go through the proxy (it will see the token)'
  for (const { name, url, headers } of servers) {
    await add(name, url)
    if (headers) {
      await button(name, 'Add credentials').click()
      await card(name).getByLabel('Access token').waitFor()
      await page.keyboard.insertText(headers.Authorization!.replace('Bearer ', ''))
      await page.keyboard.press('Enter')
      await button(name, byProxy).click()
    }
    await connected(name)
  }
  await add('sign-in', open.url)
  await button('sign-in', 'Sign in').click()
  await connected('sign-in')
  await add('sign-in-closed', closed)
  await button('sign-in-closed', 'Sign in').click()
  await button('sign-in-closed', byProxy).click()
  await connected('sign-in-closed')
  await panel.locator('.notice').waitFor({ state: 'detached' }) // it covers a part of a card
  for (const [width, colorScheme] of [[1280, 'light'], [1280, 'dark'], [380, 'light'], [380, 'dark']] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    if (pictures) await page.screenshot({ path: `${pictures}/servers-${width}-${colorScheme}.png`, fullPage: true })
    assert.deepEqual(
      await violations(page, { whole: true, colours: colorScheme === 'dark' }),
      [],
      `${width} ${colorScheme}`,
    )
  }
  const offered = await page.evaluate(() => window.registry.getSnapshot().tools.map((tool) => tool.server))
  for (const { name } of servers) {
    const asking = name.startsWith('everything') ? 2 : 0 // tools for clients that answer questions, as `up` does
    const { length } = found.get('node')![name]!.tools
    assert.equal(offered.filter((server) => server === name).length, length + asking, name)
  }
  assert.deepEqual(page.faults, [])
  await page.close()
})
