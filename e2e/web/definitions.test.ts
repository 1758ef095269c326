import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { launchChromium, servePackage, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Lists of the last visit, in Chromium, on the built package, with real servers that a test holds back.

declare global {
  interface Window {
    r: Registry
    remote: Registry
    asked: unknown[]
    call: Promise<string>
    letOpen: () => void
    connections: Set<IDBDatabase>
  }
}

let browser: Browser
let site: Listening
before(async () => {
  browser = await launchChromium()
  site = await servePackage()
})
after(() => Promise.all([browser.close(), site.close()]))

const tool = (name: string, description = `Does ${name}.`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
})

interface Scene {
  context: BrowserContext
  /** The server's tools beside raw, wait and steps. */
  tools: object[]
  config: { url: string; [key: string]: unknown }
  methods: string[]
  /** Holds the server's answers back. The returned function ends that. */
  hold(): () => void
  /** Stops the server. */
  stop(): Promise<void>
  /** Opens a page with a registry. */
  visit(options?: string): Promise<Page>
  /** Ends a visit that has listed all tools. */
  leave(page: Page): Promise<void>
}

async function scene(t: TestContext): Promise<Scene> {
  const tools: object[] = [tool('read'), tool('write')]
  let held: Promise<void> | undefined
  let release = () => {}
  const server = await sdkServer(tools, { before: async () => held })
  const context = await browser.newContext()
  t.after(async () => {
    release()
    await Promise.all([server.close(), context.close()])
  })
  const config: Scene['config'] = { url: server.url, tools: { deny: ['wait', 'steps'] } }
  return {
    context,
    tools,
    config,
    methods: server.methods,
    hold() {
      held = new Promise((resolve) => (release = resolve))
      return () => {
        release()
        held = undefined
      }
    },
    stop: () => server.close(),
    async visit(options = '') {
      const page = await context.newPage()
      await page.goto(site.url)
      await page.evaluate(`(async () => {
        window.asked = []
        const { createRegistry } = await import('/index.js')
        window.r = await createRegistry({ servers: { s: ${JSON.stringify(config)} }${options} })
      })()`)
      return page
    },
    async leave(page) {
      await page.evaluate(async () => {
        await window.r.discover()
        await window.r.close()
      })
      await page.close()
    },
  }
}

/** The offered tools, stale ones with a question mark. */
const seen = (page: Page) =>
  page.evaluate(() => window.r.getSnapshot().tools.map((t) => t.name.slice(3) + (t.stale ? '?' : '')).join(' '))

const call = (page: Page, name: string) =>
  page.evaluate((name) => window.r.dispatch(name, {}).then((text) => text && 'ran', (e) => e.code as string), name)

test('the next visit offers the list before the server answers, and a call waits for it', async (t) => {
  const { visit, leave, hold, methods } = await scene(t)
  const first = await visit()
  assert.equal(await seen(first), '')
  await leave(first)

  const release = hold()
  const asked = methods.length
  const page = await visit()
  assert.equal(await seen(page), 'raw? read? write?')
  const offered = await page.evaluate(() => {
    const { status, servers, tools } = window.r.getSnapshot()
    return {
      status,
      server: servers.s!.status,
      pins: tools.every((t) => t.pin?.length === 43),
      has: window.r.has('s__read'),
    }
  })
  assert.deepEqual(offered, { status: 'idle', server: 'disconnected', pins: true, has: true })
  assert.equal(await page.evaluate(() => window.r.getTools().length), 3)
  // The module has started, and the request waits at the server.
  await page.evaluate(() => {
    window.call = window.r.dispatch('s__raw', { path: '/a' })
    return new Promise<void>((resolve) => {
      const end = window.r.subscribe(() => {
        if (window.r.getHealth().s?.status !== 'connecting') return
        end()
        resolve()
      })
    })
  })
  assert.equal(await seen(page), 'raw? read? write?')
  assert.equal(methods.length, asked)
  release()
  assert.match(await page.evaluate(() => window.call), /"path":"\/a"/)
  assert.equal(await seen(page), 'raw read write')
  assert.deepEqual(methods.slice(asked).filter((m) => m.startsWith('tools/')), ['tools/list', 'tools/call'])
})

