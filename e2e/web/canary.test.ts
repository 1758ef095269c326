import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import type { Cassette, Registry } from '../../wasm/js/shared/types.ts'
import { chromiumFlags, quickChromium } from '../rig/flags.ts'
import { listen, root, serveFolder, startProxy, type Listening } from '../rig/harness.ts'
import { oauthServer } from './servers/oauthserver.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Secrets go to the server that they were given for and nowhere else, whatever
// servers do: a whole session, and then every place where one could lie.

const secret = (of: string) => `canary-${of}-${Math.random().toString(36).slice(2, 12)}`
const secrets = {
  kept: secret('kept'),
  redirects: secret('redirects'),
  echoes: secret('echoes'),
  endpoint: secret('endpoint'),
  blocked: secret('blocked'),
  other: secret('other'),
}

/** The forms of a secret once something has encoded it. */
const guisesOf = (all: Record<string, string>) =>
  Object.entries(all).flatMap(([of, s]) => {
    const bytes = Buffer.from(s)
    // Base64 of the middle, at each of the three places where a group may begin.
    const inBase64 = [0, 1, 2].map((at) =>
      bytes.subarray(at, at + 3 * Math.floor((bytes.length - at) / 3)).toString('base64')
    )
    // Its beginning tells of one that was cut off.
    return [
      s.startsWith('canary-') ? s.slice(0, `canary-${of}`.length) : s,
      [...s].reverse().join(''),
      bytes.toString('hex'),
      ...inBase64,
    ].map((guise) => [of, guise] as const)
  })
let guises = guisesOf(secrets)
const found = (text: string) => [...new Set(guises.filter(([, guise]) => text.includes(guise)).map(([of]) => of))]

interface Heard extends Listening {
  requests: string[]
}

/** A server that notes all it hears, and answers as it likes. */
async function hearing(answer: (req: IncomingMessage, res: ServerResponse, body: string) => void): Promise<Heard> {
  const requests: string[] = []
  const listening = await listen(async (req, res) => {
    for (
      const [name, value] of Object.entries({ origin: '*', headers: '*, authorization', methods: 'GET, POST, DELETE' })
    ) res.setHeader(`access-control-allow-${name}`, value)
    if (req.method === 'OPTIONS') return void res.writeHead(204).end()
    let body = ''
    for await (const chunk of req) body += chunk
    requests.push(JSON.stringify([req.method, req.url, req.rawHeaders, body]))
    answer(req, res, body)
  })
  return { ...listening, requests }
}

let profile: string, context: BrowserContext, site: Listening, proxy: Awaited<ReturnType<typeof startProxy>>
let kept: Awaited<ReturnType<typeof sdkServer>>, blocked: Awaited<ReturnType<typeof sdkServer>>
let notes: Awaited<ReturnType<typeof oauthServer>>
let thief: Heard, redirects: Heard, echoes: Heard, endpoint: Heard
/** The texts of the page, its workers and its consoles. */
const said: string[] = []
/** Requests to others than the six servers. */
const sent: string[] = []

before(async () => {
  site = await serveFolder(`${root}dist/demo`)
  proxy = await startProxy(site.url)
  kept = await sdkServer()
  blocked = await sdkServer([], { cors: false })
  notes = await oauthServer()
  thief = await hearing((_, res) => res.writeHead(404).end())
  redirects = await hearing((_, res) => void res.writeHead(307, { location: `${thief.url}/mcp` }).end())
  // The received text stands in its errors again and again. Wherever an error is cut off, some text is cut in the
  // middle of it.
  echoes = await hearing((req, res, body) => {
    const told = `${'.'.repeat(echoes.requests.length * 7 % 32)}${`${req.headers.authorization} `.repeat(400)}`
    const id = body ? (JSON.parse(body) as { id?: number }).id : undefined
    if (body.includes('tools/list'))
      return void res.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: told, data: { told } } }),
      )
    res.writeHead(403, {
      'content-type': 'text/plain',
      'www-authenticate': `Bearer error="invalid_token", error_description="${told.slice(0, 300)}"`,
    }).end(told)
  })
  endpoint = await hearing((req, res) => {
    if (req.method !== 'GET') return void res.writeHead(405).end()
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(
      `event: endpoint\ndata: ${thief.url}/messages\n\n`,
    )
  })
  profile = await mkdtemp(join(tmpdir(), 'portolan-canary-'))
  context = await chromium.launchPersistentContext(profile, {
    executablePath: quickChromium,
    args: chromiumFlags,
  })
  context.on('console', (m) => said.push(m.text()))
  context.on('weberror', (e) => said.push(String(e.error().stack)))
  context.on('request', (r) => {
    if (![kept, redirects, echoes, endpoint, blocked, notes].some((s) => r.url().startsWith(new URL(s.url).origin)))
      sent.push(JSON.stringify([r.url(), r.headers(), r.postData()]))
  })
})
after(async () => {
  await context?.close()
  await Promise.all([site, kept, blocked, notes, thief, redirects, echoes, endpoint].map((s) => s?.close()))
  await proxy?.stop()
  if (profile) await rm(profile, { recursive: true, force: true })
})

