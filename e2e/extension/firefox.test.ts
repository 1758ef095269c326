import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { eachSite, sites } from '../../extension/chats/sites/site.ts'
import { siteSpecs } from '../../extension/chats/sites/index.ts'
import { startPages, type Pages } from '../sites/serve.ts'
import { happens, listen, root } from '../rig/harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { soak } from '../rig/soak.ts'
import { sureness } from './asking.ts'
import { FirefoxRig } from './firefox.ts'
import { call, hasTool } from './rig.ts'

// The build for Firefox in Firefox ESR: the link to the bridge, bookmarks, a server, chats, the sidebar. The soak asks
// all chat sites.

let pages: Pages
let rig: FirefoxRig
let desk: Client
before(async () => {
  pages = await startPages()
  rig = await FirefoxRig.create(pages.httpsPort)
})
after(async () => {
  await rig?.close()
  await pages?.close()
})

test('it pairs, connects, and comes back when the bridge was away', async () => {
  await rig.pair()
  assert.match(await rig.bridge.run('clients'), /Firefox.*moz-extension:\/\//s)
  const before = (await rig.until('connected', (s) => s.links[0]?.status === 'connected')).links[0]!.since
  await rig.bridge.stop()
  await rig.until('it waits', (s) => s.links[0]?.status === 'waiting')
  await rig.bridge.start()
  await rig.until('connected again', (s) => s.links[0]?.status === 'connected' && s.links[0].since !== before)
  desk = await rig.bridge.stdioClient('desk')
})

test('bookmarks are added, found and moved', async () => {
  await rig.grant({ permissions: ['bookmarks'] })
  await rig.ask('setOptions', { bookmarks: true })
  await hasTool(desk, 'bookmark_add')
  const json = async (name: string, args: Record<string, unknown>) => {
    const r = await call(desk, name, args)
    assert.ok(!r.error, r.text)
    return JSON.parse(r.text) as { id: string; title: string }[] & { id: string; title: string; parentId: string }
  }
  const folder = await json('bookmark_create_folder', { title: 'Harbours' })
  const added = await json('bookmark_add', { title: 'Lagos', url: 'https://lagos.example/', parentId: folder.id })
  assert.equal(added.parentId, folder.id)
  assert.deepEqual((await json('bookmark_search', { query: 'Lagos' })).map((b) => b.id), [added.id])
  const removing = call(desk, 'bookmark_remove_tree', { id: folder.id })
  const { approvals } = await rig.until('the question', (s) => s.approvals.length)
  assert.equal(approvals[0]!.summary, 'Remove the folder “Harbours” with 1 item in it')
  await rig.ask('approve', { id: approvals[0]!.id, answer: 'once' })
  assert.ok(!(await removing).error)
})

test('new bookmarks are reported once, before and after the permission was given back', async () => {
  const heard: string[] = []
  desk.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    const { type, data } = params.data as { type: string; data: { title: string } }
    if (params.logger === 'portolan/event' && type === 'created') heard.push(data.title)
  })
  await desk.setLoggingLevel('info')
  const add = async (title: string) => {
    await call(desk, 'bookmark_add', { title, url: 'https://jetty.example/' })
    await happens(() => heard.includes(title))
  }
  await add('Jetty')
  await rig.ask('setOptions', { bookmarks: false })
  assert.ok(await rig.inClick<boolean>(`chrome.permissions.remove({ permissions: ['bookmarks'] })`))
  await rig.until('no permission', (s) => !s.permissions.bookmarks)
  await rig.grant({ permissions: ['bookmarks'] })
  await rig.ask('setOptions', { bookmarks: true })
  await hasTool(desk, 'bookmark_add')
  await add('Quay')
  assert.deepEqual(heard, ['Jetty', 'Quay'])
})