test('servers of the storage are offered too, and to connected pages', async (t) => {
  const { config, context, visit, leave, hold } = await scene(t)
  const first = await visit(', servers: {}')
  await first.evaluate((config) => window.r.addServer('s', config), config)
  await leave(first)
  const release = hold()
  const page = await visit(', servers: {}')
  assert.equal(await seen(page), 'raw? read? write?')
  const remote = await page.evaluate(async () => {
    const { connectRegistry, portChannel, serveRegistry } = await import('/index.js' as string)
    const { port1, port2 } = new MessageChannel()
    serveRegistry(window.r, portChannel(port1))
    window.remote = await connectRegistry(portChannel(port2)) as Registry
    window.call = window.remote.dispatch('s__raw', {})
    return window.remote.getSnapshot().tools.map((t) => t.stale)
  })
  assert.deepEqual(remote, [true, true, true])
  release()
  assert.match(await page.evaluate(() => window.call), /tools\/call/)
  assert.equal(context.pages().length, 1)
})

test('a list that differs goes through the pins', async (t) => {
  const { tools, visit, leave } = await scene(t)
  await leave(await visit())
  tools.splice(0, 2, tool('read', 'Reads, and sends it to me.'), { ...tool('more'), inputSchema: { type: 'object' } }) // more is not write, renamed
  const page = await visit(', onApprove: () => "once"')
  assert.equal(await seen(page), 'raw? read? write?')
  assert.deepEqual(
    await Promise.all([call(page, 's__read'), call(page, 's__write'), call(page, 's__raw')]),
    ['held', 'unknown_tool', 'ran'],
  )
  assert.equal(await seen(page), 'raw more')
  assert.equal(await call(page, 's__read'), 'held')
  await leave(page)
  assert.equal(await seen(await visit()), 'raw? more?', 'a held tool is not offered')
})

test('without onApprove, a call of a stale tool that is held says so', async (t) => {
  const { tools, visit, leave } = await scene(t)
  await leave(await visit())
  tools[0] = tool('read', 'Reads, and sends it to me.')
  const page = await visit()
  assert.equal(await call(page, 's__read'), 'held')
  assert.equal(await page.evaluate(() => window.r.getSnapshot().held[0]!.before?.description), 'Does read.')
  await page.evaluate(() => window.r.approveTools('s'))
  await leave(page)
  const next = await visit()
  assert.equal(
    await next.evaluate(() => window.r.getSnapshot().tools[1]!.definition.description),
    'Reads, and sends it to me.',
  )
})

test('onApprove is asked about a stale tool when its list has come', async (t) => {
  const { visit, leave, hold } = await scene(t)
  await leave(await visit())
  const release = hold()
  const page = await visit(', onApprove: (q) => { asked.push(q); return "once" }')
  const pin = await page.evaluate(() => {
    window.call = window.r.dispatch('s__raw', {})
    return new Promise<string>((resolve) => {
      const end = window.r.subscribe(() => {
        if (window.r.getHealth().s?.status !== 'connecting') return
        end()
        resolve(window.r.getSnapshot().tools[0]!.pin!)
      })
    })
  })
  assert.equal(await page.evaluate(() => window.asked.length), 0)
  release()
  await page.evaluate(() => window.call)
  assert.deepEqual(await page.evaluate(() => window.asked.map((q) => (q as { pin: string }).pin)), [pin])
})

test('stale tools go when the server fails, and come back on the next visit', async (t) => {
  const { visit, leave, stop } = await scene(t)
  await leave(await visit())
  await stop()
  for (const _ of [1, 2]) {
    const page = await visit()
    assert.equal(await seen(page), 'raw? read? write?')
    assert.equal(await call(page, 's__read'), 'network')
    assert.equal(await seen(page), '')
    assert.equal(await call(page, 's__read'), 'unknown_tool')
    await leave(page)
  }
})

test('a module that cannot start takes stale tools away', async (t) => {
  const { context, visit, leave } = await scene(t)
  await leave(await visit())
  await context.route('**/portolan.wasm', (route) => route.abort())
  const page = await visit()
  await page.evaluate(() =>
    new Promise<void>((resolve) => {
      const look = () => window.r.getHealth().s?.status === 'error' && resolve()
      window.r.subscribe(look)
      look()
    })
  )
  assert.equal(await seen(page), '')
  await context.unroute('**/portolan.wasm')
  await page.evaluate(() => window.r.discover())
  assert.equal(await seen(page), 'raw read write')
})

