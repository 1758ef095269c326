import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { launchChromium, listen, root, sendFile, type Listening } from '../rig/harness.ts'
import { signInServer, type SignInServer } from './servers/signinserver.ts'

declare global {
  interface Window {
    registry: Registry
    signing: Promise<string>
    look?: () => void
    isReady?: () => void
    state(): { signIn?: string; signInHost?: string; errorCode?: string; lastError?: string; status: string }
  }
}

let browser: Browser
let site: Listening
let server: SignInServer
let context: BrowserContext
/** A path that is not served, and the policy that files of the package are served with. */
let missing = '', policy = ''

before(async () => {
  site = await listen(async (req, res) => {
    const at = new URL(req.url!, 'http://x')
    if (at.pathname === '/') {
      res.writeHead(200, { 'content-type': 'text/html' })
      return void res.end(`<!doctype html><title>App</title><button>Sign in</button><script type="module">
        import { createRegistry } from '/portolan/index.js'
        const options = JSON.parse(decodeURIComponent(location.search.slice(1)))
        window.registry = await createRegistry(options)
        window.state = () => window.registry.getHealth().s ?? {}
        document.querySelector('button').onclick = () => {
          window.signing = window.registry.signIn('s').then(() => 'done', (e) => e.code + ': ' + e.message)
        }
        document.title = 'ready'
      </script>`)
    }
    if (missing === at.pathname) return void res.writeHead(404).end()
    const headers: Record<string, string> = policy ? { 'content-security-policy': policy } : {}
    await sendFile(`${root}dist/npm/`, at.pathname.replace('/portolan', ''), res, headers)
  })
  browser = await launchChromium()
})
after(async () => {
  await browser?.close()
  await site?.close()
})
beforeEach(async () => {
  missing = policy = ''
  server = await signInServer()
  context = await browser.newContext()
})
afterEach(async () => {
  await context?.close()
  await server?.close()
})

async function open(options: object = {}): Promise<Page> {
  const page = await context.newPage()
  await page.goto(
    `${site.url}/?${encodeURIComponent(JSON.stringify({ servers: { s: { url: server.url } }, ...options }))}`,
  )
  await ready(page)
  return page
}

const ready = (page: Page) => page.waitForFunction(() => document.title === 'ready', undefined, { timeout: 30_000 })
const discover = (page: Page) =>
  page.evaluate(async () => {
    await window.registry.discover()
    return window.state()
  })
const echo = (page: Page) =>
  page.evaluate(() => window.registry.dispatch('s__echo', { a: 1 }).catch((e) => e.code as string))

/** Clicks, and allows what the popup asks. */
async function signIn(page: Page): Promise<Page> {
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
  await popup.waitForSelector('#allow')
  assert.equal(new URL(popup.url()).origin, server.issuer)
  assert.equal(
    await popup.evaluate(() => window.opener),
    null,
    'the authorization page reaches the page that opened it',
  )
  await Promise.all([popup.waitForEvent('close'), popup.click('#allow')])
  assert.equal(await page.evaluate(() => window.signing), 'done')
  return popup
}

/** All that a page of the site can read without the module. */
async function traces(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const rows: unknown[] = []
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise<IDBDatabase>((resolve) => {
        const r = indexedDB.open(name!)
        r.onsuccess = () => resolve(r.result)
      })
      for (const store of db.objectStoreNames) {
        await new Promise<void>((resolve) => {
          const all = db.transaction(store).objectStore(store).openCursor()
          all.onsuccess = () => {
            const c = all.result
            if (!c) return resolve()
            const box = c.value as { data?: ArrayBuffer }
            rows.push([c.key, box.data ? new TextDecoder('latin1').decode(box.data) : String(c.value)])
            c.continue()
          }
        })
      }
      db.close()
    }
    return JSON.stringify([
      rows,
      { ...localStorage },
      { ...sessionStorage },
      document.documentElement.outerHTML,
      window.registry.getSnapshot(),
    ])
  })
}