/** Everything of the page's origin and document that scripts can read. */
const dump = (page: Page) =>
  page.evaluate(async () => {
    const out: string[] = [
      JSON.stringify({ ...localStorage }),
      JSON.stringify({ ...sessionStorage }),
      document.cookie,
      location.href,
      document.title,
      window.name,
      JSON.stringify(history.state),
    ]
    const read = (root: ParentNode) => {
      for (const e of root.querySelectorAll('*')) {
        for (const { name, value } of e.attributes) out.push(`${name}=${value}`)
        if ('value' in e) out.push(String(e.value))
        for (const node of e.childNodes) if (node.nodeType === 3) out.push(node.nodeValue!)
        if (e.shadowRoot) read(e.shadowRoot)
      }
    }
    read(document)
    const spell = (v: unknown): string => {
      if (v instanceof CryptoKey) return `key extractable=${v.extractable}`
      if (v instanceof ArrayBuffer) return new TextDecoder('latin1').decode(v)
      if (ArrayBuffer.isView(v)) return new TextDecoder('latin1').decode(v)
      if (typeof v === 'object' && v !== null) return Object.entries(v).map(([k, x]) => `${k}:${spell(x)}`).join()
      return String(v)
    }
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise<IDBDatabase>((resolve) => {
        const o = indexedDB.open(name!)
        o.onsuccess = () => resolve(o.result)
      })
      for (const store of db.objectStoreNames) {
        const all = (what: 'getAll' | 'getAllKeys') =>
          new Promise<unknown[]>((resolve) => {
            const g = db.transaction(store).objectStore(store)[what]()
            g.onsuccess = () => resolve(g.result)
          })
        out.push(`${name}.${store}`, ...(await all('getAllKeys')).map(spell), ...(await all('getAll')).map(spell))
      }
      db.close()
    }
    for (const name of await caches.keys())
      for (const r of await (await caches.open(name)).keys())
        out.push(r.url, await (await (await caches.open(name)).match(r))!.text())
    return out.join('\n')
  })

/** All that a registry tells about itself. */
interface Told {
  snapshot: string
  events: string
  errors: string
  cassette: string
  shown: string
}

const visit = async (page: Page, servers: Record<string, object>, remember: boolean): Promise<Told> => {
  await page.goto(`${site.url}/portolan/package.json`) // any document of the origin, of which nothing else is used
  await page.setContent('<!doctype html><title>canary</title><main></main>')
  return page.evaluate(async ({ servers, remember, template, base }) => {
    const { createRegistry } = await import(`${base}/portolan/index.js`)
    await import(`${base}/portolan/panel.js`)
    const { record } = await import(`${base}/portolan/cassette.js`)
    const tape: Cassette & { text(): string } = record()
    const events: unknown[] = [], errors: unknown[] = [], snapshots: string[] = []
    const registry: Registry = await createRegistry({
      rememberSecrets: remember,
      proxy: template,
      timeoutMs: 2000,
      cassette: tape,
    })
    registry.observe((a) => events.push(a))
    registry.subscribe(() =>
      snapshots.push(JSON.stringify([registry.getSnapshot(), registry.getHealth(), registry.getTools()]))
    )
    const panel = document.createElement('portolan-panel')
    panel.registry = registry
    document.querySelector('main')!.append(panel)
    const failing = async (fn: () => Promise<unknown>) => {
      try {
        return await fn()
      } catch (e) {
        const { name, message, stack, code, hint, cause } = e as Error & { code: string; hint: string }
        errors.push({ name, message, stack, code, hint, cause: String(cause), all: JSON.stringify(e) })
        return undefined
      }
    }
    for (const [name, config] of Object.entries(servers)) await failing(() => registry.addServer(name, config as never))
    await registry.discover()
    if ('notes' in servers) {
      await registry.signIn('notes')
      if (await registry.dispatch('notes__steps', { steps: 1, everyMs: 1 }) !== 'done')
        throw new Error('signing in led to nothing')
    }
    for (const name of Object.keys(registry.getSnapshot().servers)) {
      await failing(() => registry.updateServer(name, { headers: { Authorization: 'line\nbreak' } }))
      await failing(() => registry.updateServer(name, { timeoutMs: 1500 }))
      await failing(() => registry.retry(name))
      await failing(() => registry.addServer(name, servers[name] as never ?? { url: 'x' }))
    }
    await failing(() => registry.dispatch('kept__steps', { steps: 1, everyMs: 1 }))
    await failing(() => registry.dispatch('kept__none', {}))
    await new Promise((resolve) => setTimeout(resolve, 300))
    const shown: string[] = []
    const read = (root: ParentNode) => {
      for (const e of root.querySelectorAll('*')) {
        if ('value' in e) shown.push(String(e.value))
        if (e.shadowRoot) read(e.shadowRoot)
      }
      shown.push((root as Element).textContent ?? '')
    }
    for (const view of ['servers', 'tools', 'activity'] as const) {
      panel.view = view
      await new Promise((resolve) => setTimeout(resolve, 200))
      read(panel.shadowRoot!)
    }
    await registry.close()
    return {
      snapshot: snapshots.join('\n'),
      events: JSON.stringify(events),
      errors: JSON.stringify(errors),
      cassette: tape.text(),
      shown: shown.join('\n'),
    }
  }, { servers, remember, template: proxy.template, base: site.url })
}

