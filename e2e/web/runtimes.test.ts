import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { bareServer } from './servers/bareserver.ts'
import { soakEngines } from '../rig/engines.ts'
import {
  launchChromium,
  openPage,
  root,
  serveFolder,
  type Engine,
  type EnginePage,
  type Listening,
} from '../rig/harness.ts'
import { pacedServer, transports } from './servers/pacedserver.ts'
import { peak, runtimes, type Runtime } from '../rig/runtimes.ts'

// The proxy wherever it runs, from each browser. proxy-worker/blackbox asks it the
// same over HTTP, and much more.

const events = 10
const bytes = 50_000_000

let site: Listening
let paced: Awaited<ReturnType<typeof pacedServer>>
let bare: Awaited<ReturnType<typeof bareServer>>
const closers: (() => Promise<void>)[] = []
const pages: Record<string, EnginePage> = {}
const running: Record<string, Runtime> = {}
let last = 0

const browsers: Record<string, () => Promise<Engine>> = {
  Chromium: async () => {
    const browser = await launchChromium()
    return {
      close: () => browser.close(),
      open: async (url) => {
        const page = await openPage(browser, url)
        return { evaluate: (text) => page.evaluate(text), inside: (text) => page.frames().at(-1)!.evaluate(text) }
      },
    }
  },
  ...soakEngines,
}

before(async () => {
  site = await serveFolder(`${root}dist/demo`)
  paced = await pacedServer(events)
  bare = await bareServer()
  closers.push(site.close, paced.close, bare.close)
  for (const [name, start] of Object.entries(runtimes)) {
    running[name] = await start(site.url)
    closers.push(running[name].stop)
  }
  for (const [name, launch] of Object.entries(browsers)) {
    const browser = await launch()
    closers.push(browser.close)
    pages[name] = await browser.open(site.url)
  }
})

after(async () => {
  for (const close of closers.reverse()) await close()
})

const json = JSON.stringify
const through = (proxy: Runtime, url: string) => `${proxy.url}?url=${encodeURIComponent(url)}`

/** Talks MCP with each transport of a server. */
async function sessions(page: EnginePage, proxy: Runtime, say: (text: string) => void): Promise<void> {
  paced.late.length = 0
  paced.ended.length = 0
  const seen = await page.evaluate<Record<string, { transport: string; text: string; progress: number[] }>>(
    `(async () => {
    const { createRegistry } = await import('/portolan/index.js')
    const registry = await createRegistry({ storage: 'memory', proxy: ${json(`${proxy.url}?url={href}`)} })
    const seen = {}
    try {
      for (const name of ${json(transports)}) {
        await registry.addServer(name, { url: ${
      json(paced.url)
    } + '/' + name, proxy: true, transport: name === 'legacy' ? 'sse' : 'streamable-http' })
      }
      const { servers } = await registry.discover()
      for (const name of ${json(transports)}) {
        const progress = []
        const { text } = await registry.call(name + '__say', { text: 'héllo, 日本 ' + name }, { onProgress: (p) => {
          progress.push(p.progress)
          fetch(${json(paced.url)} + '/seen?at=' + Date.now())
        } })
        seen[name] = { transport: servers[name].transport, text, progress }
      }
    } finally {
      await registry.close()
    }
    return seen
  })()`,
  )
  const steps = Array.from({ length: events }, (_, i) => i + 1)
  assert.deepEqual(seen, {
    json: { transport: 'streamable-http', text: 'héllo, 日本 json', progress: [] },
    events: { transport: 'streamable-http', text: 'héllo, 日本 events', progress: steps },
    legacy: { transport: 'sse', text: 'héllo, 日本 legacy', progress: steps },
  })
  assert.equal(new Set(paced.ended).size, 2, 'both streamable sessions were deleted')
  say(`${paced.late.length} events, in the page after at most ${Math.max(...paced.late)} ms`)
}

/** Opens an event stream on which nothing comes. */
async function idle(page: EnginePage, proxy: Runtime): Promise<void> {
  const status = await page.evaluate<number | string>(`(async () => {
    const gone = new AbortController()
    const late = new Promise((resolve) => setTimeout(resolve, 5000, 'nothing'))
    const response = fetch(${
    json(through(proxy, `${bare.url}/idle`))
  }, { headers: { accept: 'text/event-stream' }, signal: gone.signal }).then((r) => r.status)
    const first = await Promise.race([response, late])
    gone.abort()
    await response.catch(() => {})
    return first
  })()`)
  assert.equal(status, 200)
}

/**
 * Adds more servers with an idle stream behind one proxy than a browser has
 * connections to it: the registry opens two, and each server still answers.
 */