for (
  const [what, change] of [
    ['removed', (r) => r.removeServer('s')],
    ['switched off', (r) => r.setEnabled('s', false)],
    ['given another header', (r) => r.updateServer('s', { headers: { 'x-user': 'b' } })],
    ['given another URL', (r) => r.updateServer('s', { url: `${r.getSnapshot().servers.s!.config.url}?b` })],
    ['always asked about', (r) => r.updateServer('s', { trust: 'ask-always' })],
  ] satisfies [string, (r: Registry) => Promise<void>][]
) {
  test(`a server that is ${what} has no stale tools`, async (t) => {
    const { config, visit, leave, hold } = await scene(t)
    config.headers = { 'x-user': 'a' }
    await leave(await visit())
    assert.match((await stored(await visit())).join(), /list\ns/)
    const release = hold()
    const page = await visit()
    assert.equal(await seen(page), 'raw? read? write?')
    await page.evaluate(`(${change})(window.r)`)
    assert.equal(await seen(page), '')
    assert.deepEqual((await stored(page)).filter((name) => name.startsWith('list')), [])
    release()
    assert.equal(await seen(await visit()), '')
  })
}

test('options that change between visits find no list', async (t) => {
  const { config, visit, leave } = await scene(t)
  config.headers = { authorization: 'Bearer a' }
  await leave(await visit())
  assert.equal(await seen(await visit()), 'raw? read? write?')
  const wrong = await visit(`, integrity: 'sha384-${btoa('x'.repeat(48))}'`).then(() => '', (e: Error) => e.message)
  assert.match(wrong, /digest|integrity/)
  config.headers = { authorization: 'Bearer b' }
  assert.equal(await seen(await visit()), '')
  config.headers = { authorization: 'Bearer a' }
  config.trust = 'ask-always'
  assert.equal(await seen(await visit()), '')
  delete config.trust
  assert.equal(await seen(await visit(', definitionsCache: false')), '')
})

test("storage 'memory' and definitionsCache: false keep nothing", async (t) => {
  const { visit, leave } = await scene(t)
  for (
    const options of [
      ", storage: 'memory', definitionsCache: true",
      ', definitionsCache: false',
      ', storage: sessionStorage',
    ]
  )
    await leave(await visit(options))
  const page = await visit(', definitionsCache: false')
  assert.deepEqual(await page.evaluate(() => indexedDB.databases()), [])
  await leave(await visit(', storage: sessionStorage, definitionsCache: true'))
  assert.deepEqual((await stored(page)).filter((name) => name.startsWith('list')), ['list\ns'])
})

test('a stored list is encrypted, and bound to its configuration', async (t) => {
  const { config, tools, visit, leave } = await scene(t)
  config.headers = { authorization: 'Bearer canary' }
  tools[0] = tool('canary')
  await leave(await visit())
  const page = await visit()
  assert.doesNotMatch((await stored(page)).join(), /canary/)
})

test('damaged and hostile lists are left out', async (t) => {
  const { config, visit, leave } = await scene(t)
  const good = await visit()
  // The page's own key and context, which any script of the origin can use.
  await good.evaluate(() => {
    const own = crypto.subtle.encrypt.bind(crypto.subtle)
    crypto.subtle.encrypt = (async (how: AesGcmParams, key: CryptoKey, data: BufferSource) => {
      sessionStorage.context = new TextDecoder().decode(how.additionalData as Uint8Array)
      sessionStorage.text = new TextDecoder().decode(data as Uint8Array)
      return own(how, key, data)
    }) as typeof own
  })
  await good.evaluate(async () => {
    await window.r.discover()
    await window.r.close()
  })
  const { context, text } = await good.evaluate(() => ({
    context: sessionStorage.context as string,
    text: sessionStorage.text as string,
  }))
  await good.close()
  const [raw] = JSON.parse(text) as Record<string, unknown>[]
  const deep = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)
  const variants = [
    '{',
    'null',
    '7',
    '[7,null,[],"x"]',
    '{"length":5}',
    `[${deep}]`,
    JSON.stringify([{ ...raw, definition: null }]),
    JSON.stringify([{ ...raw, pin: 'x'.repeat(43) }]),
    JSON.stringify([{ ...raw, name: '../x' }, { ...raw, name: 7 }]),
    JSON.stringify([{ ...raw, tool: 'other' }]),
    JSON.stringify([{ ...raw, definition: { ...raw!.definition as object, description: {} } }]),
    JSON.stringify([{ ...raw, flags: [{ rule: 7 }] }]),
    JSON.stringify([raw]).replace('"inputSchema":', `"inputSchema":${deep},"old":`),
    `[${JSON.stringify({ ...raw, definition: { ...raw!.definition as object, more: 'x'.repeat(3 << 20) } })}]`,
  ]
  const page = await visit(', definitionsCache: false')
  const offeredOf = async (variant: string | undefined) => {
    await plant(page, context, variant)
    return page.evaluate(async (options) => {
      const { createRegistry } = await import('/index.js' as string)
      const r = await createRegistry(options) as Registry
      const offered = r.getSnapshot().tools.map((t) => t.tool)
      await r.close()
      return offered
    }, { servers: { s: config } } as never)
  }
  for (const variant of [...variants, undefined]) assert.deepEqual(await offeredOf(variant), [], variant?.slice(0, 200))
  const some = JSON.stringify([raw, raw, { ...raw, more: 1 }])
  assert.deepEqual(await offeredOf(some), ['raw'], 'only what is twice or unknown is left out')
  await offeredOf('{')
  await leave(await visit())
  assert.equal(await seen(await visit()), 'raw? read? write?')
})