test('a popup, once, without an opener; then calls work', async () => {
  const page = await open()
  const before = await discover(page)
  assert.deepEqual([before.signIn, before.signInHost, before.errorCode], [
    'needed',
    new URL(server.issuer).host,
    'sign_in_needed',
  ])
  assert.equal(server.counts.authorize, undefined)
  await signIn(page)
  const now = await page.evaluate(() => window.state())
  assert.deepEqual([now.signIn, now.status], ['signed-in', 'connected'])
  assert.equal(await echo(page), '{"a":1}')
  server.expire()
  assert.equal(await echo(page), '{"a":1}')
  assert.deepEqual([server.counts.authorize, server.counts.register, server.counts.refresh_token], [1, 1, 1])
  const seen = await traces(page)
  for (const token of [...server.given, 'secret-code']) assert.ok(!seen.includes(token), `${token} can be read`)
})

test('a window that is closed, or asked for again, ends the sign-in; the next one works', async () => {
  const page = await open()
  await discover(page)
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
  await popup.waitForSelector('#allow')
  const first = page.evaluate(() => window.signing)
  await signIn(page)
  assert.match(await first, /sign_in_failed: .*another sign-in was begun/)
  assert.equal(await echo(page), '{"a":1}')
})

test('a window that looks closed before it is ready is waited for', async () => {
  const page = await open()
  await discover(page)
  await page.evaluate(() => {
    // As for a page whose opener policy differs.
    const { open, setInterval } = window
    window.open = (...of) => {
      const opened = open(...of)!
      return { closed: true, close: () => opened.close() } as Window
    }
    window.setInterval = ((fn: () => void, ms: number) => {
      if (ms !== 500) return setInterval(fn, ms)
      window.look = fn
    }) as typeof setInterval
    const { set } = Object.getOwnPropertyDescriptor(BroadcastChannel.prototype, 'onmessage')!
    Object.defineProperty(BroadcastChannel.prototype, 'onmessage', {
      set(hear: (e: MessageEvent) => void) {
        set!.call(this, (e: MessageEvent) => {
          if (e.data?.ready) window.isReady = () => hear(e)
          else hear(e)
        })
      },
    })
  })
  const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('button')])
  await page.waitForFunction(() => window.look && window.isReady)
  await page.evaluate(() => {
    window.look!()
    window.isReady!()
  })
  await popup.waitForSelector('#allow')
  await popup.click('#allow')
  assert.equal(await page.evaluate(() => window.signing), 'done')
})

test('a second sign-in at once replaces the window of the first', async () => {
  const page = await open()
  await discover(page)
  const closed = new Set<Page>()
  const opened: Page[] = []
  const change = new EventTarget()
  page.on('popup', (popup) => {
    opened.push(popup)
    change.dispatchEvent(new Event('popup'))
    popup.once('close', () => {
      closed.add(popup)
      change.dispatchEvent(new Event('popup'))
    })
  })
  const both = page.evaluate(() => {
    const button = document.querySelector('button')!
    button.click()
    const first = window.signing
    button.click()
    return Promise.all([first, window.signing])
  })
  while (opened.length < 2 || !closed.size) await once(change, 'popup')
  const [popup] = opened.filter((p) => !closed.has(p))
  await popup!.waitForSelector('#allow')
  await popup!.click('#allow')
  assert.deepEqual(await both, ['done', 'done'])
  assert.deepEqual([opened.length, server.counts.authorize], [2, 1])
})

test('W16: where popups are blocked the page goes itself, and the next one completes', async () => {
  const page = await open()
  await discover(page)
  await page.evaluate(() => {
    window.open = () => null
  })
  await page.click('button')
  await page.waitForSelector('#allow')
  assert.equal(new URL(page.url()).origin, server.issuer)
  await page.click('#allow')
  await page.waitForURL(`${site.url}/?**`)
  await ready(page)
  await page.waitForFunction(
    () => window.state().signIn === 'signed-in' && window.state().status === 'connected',
    undefined,
    { timeout: 20_000 },
  )
  assert.equal(await echo(page), '{"a":1}')
  assert.equal(server.counts.authorize, 1)
  const seen = await traces(page)
  for (const token of [...server.given, 'secret-code']) assert.ok(!seen.includes(token), `${token} can be read`)
})

