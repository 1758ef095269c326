import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { soakEngines } from '../rig/engines.ts'
import { launchChromium, listen, root, type Engine, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { blocksOf, digestOf, textOf } from '../rig/snippets.ts'

// The headers of docs/csp.md, as they stand there, and what happens without a part of them. The soak visits them in
// each browser.

const page = 'docs/csp.md'
const headers = blocksOf(page).filter((b) => b.lang === 'http')
const [least, , shut, , elsewhere] = headers.map((b) => b.text.trim())

let browser: Browser
const others: Record<string, Engine> = {}
let server: Awaited<ReturnType<typeof sdkServer>>
let site: Listening, cdn: Listening
/** The site's policy, and where its page has the package from. */
let policy = '', from = '.'
/** An import map of the page. */
let map = ''

const types: Record<string, string> = { js: 'text/javascript', wasm: 'application/wasm' }

/** Tells what works under the page's policy. */
const script = `
window.seen = { violations: [] }
document.addEventListener('securitypolicyviolation', (e) => { if (!/favicon/.test(e.blockedURI)) seen.violations.push(e.effectiveDirective) }) // Firefox asks for one, or not
window.visit = async (url, mode) => {
  try {
    const { createRegistry } = await import('FROM/npm/index.js')
    const registry = await createRegistry({ mode, storage: 'memory', servers: { demo: { url: 'builtin:demo' }, other: { url } } })
    await registry.discover()
    Object.assign(seen, { mode: registry.mode, demo: await registry.dispatch('demo__add', { a: 40, b: 2 }) })
    const { status, errorCode } = registry.getHealth().other
    seen.other = errorCode ?? status
    await import('FROM/npm/panel.js')
    const panel = document.body.appendChild(document.createElement('portolan-panel'))
    panel.registry = registry
    await panel.updateComplete
    seen.panel = getComputedStyle(panel.shadowRoot.querySelector('.panel')).display
    const opened = new Promise((resolve) => new MutationObserver(() => { if (panel.shadowRoot.querySelector('dialog[open]')) resolve(true) }).observe(panel.shadowRoot, { subtree: true, childList: true, attributes: true }))
    panel.show({ kind: 'tool', name: 'demo__add', tab: 'try' })
    seen.dialog = await opened
    await registry.close()
  } catch (e) {
    seen.error = (e.code ?? e.name) + ': ' + e.message
  }
  return seen
}`

interface Seen {
  mode?: string
  demo?: string
  other?: string
  panel?: string
  dialog?: boolean
  error?: string
  violations: string[]
}

/** Serves the package, under the policy or none. */
const packaged = (policed: boolean) =>
  listen(async (req, res) => {
    const path = new URL(req.url!, 'http://x').pathname
    if (policed) res.setHeader('content-security-policy', policy)
    else res.setHeader('access-control-allow-origin', '*')
    if (path === '/' && policed) {
      return void res.writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<!doctype html><html lang="en"><title>csp</title>${map}<script type="module" nonce="bm9uY2U" src="page.js"></script><body>`,
        )
    }
    if (path === '/page.js' && policed)
      return void res.writeHead(200, { 'content-type': types.js }).end(script.replaceAll('FROM', from))
    const file = path.startsWith('/npm/') && !path.includes('..')
      ? await readFile(`${root}dist${path}`).catch(() => undefined)
      : undefined
    if (!file) return void res.writeHead(404).end()
    res.writeHead(200, { 'content-type': types[path.split('.').at(-1)!] ?? 'text/plain' }).end(file)
  })

before(async () => {
  ;[browser, server, site, cdn] = await Promise.all([
    launchChromium(),
    sdkServer(),
    packaged(true),
    packaged(false),
  ])
  for (const [name, launch] of Object.entries(soakEngines)) others[name] = await launch()
})
after(async () => {
  await Promise.all([
    browser.close(),
    ...Object.values(others).map((engine) => engine.close()),
    server.close(),
    site.close(),
    cdn.close(),
  ])
})

async function chromiumSees(url: string, visit: string): Promise<Seen> {
  const tab = await browser.newPage()
  await tab.goto(url)
  await tab.waitForFunction('window.visit')
  const seen = await tab.evaluate<Seen>(visit)
  await tab.close()
  return seen
}

/** The view of each browser under a header. */
async function under(header: string, { mode = 'auto' } = {}): Promise<Record<string, Seen>> {
  policy = header.replace(/^Content-Security-Policy: /, '').replaceAll(
    'https://mcp.example.com',
    new URL(server.url).origin,
  ).replaceAll('https://cdn.example', cdn.url)
  from = header.includes('https://cdn.example') ? cdn.url : '.'
  const visit = `visit('${server.url}', '${mode}')`
  const seen: Record<string, Seen> = { Chromium: await chromiumSees(site.url, visit) }
  for (const [name, engine] of Object.entries(others)) seen[name] = await (await engine.open(site.url)).evaluate(visit)
  return seen
}

const whole = { demo: '42', other: 'connected', panel: 'grid', dialog: true }

for (const { at, words: [mode], text } of headers) {
  test(`${at}: ${mode}`, async () => {
    for (const [name, { violations, ...seen }] of Object.entries(await under(text.trim()))) {
      assert.deepEqual(seen, { mode, ...whole }, name)
      // The plain attempt, of which the page tells.
      assert.deepEqual(violations, text.includes('require-trusted-types') ? ['require-trusted-types-for'] : [], name)
    }
  })
}

test('mode shared works under the least header', async () => {
  for (const [name, { violations: _, ...seen }] of Object.entries(await under(least!, { mode: 'shared' })))
    assert.deepEqual(seen, { mode: 'shared', ...whole }, name)
})

/** The page's tables of missing parts, and the view then. */
const without: [part: string, header: string, wanted: Partial<Seen> | RegExp][] = [
  ["'wasm-unsafe-eval'", least!.replace(" 'wasm-unsafe-eval'", ''), /^csp: /],
  ["'self'` in `connect-src", least!.replace("connect-src 'self'", 'connect-src'), /^load_failed: /],
  ['https://mcp.example.com', least!.replace(' https://mcp.example.com', ''), {
    mode: 'worker',
    ...whole,
    other: 'network',
  }],
  ["worker-src 'none'", `${least}; worker-src 'none'`, { mode: 'main', ...whole }],
  ['portolan', shut!.replace('portolan lit-html', 'lit-html'), { mode: 'main', ...whole }],
  ['lit-html', shut!.replace('portolan lit-html', 'portolan'), /^TypeError: .*lit-html/],
]

for (const [part, header, wanted] of without) {
  test(`without ${part}`, async () => {
    assert.ok(
      textOf(page).split('\n').some((line) => line.startsWith('|') && line.includes(`\`${part}\``)),
      `${page} says nothing of it`,
    )
    for (const [name, { violations: _, ...rest }] of Object.entries(await under(header))) {
      if (wanted instanceof RegExp) assert.match(rest.error ?? JSON.stringify(rest), wanted, name)
      else assert.deepEqual(rest, wanted, name)
    }
  })
}