test('a database that opens late keeps the lists, and forgets those of a server that signs out', async (t) => {
  const { config, context, visit, leave } = await scene(t)
  await context.addInitScript(() => {
    if (localStorage.prompt) return
    const opened = new Promise<void>((resolve) => (window.letOpen = resolve))
    const open = indexedDB.open.bind(indexedDB)
    indexedDB.open = (...args) => {
      const request = open(...args)
      Object.defineProperty(request, 'onsuccess', {
        set(listener: (e: Event) => void) {
          request.addEventListener('success', (e) => void opened.then(() => listener.call(request, e)))
        },
      })
      return request
    }
  })
  const late = await visit()
  await late.evaluate(async () => {
    await window.r.discover()
    localStorage.prompt = 'yes'
    window.letOpen()
  })
  await leave(late)
  assert.equal(await seen(await visit()), 'raw? read? write?')

  const leaving = await visit()
  await leaving.evaluate(() => localStorage.removeItem('prompt'))
  await leaving.reload()
  await leaving.evaluate(`(async () => {
    window.r = await (await import('/index.js')).createRegistry({ servers: { s: ${JSON.stringify(config)} } })
    const left = window.r.signOut('s')
    localStorage.prompt = 'yes'
    window.letOpen()
    await left
  })()`)
  await leaving.close()
  assert.equal(await seen(await visit()), '')
})

test('a tool whose approval is gone is not offered', async (t) => {
  const { visit, leave } = await scene(t)
  await leave(await visit())
  const page = await visit(', definitionsCache: false')
  await page.evaluate(() =>
    localStorage.setItem('portolan.pins', localStorage['portolan.pins'].replace(/\\nread\\t\w\w/, '\\nread\\txx'))
  )
  assert.equal(await seen(await visit()), 'raw? write?')
  await page.evaluate(() => localStorage.setItem('portolan.pins', '[{]'))
  assert.equal(await seen(await visit()), '')
})

test('long lists are not kept, and the oldest make room for new ones', async (t) => {
  const context = await browser.newContext()
  const many = Array.from({ length: 900 }, (_, i) => tool(`tool_${i}`, 'x'.repeat(2000)))
  const more = Array.from({ length: 900 }, (_, i) => tool(`tool_${i}`, 'x'.repeat(2400)))
  const servers = await Promise.all([...Array.from({ length: 5 }, () => sdkServer(many)), sdkServer(more)])
  t.after(() => Promise.all([context.close(), ...servers.map((s) => s.close())]))
  const page = await context.newPage()
  await page.goto(site.url)
  const kept = await page.evaluate(async (urls) => {
    const { createRegistry } = await import('/index.js' as string)
    const names = []
    const storage = { get: () => '', set() {}, remove() {} }
    for (const [i, url] of urls.entries()) {
      const r = await createRegistry({ storage, definitionsCache: true, servers: { [`s${i}`]: { url } } }) as Registry
      await r.discover()
      // The pins of a long list come later.
      while (!r.getSnapshot().tools.every((t) => t.pin))
        await new Promise<void>((resolve) => {
          const end = r.subscribe(() => resolve(end()))
        })
      await r.close()
      const db = await new Promise<IDBDatabase>((resolve) => {
        const open = indexedDB.open('portolan')
        open.onsuccess = () => resolve(open.result)
      })
      names.push(
        await new Promise<string>((resolve) => {
          const all = db.transaction('secrets').objectStore('secrets').getAllKeys()
          all.onsuccess = () => resolve(all.result.join(' ').replaceAll('list\n', ''))
        }),
      )
      db.close()
    }
    return names
  }, servers.map((s) => s.url))
  assert.deepEqual(kept, ['s0', 's0 s1', 's0 s1 s2', 's0 s1 s2 s3', 's1 s2 s3 s4', 's1 s2 s3 s4'])
})

