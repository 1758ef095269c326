import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { launchChromium, listen, openPage, root } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// The built package where it is neither a page's worker nor a page's main thread.

let browser: Browser
let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  ;[browser, server] = await Promise.all([launchChromium(), sdkServer()])
})
after(async () => {
  await Promise.all([browser.close(), server.close()])
})

interface Report {
  mode: string
  status: string
  tools: string[]
  text: string
  raw: string
}

/** Discovers the demo and a real server and calls both; made of text so that it runs in any realm. */
const visit = (options: string) =>
  `(async () => {
  const r = await createRegistry(${options})
  await r.addServer('demo', { url: 'builtin:demo' })
  await r.addServer('steered', { url: '${server.url}', timeoutMs: 5000 })
  const { status, tools } = await r.discover()
  const text = await r.dispatch('demo__add', { a: 2, b: 0.5 })
  const raw = await r.dispatch('steered__raw', '{"n":12345678901234567890}')
  await r.close()
  return { mode: r.mode, status, tools: tools.map((t) => t.name), text, raw }
})()`

const tools = [
  'demo__echo',
  'demo__add',
  'demo__count',
  'demo__picture',
  'demo__weather',
  'demo__fail',
  'demo__ask',
  'steered__raw',
  'steered__wait',
  'steered__steps',
]

function whole(report: Report, mode: string): void {
  const { raw, ...rest } = report
  assert.deepEqual(rest, { mode, status: 'ready', tools, text: '2.5' })
  assert.match(raw, /12345678901234567890/)
}

const nodes = [`${root}node_modules/.bin/node`, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync)

for (const node of nodes) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  if (Number(version.slice(1).split('.')[0]) < 20) continue // package.json: engines
  test(`in Node ${version}`, async () => {
    const program = `import { createRegistry } from '${root}dist/npm/index.js'
      const globals = Object.getOwnPropertyNames(globalThis).length
      const report = await ${visit("{ storage: 'memory' }")}
      if (Object.getOwnPropertyNames(globalThis).length !== globals) throw new Error('globals are left behind')
      console.log(JSON.stringify(report))`
    const { stdout } = await promisify(execFile)(node, ['--input-type=module', '-e', program], { timeout: 30_000 })
    whole(JSON.parse(stdout) as Report, 'main')
  })
}

const types: Record<string, string> = { js: 'text/javascript', wasm: 'application/wasm' }

/** The browser's note when a server of the older versions refuses server/discover. */
const probes = /status of 400/

/** A page on a site with the package under /portolan/ and the given texts beside it. */
async function open(
  t: TestContext,
  files: Record<string, [type: string, text: string]>,
): Promise<Page & { faults: string[] }> {
  const site = await listen(async (req, res) => {
    const built = req.url!.match(/^\/portolan\/([a-z-]+\.(js|wasm))$/)
    const [type, text] = built
      ? [types[built[2]!]!, await readFile(`${root}dist/npm/${built[1]}`)]
      : files[req.url!] ?? ['text/plain', '']
    // Open to all: a sandboxed frame is of no origin.
    res.writeHead(type === 'text/plain' ? 404 : 200, { 'content-type': type, 'access-control-allow-origin': '*' }).end(
      text,
    )
  })
  const page = await openPage(browser, site.url, probes)
  t.after(() => Promise.all([page.close(), site.close()]))
  return page
}

const html = (
  body: string,
): [string, string] => ['text/html', `<!doctype html><title>realm</title><link rel="icon" href="data:,">${body}`]

const inServiceWorker = (page: Page, script: string): Promise<unknown> =>
  page.evaluate(`(async () => {
  await navigator.serviceWorker.register('${script}', { type: 'module' })
  const { active } = await navigator.serviceWorker.ready
  return new Promise((resolve) => {
    navigator.serviceWorker.onmessage = (e) => resolve(e.data)
    active.postMessage('go')
  })
})()`)

const serviceWorker = (
  imports: string,
  options: string,
): [string, string] => [
  'text/javascript',
  `import { createRegistry } from './portolan/index.js'
  ${imports}
  onmessage = (e) => e.waitUntil(${
    visit(options)
  }.then((r) => e.source.postMessage(r), (f) => e.source.postMessage({ code: f.code, hint: f.hint ?? String(f) })))`,
]

test('in a service worker, which has no import()', async (t) => {
  const page = await open(t, {
    '/': html(''),
    '/sw.js': serviceWorker("import { Host } from './portolan/service.js'", '{ host: Host }'),
  })
  whole(await inServiceWorker(page, '/sw.js') as Report, 'main')
  assert.deepEqual(page.faults, [])
})

test('a service worker that has not been given the host learns how', async (t) => {
  const page = await open(t, { '/': html(''), '/sw.js': serviceWorker('', '{}') })
  const { code, hint } = await inServiceWorker(page, '/sw.js') as { code: string; hint: string }
  assert.equal(code, 'load_failed')
  assert.match(hint, /Host from 'portolan\/worker'.*options\.host/)
})

test('in a frame that may store nothing', async (t) => {
  const frame = html(`<script type="module">
    import { createRegistry } from './portolan/index.js'
    let storage
    try { storage = String(localStorage) } catch (e) { storage = e.name }
    const report = await ${visit('{}')}
    const refused = await createRegistry({ rememberSecrets: true }).catch((e) => e.code + ': ' + e.hint)
    parent.postMessage({ storage, report, refused }, '*')
  </script>`)
  const page = await open(t, { '/': html(''), '/frame.html': frame })
  const { storage, report, refused } = await page.evaluate(`new Promise((resolve) => {
    onmessage = (e) => resolve(e.data)
    const f = document.createElement('iframe')
    f.sandbox = 'allow-scripts'
    f.src = '/frame.html'
    document.body.append(f)
  })`) as { storage: string; report: Report; refused: string }
  assert.equal(storage, 'SecurityError')
  // The frame and its worker are of different opaque origins: no module passes between them.
  whole(report, 'main')
  assert.match(refused, /^invalid_option: .*may store data/)
  assert.deepEqual(page.faults, [])
})