test('W16: who turns back from a redirect can sign in again', async () => {
  const page = await open()
  await discover(page)
  const home = page.url()
  await page.evaluate(() => {
    window.open = () => null
  })
  await page.click('button')
  await page.waitForSelector('#allow')
  await page.goto(home)
  await ready(page)
  assert.equal((await discover(page)).signIn, 'needed')
  await signIn(page)
  assert.equal(await echo(page), '{"a":1}')
})

test('W16: a sign-in that the authorization server refuses after a redirect leaves its words in the health', async () => {
  const page = await open()
  await discover(page)
  await page.evaluate(() => {
    window.open = () => null
  })
  await page.click('button')
  await page.waitForSelector('#allow')
  const back = new URL((await page.getAttribute('#allow', 'href'))!)
  back.searchParams.delete('code')
  back.searchParams.set('error', 'invalid_scope')
  await page.goto(back.href)
  await page.waitForURL(`${site.url}/?**`)
  await ready(page)
  await page.waitForFunction(() => /invalid_scope/.test(window.state().lastError ?? ''))
  const { errorCode, lastError, signIn: state } = await discover(page)
  assert.deepEqual([errorCode, state], ['sign_in_failed', 'needed'])
  assert.match(lastError ?? '', /invalid_scope/)
  await signIn(page)
  assert.equal(await echo(page), '{"a":1}')
})

test('W16: two tabs that go to sign in at once both complete it', async () => {
  const tabs = [await open(), await open()]
  for (const page of tabs) {
    await discover(page)
    await page.evaluate(() => {
      window.open = () => null
    })
    await page.click('button')
    await page.waitForSelector('#allow')
  }
  for (const page of tabs) {
    await page.click('#allow')
    await page.waitForURL(`${site.url}/?**`)
    await ready(page)
    await page.waitForFunction(() => window.state().status === 'connected', undefined, { timeout: 20_000 })
    assert.equal(await echo(page), '{"a":1}')
  }
})

test('tabs that remember share a sign-in, and refresh once', async () => {
  const one = await open({ rememberSecrets: true })
  await discover(one)
  await signIn(one)
  const two = await open({ rememberSecrets: true })
  assert.equal((await discover(two)).signIn, 'signed-in')
  assert.equal(await echo(two), '{"a":1}')
  for (let round = 1; round <= 3; round++) {
    server.expire()
    const answers = await Promise.all([one, two, one, two, one, two].map(echo))
    assert.deepEqual(answers, Array(6).fill('{"a":1}'))
    assert.equal(server.counts.refresh_token, round)
  }
  assert.equal(server.counts.authorize, 1)
  const seen = await traces(one)
  for (const token of server.given) assert.ok(!seen.includes(token), `${token} can be read`)
  await one.reload()
  await ready(one)
  assert.equal((await discover(one)).signIn, 'signed-in')
})

test('a module that ends during a refresh leaves no lock that the next one waits for', async () => {
  await context.addInitScript(() => {
    const { instantiate } = WebAssembly
    WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: never) => {
      Object.assign(window, { exits: () => (imports as { gojs: Exits }).gojs['runtime.wasmExit'](0) })
      return instantiate(module, imports)
    }) as never
    interface Exits {
      'runtime.wasmExit'(sp: number): void
    }
  })
  const page = await open({ rememberSecrets: true, mode: 'main' })
  await discover(page)
  await signIn(page)
  server.expire()
  let first: () => void
  const asked = new Promise<void>((resolve) => first = resolve)
  let refreshes = 0
  await context.route(/token/, (route) => ++refreshes > 1 ? route.continue() : first()) // the first has no response
  const lost = echo(page)
  await asked
  await page.evaluate('exits()')
  assert.equal(await lost, 'runtime_crashed')
  assert.equal(await echo(page), '{"a":1}')
})