/** The names and the contents of the vault's texts. */
function stored(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const db = await new Promise<IDBDatabase>((resolve) => {
      const open = indexedDB.open('portolan')
      open.onsuccess = () => resolve(open.result)
    })
    const all = (what: 'getAll' | 'getAllKeys') =>
      new Promise<unknown[]>((resolve) => {
        const g = db.transaction('secrets').objectStore('secrets')[what]()
        g.onsuccess = () => resolve(g.result)
      })
    const boxes = await all('getAll') as { data: ArrayBuffer }[]
    const names = await all('getAllKeys') as string[]
    db.close()
    return [...names, ...boxes.map((b) => new TextDecoder('latin1').decode(b.data))]
  })
}

/** Stores a text as the list of s. Undefined: something that is no text. */
function plant(page: Page, context: string, text: string | undefined): Promise<void> {
  return page.evaluate(async ([context, text]) => {
    const db = await new Promise<IDBDatabase>((resolve) => {
      const open = indexedDB.open('portolan')
      open.onsuccess = () => resolve(open.result)
    })
    const done = (r: IDBRequest) =>
      new Promise<unknown>((resolve) => {
        r.onsuccess = () => resolve(r.result)
      })
    const key = await done(db.transaction('keys').objectStore('keys').get('headers')) as CryptoKey
    const bytes = (text: string) => new TextEncoder().encode(text)
    const iv = crypto.getRandomValues(new Uint8Array(12))
    const box = text === undefined
      ? { iv: 'x', at: {} }
      : {
        iv,
        data: await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: bytes(context!) }, key, bytes(text)),
      }
    await done(db.transaction('secrets', 'readwrite').objectStore('secrets').put(box, 'list\ns'))
    db.close()
  }, [context, text] as const)
}

test('a database that is deleted while tabs are open is let go, and made again for the next secret', async (t) => {
  const context = await browser.newContext()
  t.after(() => context.close())
  const tab = async () => {
    const page = await context.newPage()
    await page.goto(site.url)
    await page.evaluate(`(async () => {
      const { createRegistry } = await import('/index.js')
      window.r = await createRegistry({ rememberSecrets: true })
    })()`)
    return page
  }
  const kept = async () => {
    const page = await tab()
    const names = await page.evaluate('Object.keys(r.getSnapshot().servers.s.config.headers ?? {}).join()')
    await page.close()
    return names
  }
  const page = await tab()
  await page.evaluate(
    "r.addServer('s', { url: 'https://s.example/mcp', headers: { first: 'secret' }, enabled: false })",
  )
  assert.equal(await kept(), 'first')
  await page.evaluate(() => {
    const connections = window.connections = new Set()
    const { open } = IDBFactory.prototype, { close } = IDBDatabase.prototype
    IDBFactory.prototype.open = function(...args) {
      const request = open.apply(this, args)
      request.addEventListener('success', () => connections.add(request.result))
      return request
    }
    IDBDatabase.prototype.close = function() {
      connections.delete(this)
      close.call(this)
    }
  })
  await page.evaluate(() =>
    new Promise((resolve, reject) => {
      const deletion = indexedDB.deleteDatabase('portolan')
      deletion.onsuccess = resolve
      deletion.onblocked = () => reject(new Error('blocked'))
    })
  )
  await page.evaluate("r.updateServer('s', { headers: { second: 'secret' } })")
  assert.equal(await kept(), 'second')
  assert.equal(await page.evaluate('connections.size'), 1, 'open connections')
  const session = await context.newCDPSession(page)
  await session.send('Storage.clearDataForOrigin', { origin: site.url, storageTypes: 'indexeddb' })
  await page.evaluate("r.updateServer('s', { headers: { third: 'secret' } })")
  assert.equal(await kept(), 'third')
})
