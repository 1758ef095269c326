import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { CdpPage } from '../rig/cdp.ts'
import { soak } from '../rig/soak.ts'
import { startPages, type Pages } from '../sites/serve.ts'
import type { Site } from '../../extension/chats/drivermessages.ts'
import { sites } from './asking.ts'
import { call, hasTool, Rig } from './rig.ts'
import { happens } from '../rig/harness.ts'

// Chats through all parts: a real client, the real bridge, the real extension in
// a browser without DevTools on worker or tabs, and pages with the real editors.

let pages: Pages
let rig: Rig
let desk: Client
let http: Client

before(async () => {
  pages = await startPages()
  rig = await Rig.create({ granted: true, args: pages.flags })
  desk = await rig.bridge.stdioClient('desk')
  http = await rig.bridge.httpClient('other')
})
after(async () => {
  await rig?.close()
  await pages?.close()
})
beforeEach(() => pages.reset())

let n = 0
/** Returns a prompt with a unique answer. */
const fresh = (rest = '') => {
  const token = `tk${++n}x${Math.random().toString(36).slice(2, 8)}`
  return { token, prompt: `token:${token}\nsecond line, “quoted” & <b>\n\n    fourth line ${rest}` }
}

interface Answered {
  answer: string
  url: string
  conversationId: string
  timings: Record<string, number>
  profile: string
  confidence: string
  evidence: string[]
  truncated: boolean
}

async function ask(client: Client, site: Site, rest = '', more: Record<string, unknown> = {}): Promise<Answered> {
  const { token, prompt } = fresh(rest)
  const r = await call(client, `chat_${site}`, { prompt, ...more })
  assert.ok(!r.error, `${site} ${rest}: ${r.text} ${JSON.stringify(r.meta)}`)
  const answered = r.structured as unknown as Answered
  assert.equal(answered.answer, r.text)
  assert.deepEqual(r.meta['portolan/untrusted'], [new URL(answered.url).host])
  const tokens = [...r.text.matchAll(/tk\d+x\w+/g)].map((m) => m[0])
  assert.ok(tokens.length && tokens.every((t) => t === token), `${site} ${rest}: ${token} in ${r.text}`)
  assert.equal(pages.prompts(site).at(-1)?.text, prompt)
  return answered
}

/** Returns the id of the tab with a conversation. */
const tabOf = (url: string) =>
  rig.panel.evaluate(async (url) => (await chrome.tabs.query({})).find((t) => t.url === url)?.id ?? 'none', url)

async function fails(
  client: Client,
  site: Site,
  rest: string,
  code: string,
): Promise<{ text: string; error: Record<string, unknown> }> {
  const r = await call(client, `chat_${site}`, { prompt: fresh(rest).prompt }, { timeout: 120_000 })
  assert.ok(r.error && r.text.endsWith(`(${code})`), `${site} ${rest}: ${r.text}`)
  const error = r.meta['portolan/error'] as Record<string, unknown>
  assert.equal(error.code, code)
  return { text: r.text, error }
}

test('chats are off at first, and a client gets CHAT_DISABLED', async () => {
  assert.ok(!(await desk.listTools()).tools.some((t) => t.name.startsWith('chat_')))
  await rig.ask('setOptions', { reuse: 'off' })
  for (const site of sites)
    await rig.ask('setChat', { site, patch: { enabled: true, acceptedAt: Date.now(), perHour: 1000 } })
  for (const client of [desk, http]) await hasTool(client, 'chat_aistudio') // the last
  const { tools } = await desk.listTools()
  const names = tools.map((t) => t.name).filter((t) => /^(chat|ask|take)_/.test(t))
  assert.deepEqual(names.sort(), [
    'ask_chatgpt_gemini_web',
    'ask_chatgpt_web',
    'ask_gemini_web',
    'chat_aistudio',
    'chat_all',
    'chat_chatgpt',
    'chat_compare',
    'chat_consensus',
    'chat_gemini',
    'chat_history',
    'chat_result',
    'chat_sessions',
    'chat_snapshot',
    'chat_start',
    'take_cdp_snapshot',
  ])
  const schema = (name: string) => tools.find((t) => t.name === name)!.inputSchema
  const studio = schema('chat_aistudio').properties as Record<string, Record<string, unknown>>
  assert.deepEqual([studio.temperature!.default, studio.temperature!.maximum], [0.7, 1])
  assert.deepEqual([studio.model!.type, studio.model!.enum, studio.model!.default], ['string', undefined, undefined])
  // B1: an alias takes what its tool takes.
  const { prompt, ...others } = schema('chat_chatgpt').properties!
  assert.deepEqual(schema('ask_chatgpt_web').properties, { ...others, question: prompt })
  assert.deepEqual(schema('ask_chatgpt_web').required, ['question'])
  assert.deepEqual(Object.keys(schema('ask_chatgpt_gemini_web').properties!).sort(), [
    'question',
    'services',
    'timeoutSeconds',
  ])
  assert.match(tools.find((t) => t.name === 'chat_all')!.description!, /^Recommended: /)
})