test('the tabs and pages that the user allows are listed and read', async () => {
  const site = await listen((_req, res) =>
    void res.writeHead(200, { 'content-type': 'text/html' }).end(
      '<!doctype html><title>Tide tables</title><p class=a>High water</p><p>Low water</p>',
    )
  )
  try {
    await rig.ask('setOptions', { pages: true })
    await hasTool(desk, 'page_dom')
    await rig.firefox.open(`${site.url}/`)
    type Tab = { id: number; url?: string; title?: string }
    const listed = async () => (await call(desk, 'tabs_list')).structured['tabs'] as Tab[]
    const find = async () => (await listed()).find((t) => t.title === 'Tide tables')
    assert.equal(await find(), undefined, 'the extension may not see this tab yet')
    await rig.grant({ permissions: ['scripting'], origins: ['http://127.0.0.1/*'] })
    const tab = await find()
    assert.equal(tab!.url, `${site.url}/`)
    const whole = await call(desk, 'page_dom', { tabId: tab!.id })
    assert.match(whole.text, /High water.*Low water/s)
    assert.deepEqual(whole.meta['portolan/untrusted'], [new URL(site.url).host])
    const part = await call(desk, 'page_dom', { tabId: tab!.id, selector: 'p.a' })
    assert.equal(part.text, '<p class="a">High water</p>')
    const wrong = await call(desk, 'page_dom', { tabId: tab!.id, selector: 'p:contains(water)' })
    assert.match(wrong.text, /\(INVALID_ARGUMENTS\)$/)
    await rig.grant({ permissions: ['tabs'] })
    const own = (await listed()).find((t) => t.url?.startsWith('moz-extension:'))
    assert.ok(own, 'with the permission all tabs are listed')
    assert.match((await call(desk, 'page_dom', { tabId: own.id })).text, /\(NO_PERMISSION\)$/)
    assert.match((await call(desk, 'page_dom', { tabId: 999_999 })).text, /\(TAB_CLOSED\)$/)
    const granted = `{ permissions: ['scripting', 'tabs'], origins: ['http://127.0.0.1/*'] }`
    assert.ok(await rig.inClick<boolean>(`chrome.permissions.remove(${granted})`))
    assert.equal(await find(), undefined, 'nor any more')
  } finally {
    await site.close()
  }
})

test('a server that was switched on in the panel reaches the client', async () => {
  const tide = { name: 'tide', description: 'Says when the tide is high.', inputSchema: { type: 'object' } }
  const text = 'High water at 14:05'
  const results = { tide: { content: [{ type: 'text', text }] } }
  const server = await sdkServer([tide], { cors: false, results })
  try {
    await rig.panel.evaluate(
      `document.querySelector('portolan-extension').shadowRoot.querySelector('#tab-servers').click()`,
    )
    const panel = `document.querySelector('portolan-extension').shadowRoot.querySelector('portolan-panel')`
    await rig.holds(`!!${panel}?.registry`, 'the settings panel')
    // The registry of the panel asks the browser for the permission to reach the server's host.
    await rig.inClick(`${panel}.registry.addServer('harbour', { url: ${JSON.stringify(`${server.url}/mcp`)} })`)
    await hasTool(desk, 'harbour__tide')
    assert.equal((await call(desk, 'harbour__tide')).text, text)
    const control = new AbortController()
    const waiting = desk.callTool({ name: 'harbour__wait', arguments: {} }, undefined, { signal: control.signal })
    await happens(() => server.calls.includes('wait'))
    control.abort()
    await assert.rejects(waiting)
    await happens(() => server.calls.includes('cancelled'))
  } finally {
    await server.close()
  }
})

const spent = eachSite(() => 0)
for (const site of soak ? sites : (['chatgpt', 'gemini', 'aistudio'] as const))
  test(`S12: ${site} answers, and its conversation continues`, async () => {
    await rig.grant({ permissions: ['scripting'], origins: siteSpecs[site].matches })
    await rig.ask('setChat', { site, patch: { enabled: true, acceptedAt: Date.now() } })
    await rig.ask('setOptions', { reuse: 'off' })
    await hasTool(desk, `chat_${site}`)
    const ask = async (more = {}) => {
      const about = `fox-${site}-${++spent[site]}`
      const prompt = `token:${about}\nsecond line, “quoted” & <b>\n\n    fourth line`
      const r = await call(desk, `chat_${site}`, { prompt, ...more }, { timeout: 120_000 })
      assert.ok(!r.error, r.text)
      assert.match(r.text, new RegExp(`ends with \\*\\*${about}\\*\\*\\.$`))
      assert.equal(pages.prompts(site).at(-1)!.text, prompt)
      return r.structured as { conversationId: string; confidence: string }
    }
    const first = await ask()
    assert.equal(first.confidence, sureness(site))
    const second = await ask({ conversationId: first.conversationId })
    assert.equal(second.conversationId, first.conversationId)
  })