test('a secret is in none of the places where one could lie, after a whole session', async () => {
  const bearer = (s: string) => ({ Authorization: `Bearer ${s}` })
  const page = await context.newPage()
  const first = await visit(page, {
    kept: { url: kept.url, headers: bearer(secrets.kept) },
    redirects: { url: `${redirects.url}/mcp`, headers: bearer(secrets.redirects) },
    echoes: { url: `${echoes.url}/mcp`, headers: bearer(secrets.echoes) },
    endpoint: { url: `${endpoint.url}/sse`, transport: 'sse', headers: bearer(secrets.endpoint) },
    blocked: { url: blocked.url, proxy: 'auto', headers: bearer(secrets.blocked) },
    notes: { url: notes.url },
  }, true)
  const second = await visit(page, { other: { url: kept.url, headers: bearer(secrets.other) } }, true)
  const third = await visit(page, {}, false)

  // It went where it should: else nothing of this proves anything.
  const to = (s: string) => (r: string) => r.includes(s)
  assert.ok(kept.headers.some((h) => h.authorization?.includes(secrets.other)))
  assert.ok(kept.headers.some((h) => h.authorization?.includes(secrets.kept)))
  for (
    const [server, s] of [[redirects, secrets.redirects], [echoes, secrets.echoes], [
      endpoint,
      secrets.endpoint,
    ]] as const
  ) assert.ok(server.requests.some(to(s)))
  assert.match(first.events, /"server":"kept"/)
  assert.match(first.errors, /kept__none/)
  assert.match(first.cassette, /tools/)
  assert.match(first.shown, /endpoint/)
  assert.ok(notes.issued.length >= 2, 'tokens were given')
  guises = guisesOf({ ...secrets, ...Object.fromEntries(notes.issued.map((token, i) => [`token ${i + 1}`, token])) })

  const places: Record<string, string> = {
    'page and storage': await dump(page),
    console: said.join('\n'),
    'other requests': sent.join('\n'),
    'what the thief heard': thief.requests.join('\n'),
    'behind the proxy': JSON.stringify(blocked.headers),
    "the proxy's log": proxy.output(),
  }
  for (const [i, told] of [first, second, third].entries())
    for (const [what, text] of Object.entries(told)) places[`${what} ${i + 1}`] = text
  const own: Record<string, string[]> = {
    kept: JSON.stringify(kept.headers),
    redirects: redirects.requests.join(),
    echoes: echoes.requests.join(),
    endpoint: endpoint.requests.join(),
  } as never
  for (const [of, text] of Object.entries(own)) {
    const foreign = found(String(text)).filter((s) => s !== of && !(of === 'kept' && s === 'other'))
    if (foreign.length) places[`requests to ${of}`] = foreign.map((f) => secrets[f as keyof typeof secrets]).join()
  }
  const leaks = Object.entries(places).flatMap(([place, text]) => found(text).map((of) => `${of} in ${place}`))
  assert.deepEqual(leaks, [])
  assert.match(places['page and storage']!, /key extractable=false/)
  assert.deepEqual(thief.requests, [])
  console.log(
    `# ${new Set(guises.map(([of]) => of)).size} secrets, in ${guises.length} guises, in 0 of ${
      Object.keys(places).length
    } places`,
  )
})

test("the browser's profile does not hold it either", async () => {
  await context.close()
  let files = 0
  const leaks: string[] = []
  const walk = async (dir: string): Promise<void> => {
    for (const entry of await readdir(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name)
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) {
        files++
        const bytes = await readFile(path)
        for (const text of [bytes.toString('latin1'), bytes.toString('utf16le'), bytes.subarray(1).toString('utf16le')])
          leaks.push(...found(text).map((of) => `${of} in ${path.slice(profile.length)}`))
      }
    }
  }
  await walk(profile)
  assert.ok(files > 20, `${files} files`)
  assert.deepEqual(leaks, [])
})