test('S12: the description of a model lists what the page last offered, and an unknown one gets the list', async () => {
  await ask(desk, 'gemini')
  for (const client of [desk, http]) {
    for (let i = 0;; i++) {
      const { tools } = await client.listTools()
      const { model } = tools.find((t) => t.name === 'chat_gemini')!.inputSchema.properties as Record<
        string,
        { description: string }
      >
      if (/last offered: fast \(Fast\), thinking \(Thinking\), pro \(Pro\)$/.test(model!.description)) break
      if (i > 200) throw new Error(model!.description)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const r = await call(desk, 'chat_gemini', { prompt: fresh().prompt, model: 'gemini-9' })
  assert.match(r.text, /does not offer the model "gemini-9"\. Its page offers: fast \(Fast\), .*\(MODEL_UNAVAILABLE\)$/)
  assert.deepEqual((r.meta['portolan/error'] as { models: string[] }).models, [
    'fast (Fast)',
    'thinking (Thinking)',
    'pro (Pro)',
  ])
  const pro = await ask(desk, 'gemini', '', { model: 'pro' })
  assert.equal(pages.prompts('gemini').at(-1)!.model, 'Pro')
  assert.ok(pro.evidence.includes('model: Pro'))
})

test('B1, B2: an alias passes the options on, and the timings have each part', async () => {
  const { prompt, token } = fresh()
  const r = await call(desk, 'ask_chatgpt_web', { question: prompt, model: 'gpt-4o', timeoutSeconds: 100 })
  assert.ok(!r.error && r.text.includes(token), r.text)
  assert.equal(pages.prompts('chatgpt').at(-1)!.model, 'GPT-4o')
  const timings = r.structured.timings as Record<string, number>
  assert.deepEqual(Object.keys(timings).sort(), [
    'connectMs',
    'inputMs',
    'navigateMs',
    'queueMs',
    'sendMs',
    'totalMs',
    'waitInputMs',
    'waitResponseMs',
  ])
  const { totalMs, ...parts } = timings
  const sum = Object.values(parts).reduce((a, b) => a + b)
  assert.ok(sum <= totalMs! + 10 && sum > totalMs! * 0.6, JSON.stringify(timings))
})

test('each site answers, over stdio and over HTTP', async () => {
  for (const layout of ['article', 'turn-key'] as const) {
    pages.set('chatgpt', { layout })
    const a = await ask(desk, 'chatgpt')
    assert.equal(a.profile, `chatgpt/${layout}`)
    assert.match(a.url, /^https:\/\/chatgpt\.com\/c\//)
    assert.equal(a.truncated, false)
    assert.ok(a.timings.totalMs! > 0)
    await ask(http, 'chatgpt')
  }
  for (const site of ['gemini', 'aistudio'] as const) {
    const a = await ask(desk, site)
    assert.equal(a.confidence, 'high', a.evidence.join())
    await ask(http, site)
  }
})

test('T35: a conversation continues by its id, in the same tab', async () => {
  for (const site of sites) {
    const first = await ask(desk, site)
    const tab = await tabOf(first.url)
    const second = await ask(http, site, '', { conversationId: first.conversationId })
    assert.equal(second.conversationId, first.conversationId, site)
    assert.equal(await tabOf(second.url), tab, site)
    assert.equal(pages.prompts(site).length, 2)
  }
})

test('a tab that the browser discarded is used again', async () => {
  const { url } = await ask(desk, 'chatgpt')
  await rig.until('no runs', (s) => !s.runs.length)
  const discarded = await rig.panel.evaluate(
    async (url) => (await chrome.tabs.discard((await chrome.tabs.query({ url }))[0]!.id!))!.id!,
    url,
  )
  await ask(desk, 'chatgpt')
  const ids = await rig.panel.evaluate(async () =>
    (await chrome.tabs.query({ url: 'https://chatgpt.com/*' })).map((t) => t.id)
  )
  assert.deepEqual(ids, [discarded])
})

test('several at once: partial answers, and an outcome for each', async () => {
  const { token, prompt } = fresh('[[slow ms=1500]]')
  const heard: string[] = []
  const r = await call(desk, 'chat_all', { prompt }, { onprogress: (p) => heard.push(p.message ?? '') })
  assert.ok(!r.error, r.text)
  for (const site of sites) assert.ok((r.structured[site] as Answered).answer.includes(token), site)
  assert.ok(heard.some((m) => /^ChatGPT: .*tk\d/s.test(m)), heard.join('\n'))

  pages.set('gemini', { loggedOut: 'guest' })
  pages.set('gemini', { loggedOut: 'wall' })
  const mixed = await call(desk, 'chat_all', { prompt: fresh().prompt, services: ['chatgpt', 'gemini'] })
  assert.ok(!mixed.error)
  assert.equal((mixed.structured.gemini as { error: { code: string } }).error.code, 'LOGIN_REQUIRED')
  assert.match(mixed.text, /## ChatGPT\n\n/)
  assert.match(mixed.text, /## Gemini: no answer\n\n/)
})

test('B1: each alias does what its tool does, until aliases are switched off', async () => {
  const { token, prompt } = fresh()
  const r = await call(desk, 'ask_chatgpt_gemini_web', { question: prompt })
  assert.deepEqual(Object.keys(r.structured).sort(), ['chatgpt', 'gemini'])
  for (const site of ['chatgpt', 'gemini'] as const)
    assert.ok((r.structured[site] as Answered).answer.includes(token), site)
  const one = fresh()
  const alone = await call(desk, 'ask_gemini_web', { question: one.prompt })
  assert.ok(!alone.error && alone.text.includes(one.token), alone.text)
  assert.equal(pages.prompts('gemini').at(-1)!.text, one.prompt)
  const snapshots = []
  for (const name of ['chat_snapshot', 'take_cdp_snapshot']) {
    const { error, text, structured } = await call(desk, name, { service: 'gemini' })
    assert.ok(!error && !text.includes(one.token), text)
    snapshots.push(structured.health)
  }
  assert.deepEqual(snapshots[1], snapshots[0])
  assert.ok(Object.keys(snapshots[1] as object).length)
  await rig.ask('setOptions', { aliases: false })
  for (const name of ['ask_chatgpt_web', 'ask_gemini_web', 'ask_chatgpt_gemini_web', 'take_cdp_snapshot'])
    await hasTool(desk, name, false)
})

test("two clients and the queue: in order, and never the other client's answer", async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => ask(i % 2 ? desk : http, 'gemini').catch((e: Error) => e)),
  )
    .catch(() => [])
  // ask() compares the site's last prompt. With several clients at once it may be another client's.
  for (const a of answers) assert.ok(!(a instanceof Error) || /Expected values/.test(a.message), String(a))
  const { runs } = await rig.until('no runs', (s) => !s.runs.length)
  assert.equal(runs.length, 0)
})

test('T16: failures have their own codes', async () => {
  const before = (await rig.state()).chats.gemini
  pages.set('chatgpt', { loggedOut: 'wall' })
  assert.equal((await fails(desk, 'chatgpt', '', 'LOGIN_REQUIRED')).text.includes('ChatGPT'), true)
  assert.equal(pages.prompts('chatgpt').length, 0, 'nothing was typed')
  pages.reset()
  await fails(desk, 'chatgpt', '[[ratelimit]]', 'RATE_LIMITED')
  await fails(desk, 'chatgpt', '[[expire]]', 'SESSION_EXPIRED')
  await fails(desk, 'gemini', '[[network]]', 'NETWORK_ERROR')
  await fails(desk, 'aistudio', '[[deaf]]', 'SEND_NOT_CONFIRMED')
  pages.set('aistudio', { mangle: 'all' })
  await fails(desk, 'aistudio', '', 'INPUT_NOT_APPLIED')
  pages.set('gemini', { layout: 'unknown' })
  const unknown = await fails(desk, 'gemini', '', 'LAYOUT_UNKNOWN')
  assert.ok(unknown.error.health)
  const { answered, failed, timedOut } =
    (await rig.until('they are counted', (s) => s.chats.gemini.failed === before.failed + 2)).chats.gemini
  assert.deepEqual([answered, failed, timedOut], [before.answered, before.failed + 2, before.timedOut])
})

test('a cancelled prompt presses stop; a closed tab and a stopped extension end it', async () => {
  const gives = new AbortController()
  const { prompt } = fresh('[[slow ms=20000]]')
  const asked = call(desk, 'chat_gemini', { prompt }, { signal: gives.signal })
  await rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
  assert.deepEqual(
    await rig.panel.evaluate(async () => [await chrome.action.getBadgeText({}), await chrome.action.getTitle({})]),
    ['1', 'Portolan: driving Gemini'],
  )
  gives.abort()
  await assert.rejects(asked)
  await happens(() => pages.stopped('gemini'))
  assert.equal(pages.stopped('gemini'), 1)

  await rig.until('no runs', (s) => !s.runs.length)
  const closed = fails(desk, 'gemini', '[[slow ms=20000]]', 'TAB_CLOSED')
  await rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
  const tab = (await rig.browser.targets()).find((t) =>
    t.type === 'page' && t.url.startsWith('https://gemini.google.com/')
  )!
  await rig.browser.cdp.send('Target.closeTarget', { targetId: tab.targetId })
  await closed
  await ask(desk, 'gemini') // in another conversation

  await rig.until('no runs', (s) => !s.runs.length)
  const before = pages.stopped('gemini')
  const stopped = call(desk, 'chat_gemini', { prompt: fresh('[[slow ms=20000]]').prompt })
  await rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
  await rig.ask('stop', {})
  assert.ok((await stopped).error)
  await happens(() => pages.stopped('gemini') !== before)
  assert.equal(pages.stopped('gemini'), before + 1)
  assert.deepEqual((await rig.until('no runs', (s) => !s.runs.length)).stopped, true)
  await rig.ask('go', {})
  await rig.connected()
  await hasTool(desk, 'chat_gemini')
})

test('from the side panel a run is shown, handed over and cancelled', async () => {
  await rig.until('no runs', (s) => !s.runs.length)
  const { prompt, token } = fresh('[[slow ms=20000]]')
  const asked = call(desk, 'chat_gemini', { prompt })
  const { runs: [run] } = await rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
  await rig.ask('showRun', { id: run!.id })
  await rig.panel.until(
    async () =>
      (await chrome.windows.getAll({ populate: true })).some((w) =>
        w.focused && w.tabs?.some((t) => t.active && t.url?.startsWith('https://gemini.google.com/'))
      ),
    [],
    'its tab is in front',
  )
  await rig.ask('cancelRun', { id: run!.id })
  assert.match((await asked).text, /\(CANCELLED\)$/)
  await rig.until('no runs', (s) => !s.runs.length)

  await rig.ask('setChat', { site: 'gemini', patch: { mode: 'assist' } })
  const assisted = call(desk, 'chat_gemini', { prompt })
  await rig.until('it waits for the person', (s) => s.runs.some((r) => r.phase === 'handover'))
  const target = (await rig.browser.targets()).find((t) =>
    t.type === 'page' && t.url.startsWith('https://gemini.google.com/')
  )!
  const tab = await CdpPage.attach(rig.browser.cdp, target.targetId)
  await tab.evaluate(() => {
    const find = (root: ParentNode): Element | undefined => {
      for (const e of root.querySelectorAll('*')) {
        if (e.matches('[data-mat-icon-name=send]')) return e.closest('button') ?? e
        const found = e.shadowRoot && find(e.shadowRoot)
        if (found) return found
      }
      return undefined
    }
    ;(find(document) as HTMLElement).click()
  })
  await rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
  const { runs: [mine] } = await rig.state()
  await tab.until(
    (token) => {
      const text = (root: ParentNode): string =>
        [...root.querySelectorAll('*')].map((e) =>
          (e.matches('message-content') ? e.textContent ?? '' : '') + (e.shadowRoot ? text(e.shadowRoot) : '')
        ).join('')
      return text(document).includes(token)
    },
    [token],
    'a part of the answer has arrived',
  )
  await rig.ask('handOver', { id: mine!.id })
  const { structured, error } = await assisted
  assert.ok(!error)
  assert.ok((structured as unknown as Answered).evidence.includes('handed over by the person'))
  assert.ok(!/tk\d+x/.test((structured as unknown as Answered).answer.replaceAll(token, '')))
  await tab.detach()
  await rig.ask('setChat', { site: 'gemini', patch: { mode: 'auto' } })
})

test('a site that is switched off, its own limit, and a full queue', async () => {
  await rig.ask('setChat', { site: 'gemini', patch: { enabled: false } })
  await hasTool(desk, 'chat_gemini', false)
  await rig.ask('setChat', { site: 'gemini', patch: { enabled: true, perHour: 1 } })
  await hasTool(desk, 'chat_gemini')
  assert.match((await fails(desk, 'gemini', '', 'RATE_LIMITED')).text, /as the person set it/)
  await rig.ask('setChat', { site: 'gemini', patch: { perHour: 1000 } })
  const gives = new AbortController()
  const many = Array.from(
    { length: 12 },
    () =>
      call(desk, 'chat_gemini', { prompt: fresh('[[slow ms=4000]]').prompt }, { signal: gives.signal }).catch(() =>
        undefined
      ),
  )
  const full = await Promise.race(many)
  assert.match(full!.text, /\(QUEUE_FULL\)$/)
  gives.abort()
  await Promise.all(many)
  await rig.until('no runs', (s) => !s.runs.length)
})

test('assist: the person sends and hands over', async () => {
  await rig.ask('setChat', { site: 'chatgpt', patch: { mode: 'assist' } })
  const { token, prompt } = fresh()
  const asked = call(desk, 'chat_chatgpt', { prompt })
  const { runs } = await rig.until('it is handed over', (s) => s.runs.some((r) => r.phase === 'handover'))
  assert.equal(pages.prompts('chatgpt').length, 0, 'nothing was sent')
  const target = (await rig.browser.targets()).find((t) =>
    t.type === 'page' && t.url.startsWith('https://chatgpt.com/')
  )!
  const tab = await CdpPage.attach(rig.browser.cdp, target.targetId)
  await tab.click(`document.querySelector('[data-testid=send-button], button[aria-label*=Send]')`)
  const r = await asked
  assert.ok(r.text.includes(token), r.text)
  assert.equal(runs[0]!.mode, 'assist')
  await tab.detach()
  await rig.ask('setChat', { site: 'chatgpt', patch: { mode: 'auto' } })
})

test('a killed worker: the client gets an error at once, and the next prompt is answered', async () => {
  await rig.until('no runs', (s) => !s.runs.length)
  const asked = call(desk, 'chat_chatgpt', { prompt: fresh('[[slow ms=8000]]').prompt })
  await rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
  const begun = Date.now()
  await rig.browser.killWorker()
  const r = await asked
  console.log(`# told after ${Date.now() - begun} ms`)
  assert.ok(r.error && /disconnected|reconnecting/.test(r.text), r.text)
  await rig.connected()
  await hasTool(desk, 'chat_chatgpt')
  await ask(desk, 'chatgpt')
})

test('a worker that is killed while a page loads leaves no script behind for the tabs of the person', async () => {
  await rig.panel.evaluate(async () => {
    for (const { id } of await chrome.tabs.query({ url: 'https://chatgpt.com/*' })) await chrome.tabs.remove(id!)
  })
  const scripts = () => rig.panel.evaluate(async () => (await chrome.scripting.getRegisteredContentScripts()).length)
  pages.set('chatgpt', { hangs: true })
  const asked = call(desk, 'chat_chatgpt', { prompt: fresh().prompt })
  while (!await scripts());
  await rig.killWorker()
  assert.ok((await asked).error)
  pages.set('chatgpt', { hangs: false })
  await hasTool(desk, 'chat_chatgpt')
  assert.equal(await scripts(), 0)
  await ask(desk, 'chatgpt')
})

test('an extension that is reloaded while a chat answers uses its tab again', async () => {
  const { token, prompt } = fresh('[[pause ms=60000]]')
  const asked = call(desk, 'chat_chatgpt', { prompt })
  await rig.until('it answers', (s) => s.runs.some((r) => r.prompt.includes(token) && r.phase === 'answering'))
  const tabs = () =>
    rig.panel.evaluate(async () => (await chrome.tabs.query({ url: 'https://chatgpt.com/*' })).map((t) => t.id))
  const before = await tabs()
  await rig.reload()
  const r = await asked
  assert.ok(r.error && /disconnected|reconnecting/.test(r.text), r.text)
  await hasTool(desk, 'chat_chatgpt')
  await ask(desk, 'chatgpt')
  assert.deepEqual(await tabs(), before)
})

test("chat_snapshot counts the selectors' matches, and has no one's text", async () => {
  const { token } = fresh()
  await call(desk, 'chat_gemini', { prompt: `token:${token}` })
  const r = await call(desk, 'chat_snapshot', { service: 'gemini' })
  assert.ok(!r.error, r.text)
  assert.ok(!r.text.includes(token))
  assert.ok(Object.keys(r.structured.health as object).length)
})

const rounds = Number(process.env.PORTOLAN_CHAT_ROUNDS ?? (soak ? 3 : 1))
test(`${rounds} rounds of each site without a wrong or stale answer, with an old conversation on the page`, async () => {
  for (let round = 0; round < rounds; round++) {
    pages.set('chatgpt', { layout: round % 2 ? 'article' : 'turn-key', old: round % 3 ? 0 : 800 })
    pages.set('gemini', { old: 800 })
    await Promise.all(sites.map((site) => ask(round % 2 ? desk : http, site)))
  }
})