test('signing out revokes, forgets, and is heard of by the other tab', async () => {
  const one = await open({ rememberSecrets: true })
  await discover(one)
  await signIn(one)
  const two = await open({ rememberSecrets: true })
  await discover(two)
  await one.evaluate(() => window.registry.signOut('s'))
  assert.notEqual(await one.evaluate(() => window.state().signIn), 'signed-in')
  assert.equal(server.counts.revoke, 2)
  for (const page of [one, two]) assert.equal(await echo(page), 'sign_in_needed')
  assert.equal(await two.evaluate(() => window.state().signIn), 'needed')
  await signIn(two)
  assert.equal(await echo(one), '{"a":1}')
})

test('a list after a sign-in is kept for who is remembered, until signing out', async () => {
  const stale = (page: Page) => page.evaluate(() => window.registry.getSnapshot().tools.filter((t) => t.stale).length)
  // A visit to a busy computer does not wait for its database. The definitions' own tests look at what it offers.
  const isKept = async (page: Page) =>
    (JSON.parse(await traces(page)) as [[key: string][]])[0].some(([key]) => key.startsWith('list\n'))
  const leave = async (page: Page) => {
    await page.evaluate(() => window.registry.close())
    await page.close()
  }
  for (const rememberSecrets of [false, true]) {
    const one = await open({ rememberSecrets })
    await discover(one)
    await signIn(one)
    assert.equal(await echo(one), '{"a":1}')
    await leave(one)
    const two = await open({ rememberSecrets })
    assert.equal(await isKept(two), rememberSecrets)
    if (rememberSecrets) await two.evaluate(() => window.registry.signOut('s'))
    assert.deepEqual([await isKept(two), await stale(two)], [false, 0])
    await leave(two)
    const three = await open({ rememberSecrets })
    assert.deepEqual([await isKept(three), await stale(three)], [false, 0])
  }
})

test('a list after a sign-in is kept by no other tab of a shared module once one signs out', async () => {
  const one = await open({ mode: 'shared' }), two = await open({ mode: 'shared' })
  await discover(one)
  await signIn(one)
  assert.equal(await echo(two), '{"a":1}')
  await one.evaluate(() => window.registry.signOut('s'))
  await two.waitForFunction(() => !window.state().signIn)
  await two.evaluate(() => window.registry.close()) // its lists are stored then
  assert.ok(!(await traces(two)).includes('list\\n'))
})

test('one shared module asks the tab that was clicked', async () => {
  const one = await open({ mode: 'shared' })
  const two = await open({ mode: 'shared' })
  await discover(one)
  await signIn(two)
  assert.equal(await echo(one), '{"a":1}')
  assert.equal(server.counts.authorize, 1)
})

test('the callback page works as one file, and where its host refuses inline scripts', async () => {
  const page = await open()
  await discover(page)
  missing = '/portolan/callback.js'
  await signIn(page)
  await page.evaluate(() => window.registry.signOut('s'))
  ;[missing, policy] = ['', "script-src 'self'"]
  await signIn(page)
  assert.equal(await echo(page), '{"a":1}')
})

test('the callback page shows nothing of its address', async () => {
  const page = await context.newPage()
  await page.goto(
    `${site.url}/portolan/callback.html?state=<img src=x>&error=%3Cscript%3Ealert(1)%3C/script%3E&code=hush`,
  )
  await page.waitForFunction(() => /gone/.test(document.body.textContent ?? ''))
  assert.equal(await page.evaluate(() => document.querySelectorAll('img').length), 0)
  assert.equal(await page.evaluate(() => document.scripts.length), 2, 'its own')
  assert.ok(!(await page.content()).includes('hush') && !page.url().includes('hush'))
})
