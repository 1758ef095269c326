import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { launchChromium, servePackage, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Approvals of one tab, in the others, each with a worker of its own, in Chromium, on the built package.

declare global {
  interface Window {
    r: Registry
    asked: unknown[]
    say: string | Promise<string>
  }
}

let browser: Browser
let site: Listening
before(async () => {
  browser = await launchChromium()
  site = await servePackage()
})
after(() => Promise.all([browser.close(), site.close()]))

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } })
const own = "tools: { deny: ['wait', 'steps'] }"

/** A storage that says nothing of its changes, and answers late. */
const database = `(() => {
  const open = new Promise((resolve) => { const r = indexedDB.open('kept'); r.onupgradeneeded = () => r.result.createObjectStore('kept'); r.onsuccess = () => resolve(r.result) })
  const run = async (mode, fn) => { const db = await open; return new Promise((resolve) => { const q = fn(db.transaction('kept', mode).objectStore('kept')); q.onsuccess = () => resolve(q.result) }) }
  return { get: (k) => run('readonly', (s) => s.get(k)), set: (k, v) => run('readwrite', (s) => s.put(v, k)), remove: (k) => run('readwrite', (s) => s.delete(k)) }
})()`

/** A server whose tools a test changes, and tabs that know nothing of other tests' tabs. */
async function scene(t: TestContext, options = "storage: 'local'") {
  const tools: object[] = []
  const server = await sdkServer(tools)
  const context = await browser.newContext()
  t.after(() => Promise.all([server.close(), context.close()]))
  const tab = async (more = '', first = ''): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(site.url)
    await page.evaluate(`(async () => {
      ${first}
      window.asked = []
      const { createRegistry } = await import('/index.js')
      window.r = await createRegistry({ servers: { s: { url: '${server.url}', ${own} } }, ${options} ${more} })
    })()`)
    return page
  }
  return { tools, url: server.url, tab }
}

const discover = (page: Page) => page.evaluate(() => window.r.discover().then(() => {}))
const approve = (page: Page, ...names: string[]) => page.evaluate((names) => window.r.approveTools('s', names), names)

/** The offered tools and the held ones, both with their descriptions. */
const seen = (page: Page) =>
  page.evaluate(() => {
    const { tools, held } = window.r.getSnapshot()
    const said = (t: { tool: string; definition: { description?: string } }) => `${t.tool}: ${t.definition.description}`
    return { offered: tools.map(said).filter((s) => !s.startsWith('raw')), held: held.map(said) }
  })

/** Waits until a tab sees that by itself. */
async function sees(page: Page, offered: string[], held: string[]): Promise<void> {
  await page.waitForFunction(
    ([offered, held]) => {
      const { tools, held: now } = window.r.getSnapshot()
      const said = (list: readonly { tool: string; definition: { description?: string } }[]) =>
        list.map((t) => `${t.tool}: ${t.definition.description}`).filter((s) => !s.startsWith('raw')).join()
      return said(tools) === offered && said(now) === held
    },
    [offered.join(), held.join()] as const,
  ).catch(async (e: Error) => {
    assert.deepEqual(await seen(page), { offered, held }, e.message)
  })
}

for (const [name, storage] of [['localStorage', "'local'"], ['a storage of the page', database]] as const) {
  test(`${name}: what is approved in one tab is offered in the other at once, what is held in one is held in the other`, async (t) => {
    const { tools, tab } = await scene(t, `storage: ${storage}`)
    tools.push(tool('read', 'one'), tool('write', 'one'))
    const late = await tab() // has read the storage before anything was approved
    const first = await tab()
    await discover(first)
    const second = await tab()
    await discover(second)
    tools[0] = tool('read', 'two')
    await discover(first)
    await discover(second)
    await discover(late)
    for (const page of [first, second, late])
      assert.deepEqual(await seen(page), { offered: ['write: one'], held: ['read: two'] })

    await approve(first, 'read')
    for (const page of [first, second, late]) await sees(page, ['read: two', 'write: one'], [])

    tools[1] = tool('write', 'three')
    await discover(first)
    assert.deepEqual(await seen(second), { offered: ['read: two', 'write: one'], held: [] }, 'has not asked')
    await approve(first, 'write')
    for (const page of [first, second, late]) await sees(page, ['read: two', 'write: three'], [])
    const again = await tab()
    await discover(again)
    await sees(again, ['read: two', 'write: three'], [])
  })
}