async function manyServers(page: EnginePage, proxy: Runtime): Promise<void> {
  const names = Array.from({ length: 8 }, (_, i) => `s${i}`)
  paced.watched.length = 0
  await page.evaluate(`(async () => {
    const { createRegistry } = await import('/portolan/index.js')
    window.registry = await createRegistry({ storage: 'memory', proxy: ${json(`${proxy.url}?url={href}`)},
      servers: Object.fromEntries(${json(names)}.map((name) => [name, { url: ${
    json(`${paced.url}/json`)
  }, proxy: true }])) })
    await registry.discover()
  })()`)
  for (let i = 0; paced.watched.length < 2; i++) {
    assert.ok(i < 100, 'no streams were opened')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const calls = `Promise.all(${json(names)}.map((name) => registry.dispatch(name + '__say', { text: name })))`
  assert.deepEqual(await page.evaluate(`${calls}.finally(() => registry.close())`), names)
  assert.equal(paced.watched.length, 2)
}

const message =
  `method: 'POST', headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }`

/** Sends much both ways. A page knows the length of what it sends. */
async function manyBytes(page: EnginePage, proxy: Runtime, say: (text: string) => void): Promise<void> {
  const exchange = (path: string, body: string) =>
    page.evaluate<number>(`fetch(${json(through(proxy, bare.url + path))}, { ${message}, body: ${body} })
    .then(async (r) => { let n = 0; for (const reader = r.body.getReader(); ;) { const { done, value } = await reader.read(); if (done) return ${
      path === '/bytes' ? 'r.status' : 'n'
    }; n += value.length } })`)
  for (
    const [name, path, body, want] of [
      ['up', '/bytes', `new Blob([new Uint8Array(${bytes})])`, 200],
      ['down', `/bytes?down=${bytes}`, `'{}'`, bytes],
      ['down, chunked', `/bytes?down=${bytes}&chunked`, `'{}'`, bytes],
    ] as const
  ) {
    await peak(proxy.pid)
    const from = await peak(proxy.pid)
    assert.equal(await exchange(path, body), want, name)
    say(`${name}: the proxy grew by ${((await peak(proxy.pid)) - from).toFixed(1)} MB`)
  }
}

/** Leaves before the answer, and in the middle of one. */
async function abort(page: EnginePage, proxy: Runtime, say: (text: string) => void): Promise<void> {
  for (
    const [stage, path, init] of [
      ['before the answer', '/silent', `${message}, body: '{}'`],
      ['an idle answer', '/idle', `${message}, body: '{}'`],
      ['an idle stream', '/idle', `headers: { accept: 'text/event-stream' }`],
    ] as const
  ) {
    const url = `${path}?${++last}`
    await page.evaluate(`(() => {
      window.gone = new AbortController()
      window.answer = fetch(${json(through(proxy, bare.url + url))}, { ${init}, signal: gone.signal })
      answer.catch(() => {})
    })()`)
    const response = await bare.arrived(url)
    const closed = new Promise<number>((resolve) => response.once('close', () => resolve(Date.now())))
    const within = (ms: number) => Promise.race([closed, new Promise<undefined>((resolve) => setTimeout(resolve, ms))])
    if (path === '/idle') await page.evaluate('answer.then(() => 0)')
    const left = await page.evaluate<number>('(gone.abort(), Date.now())')
    // Chromium may keep the connection of a cancelled response for 5 s, with no proxy between, too.
    let at = await within(proxy.notices === 'at once' ? 8000 : 1000)
    let how = 'at once'
    if (at === undefined && path === '/idle') {
      how = 'with its next events'
      const writing = setInterval(() => response.write('data: 1\n\n'), 20)
      at = await within(5000)
      clearInterval(writing)
    }
    response.destroy()
    say(`${stage}: the server is ${at === undefined ? 'not left' : `left ${how}, after ${at - left} ms`}`)
    if (proxy.notices === 'at once') assert.equal(how, 'at once', stage)
    if (path === '/idle' || proxy.notices === 'at once') assert.notEqual(at, undefined, stage)
  }
}

for (const runtime of Object.keys(runtimes)) {
  for (const browser of Object.keys(browsers)) {
    test(`${browser} through ${runtime}`, { timeout: 120_000 }, async (t) => {
      for (const [name, part] of Object.entries({ sessions, idle, manyServers, manyBytes, abort })) {
        await t.test(
          name,
          () => part(pages[browser]!, running[runtime]!, (text) => console.log(`# ${browser}, ${runtime}: ${text}`)),
        )
      }
    })
  }
}