test('T36: several chats answer at once in tabs behind the one in front, and are compared', async () => {
  const judgement = { agreements: ['It is deep'], differences: [], verdict: 'Both are right.' }
  const looked = Promise.withResolvers<string>()
  for (const site of ['chatgpt', 'gemini'] as const) {
    pages.reply(
      site,
      (prompt) =>
        prompt.includes('Reply with one JSON object')
          ? `\`\`\`json\n${JSON.stringify(judgement)}\n\`\`\``
          : looked.promise,
    )
  }
  const args = { prompt: 'How deep is the channel at 12 h?', services: ['chatgpt', 'gemini'], judge: 'gemini' }
  const asked = call(desk, 'chat_compare', args, { timeout: 120_000 })
  await rig.until('both wait', (s) => s.runs.length === 2 && s.runs.every(({ phase }) => phase === 'waiting'))
  const tabs = await rig.panel.evaluate<{ active: boolean; hidden: boolean }[]>(`(async () => {
    const tabs = await chrome.tabs.query({ url: ['https://chatgpt.com/*', 'https://gemini.google.com/*'] })
    return Promise.all(tabs.map(async ({ id, active }) => {
      const [{ result }] = await chrome.scripting.executeScript({ target: { tabId: id }, func: () => document.hidden })
      return { active, hidden: result }
    }))
  })()`)
  assert.deepEqual(tabs, [{ active: false, hidden: true }, { active: false, hidden: true }])
  looked.resolve('It is 12 m deep.')
  const r = await asked
  assert.ok(!r.error, r.text)
  assert.deepEqual(r.structured.comparison, { ...judgement, judge: 'gemini' })
})

test("the toolbar's button opens the sidebar, where nothing breaks WCAG or is wider than it", async () => {
  await rig.clickButton()
  const sidebar = `chrome.extension.getViews({ type: 'sidebar' })[0]`
  await rig.holds(
    `${sidebar}?.document.querySelector('portolan-extension')?.shadowRoot.querySelectorAll('portolan-link').length === 1`,
    'the sidebar shows the bridge',
  )
  const axe = await readFile(`${root}node_modules/axe-core/axe.min.js`, 'utf8')
  const found: Record<string, string[]> = {}
  for (const tab of ['home', 'chats', 'history', 'servers', 'tools', 'activity']) {
    // WebDriver has no context for a sidebar. With `with` the code below gets its globals from the sidebar's window.
    found[tab] = await rig.panel.evaluate(`(async (view) => {
      const app = view.document.querySelector('portolan-extension').shadowRoot
      app.querySelector('#tab-${tab}').click()
      await new Promise((resolve) => view.requestAnimationFrame(() => view.requestAnimationFrame(resolve)))
      with (view) { if (!view.axe) { const module = undefined; ${axe} } }
      const { violations, passes } = await view.axe.run({
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      })
      const { scrollWidth } = view.document.documentElement
      return [
        ...violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => v.id + ': ' + n.html.slice(0, 200) + n.failureSummary)),
        ...passes.length < 10 ? ['only ' + passes.length + ' rules looked at something'] : [],
        ...scrollWidth > view.innerWidth ? ['width: ' + scrollWidth + ' of ' + view.innerWidth] : [],
      ]
    })(${sidebar})`)
  }
  assert.deepEqual(found, { home: [], chats: [], history: [], servers: [], tools: [], activity: [] })
})