test('tabs that approve at the same time lose nothing of each other', async (t) => {
  const { tools, tab } = await scene(t)
  const names = Array.from({ length: 40 }, (_, i) => `t${i}`)
  tools.push(...names.map((name) => tool(name, 'one')))
  const tabs = [await tab(), await tab(), await tab()]
  for (const page of tabs) await discover(page)
  tools.splice(0, 40, ...names.map((name) => tool(name, 'two')))
  for (const page of tabs) await discover(page)
  await Promise.all(tabs.map((page, mine) =>
    page.evaluate(async ([names, mine]) => {
      for (let i = mine; i < names.length; i += 3)
        await window.r.approveTools('s', [names[i]!]).catch((e) => {
          if (e.code !== 'unknown_tool') throw e
        })
    }, [names, mine] as const)
  ))
  const all = names.map((name) => `${name}: two`)
  for (const page of tabs) await sees(page, all, [])
  const later = await tab()
  await discover(later)
  await sees(later, all, [])
})

test('an answer for good counts in the other tab, until it is forgotten in one', async (t) => {
  const { tab } = await scene(t)
  const hook = ', onApprove: (q) => { asked.push(q.tool); return say }'
  const [first, second] = [await tab(hook), await tab(hook)]
  const call = (page: Page, say: string) =>
    page.evaluate(async (say) => {
      window.say = say
      const before = window.asked.length
      return [
        await window.r.dispatch('s__raw', {}).then(() => 'ran', (e) => e.code as string),
        window.asked.length - before,
      ]
    }, say)
  const until = (page: Page, n: number) =>
    page.evaluate(async (n) => {
      for (const end = performance.now() + 10_000; (await window.r.approvals()).length !== n;) {
        if (performance.now() > end) throw new Error(`there are not ${n} answers`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }, n)
  for (const page of [first, second]) await discover(page)
  assert.deepEqual(await call(second, 'deny'), ['denied', 1])
  assert.deepEqual(await call(first, 'always'), ['ran', 1])
  await until(second, 1)
  assert.deepEqual(await call(second, 'deny'), ['ran', 0])
  await second.evaluate(() => window.r.forgetApprovals('s'))
  await until(first, 0)
  assert.deepEqual(await call(first, 'deny'), ['denied', 1])
})

test('the question has every digit of a large integer', async (t) => {
  const { tab } = await scene(t)
  const page = await tab(', onApprove: (q) => { asked.push(q.args); return "deny" }')
  await discover(page)
  const asked = await page.evaluate(async () => {
    await window.r.dispatch('s__raw', '{"id": 9007199254740993, "n": 12}').catch(() => {})
    return window.asked
  })
  assert.deepEqual(asked, [{ id: '9007199254740993', n: 12 }])
})

test('whose localStorage is cleared is asked again; an open tab keeps its servers and stores those that change', async (t) => {
  const { tab } = await scene(t)
  const page = await tab(', onApprove: (q) => { asked.push(q.tool); return "always" }')
  await discover(page)
  const call = () => page.evaluate(() => window.r.dispatch('s__raw', {}).then(() => window.asked.length))
  const stored = () =>
    page.evaluate(() => Object.keys(JSON.parse(localStorage['portolan.servers'] ?? '{"servers":{}}').servers))
  assert.deepEqual([await call(), await call()], [1, 1])
  await page.evaluate(async () => {
    for (const name of ['x', 'y']) await window.r.addServer(name, { url: 'https://a.example/mcp', enabled: false })
  })
  assert.deepEqual(await stored(), ['x', 'y'])
  const other = await page.context().newPage()
  await other.goto(site.url)
  await other.evaluate(() => localStorage.clear())
  await page.waitForFunction(async () => !(await window.r.approvals()).length)
  assert.equal(await call(), 2)
  assert.deepEqual(await page.evaluate(() => Object.keys(window.r.getSnapshot().servers).sort()), ['s', 'x', 'y'])
  await page.evaluate(() => window.r.updateServer('x', { timeoutMs: 5000 }))
  assert.deepEqual(await stored(), ['x'])
  assert.equal(await page.evaluate(() => JSON.parse(localStorage['portolan.approvals']).length), 1)
})

test('a question that is answered for good elsewhere is open no more', async (t) => {
  const { tab } = await scene(t)
  const hook =
    ', onApprove: (q) => new Promise((resolve) => { asked.push(q.tool); window.answer = resolve; q.signal.onabort = () => asked.push("gone") })'
  const [first, second] = [await tab(hook), await tab(hook)]
  for (const page of [first, second]) await discover(page)
  const ask = (page: Page) =>
    page.evaluate(async () => {
      const w = window as never as { calls: Promise<string>[] }
      const before = window.asked.length
      w.calls = [1, 2].map(() => window.r.dispatch('s__raw', {}).then(() => 'ran', (e) => `${e.code}: ${e.message}`))
      while (window.asked.length < before + 2) await new Promise((resolve) => setTimeout(resolve, 5))
    })
  const answered = (page: Page) =>
    page.evaluate(
      async () => [await Promise.all((window as never as { calls: Promise<string>[] }).calls), window.asked.splice(0)],
    )
  const answer = (approval: string) =>
    first.evaluate((a) => (window as never as { answer(a: string): void }).answer(a), approval)

  for (const page of [first, second]) await ask(page)
  await answer('once')
  await first.waitForTimeout(300)
  assert.equal(await second.evaluate(() => window.asked.length), 2, 'once is an answer to one question')
  await first.evaluate(async () => {
    await Promise.race((window as never as { calls: Promise<string>[] }).calls)
  })
  await second.evaluate(() => (window as never as { answer(a: string): void }).answer('always'))
  assert.deepEqual(await answered(second), [['ran', 'ran'], ['raw', 'raw', 'gone']])
  assert.deepEqual(await answered(first), [['ran', 'ran'], ['raw', 'raw', 'gone']])

  await first.evaluate(() => window.r.forgetApprovals())
  await second.waitForFunction(() => window.r.approvals().then((a) => !a.length))
  for (const page of [first, second]) await ask(page)
  await answer('never')
  for (const page of [first, second]) {
    const [said, asked] = await answered(page) as [string[], string[]]
    assert.deepEqual(said.map((s) => s.split(':')[0]), ['denied', 'denied'])
    assert.equal(asked.filter((a) => a === 'gone').length, page === first ? 1 : 2)
  }
})

test('a policy that is stored counts in all tabs, and is not undone by what another tab stores', async (t) => {
  const { tools, tab, url } = await scene(t)
  tools.push(tool('read', 'one'))
  const first = await tab()
  await first.evaluate((url) => window.r.addServer('added', { url, tools: { allow: ['read'] } }), url)
  const second = await tab()
  for (const page of [first, second]) await discover(page)
  tools[0] = tool('read', 'two')
  for (const page of [first, second]) await discover(page)
  await sees(second, [], ['read: two', 'read: two'])
  await first.evaluate(() => window.r.updateServer('added', { trust: 'trust' }))
  await sees(second, ['read: two'], ['read: two'])
  await first.evaluate(() => window.r.updateServer('added', { trust: 'ask-always', holdNewTools: true }))
  await sees(second, [], ['read: two', 'read: two'])
  await second.evaluate(() => window.r.updateServer('added', { timeoutMs: 5000 }))
  await second.evaluate(() => window.r.close())
  const stored = await first.evaluate(() => JSON.parse(localStorage.getItem('portolan.servers')!).servers.added)
  assert.deepEqual(stored, {
    url,
    tools: { allow: ['read'] },
    trust: 'ask-always',
    holdNewTools: true,
    timeoutMs: 5000,
  })
  assert.equal(
    await first.evaluate(() => window.r.getSnapshot().servers.s!.config.trust),
    undefined,
    'is given by the page',
  )
})

test("a policy of a project's server counts in all tabs, without channels too", async (t) => {
  const { tab } = await scene(t)
  const first = await tab(", project: 'p'")
  await first.evaluate(() => window.r.addServer('added', { url: 'builtin:demo' }, { scope: 'project' }))
  const second = await tab(", project: 'p'", 'delete window.BroadcastChannel')
  await first.evaluate(() => window.r.updateServer('added', { trust: 'ask-always' }))
  await second.waitForFunction(() => window.r.getSnapshot().servers['added']!.config.trust === 'ask-always')
})

test('a message says no more than that the storage is to be read; without channels and locks each tab is for itself', async (t) => {
  const { tools, tab } = await scene(t)
  tools.push(tool('read', 'one'))
  const bare = await tab(
    '',
    "delete window.BroadcastChannel; Object.defineProperty(navigator, 'locks', { value: undefined })",
  )
  const page = await tab()
  for (const p of [bare, page]) await discover(p)
  tools[0] = tool('read', 'two')
  for (const p of [bare, page]) await discover(p)
  await page.evaluate(async () => {
    const channel = new BroadcastChannel('portolan storage')
    for (const m of [{ pins: {} }, { key: 's', pins: 'read\tx' }, 'pins', null])
      for (let i = 0; i < 100; i++) channel.postMessage(m)
    await new Promise((resolve) => setTimeout(resolve, 100))
    channel.close()
  })
  assert.deepEqual(await seen(page), { offered: [], held: ['read: two'] })
  await approve(bare, 'read')
  await sees(bare, ['read: two'], [])
  await sees(page, ['read: two'], []) // localStorage itself says so
})

test('storage memory: tabs do not hear of each other', async (t) => {
  const { tools, tab } = await scene(t, "storage: 'memory'")
  tools.push(tool('read', 'one'))
  const [first, second] = [await tab(), await tab()]
  for (const page of [first, second]) await discover(page)
  tools[0] = tool('read', 'two')
  for (const page of [first, second]) await discover(page)
  await approve(first, 'read')
  await sees(first, ['read: two'], [])
  await discover(second)
  assert.deepEqual(await seen(second), { offered: [], held: ['read: two'] })
})

for (
  const [what, options] of [['localStorage', "storage: 'local'"], [
    'a storage that answers late',
    `storage: ${database}`,
  ]] as const
) {
  test(`servers that three tabs add, change and remove at once are all kept: ${what}`, async (t) => {
    const { tab } = await scene(t, options)
    const tabs = await Promise.all([tab(), tab(), tab()])
    await Promise.all(tabs.map((page, i) =>
      page.evaluate(async (i) => {
        for (let k = 0; k < 15; k++) {
          await window.r.addServer(`t${i}-${k}`, { url: `https://t${i}.example/${k}`, enabled: false })
          if (k % 3 === 1) await window.r.updateServer(`t${i}-${k}`, { timeoutMs: 1000 + k })
          if (k % 3 === 2) await window.r.removeServer(`t${i}-${k}`)
        }
        await window.r.close()
      }, i)
    ))
    const kept = await (await tab()).evaluate(() =>
      Object.entries(window.r.getSnapshot().servers).map(([name, s]) => `${name} ${s.config.timeoutMs ?? ''}`.trim())
    )
    const wanted = [0, 1, 2].flatMap((i) =>
      Array.from({ length: 15 }, (_, k) => (k % 3 === 2 ? [] : [`t${i}-${k}${k % 3 ? ` ${1000 + k}` : ''}`])).flat()
    )
    assert.deepEqual(kept.filter((s) => s !== 's').sort(), wanted.sort())
  })
}