test('what the page says in passing', async () => {
  const variants: [string, string][] = [
    [least!.replace("'wasm-unsafe-eval'", "'unsafe-eval'"), 'worker'],
    [shut!.replace('; trusted-types portolan lit-html', ''), 'worker'],
    [elsewhere!.replace('worker-src blob: https://cdn.example', 'worker-src blob:'), 'main'],
    [`${elsewhere}; require-trusted-types-for 'script'`, 'main'],
  ]
  for (const [header, mode] of variants) {
    for (const [name, { violations: _, ...seen }] of Object.entries(await under(header)))
      assert.deepEqual(seen, { mode, ...whole }, `${name}: ${header}`)
  }
})

test('mode shared is a worker of its own under Trusted Types', async () => {
  for (const [name, { violations: _, ...seen }] of Object.entries(await under(shut!, { mode: 'shared' })))
    assert.deepEqual(seen, { mode: 'worker', ...whole }, name)
})

test('a worker obeys the policy that it was sent with', async () => {
  // The package comes from the page's origin, without a policy of its own.
  const bare = await listen(async (req, res) => {
    const { status, headers, body } = await fetch(site.url + req.url)
    const sent = Object.fromEntries(headers)
    if (req.url!.startsWith('/npm/')) delete sent['content-security-policy']
    delete sent['content-length']
    res.writeHead(status, sent).end(new Uint8Array(await new Response(body).arrayBuffer()))
  })
  try {
    policy = least!.replace(/^Content-Security-Policy: /, '').replace(' https://mcp.example.com', '')
    from = '.'
    const visit = `visit('${server.url}', 'auto')`
    assert.equal((await chromiumSees(bare.url, visit)).other, 'connected')
    for (const [name, engine] of Object.entries(others))
      assert.equal((await (await engine.open(bare.url)).evaluate<Seen>(visit)).other, 'connected', name)
  } finally {
    await bare.close()
  }
})

test('an import map pins scripts', async () => {
  const digest = digestOf(await readFile(`${root}dist/npm/index.js`))
  for (const [integrity, wanted] of [[digest, undefined], [digestOf(Buffer.from('other')), /^TypeError: /]] as const) {
    map = `<script type="importmap" nonce="bm9uY2U">{ "integrity": { "./npm/index.js": "${integrity}" } }</script>`
    for (
      const [name, seen] of Object.entries(
        await under(least!.replace("script-src 'self'", "script-src 'self' 'nonce-bm9uY2U'")),
      )
    ) {
      if (wanted) assert.match(seen.error ?? '', wanted, name)
      else assert.equal(seen.error, undefined, name)
    }
  }
  map = ''
})
