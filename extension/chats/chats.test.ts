import { test } from 'node:test'
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Clients } from '../calls/clients.ts'
import type { Options } from '../messages.ts'
import { ToolFault, type ToolCall } from '../tools/tool.ts'
import { Chats } from './chats.ts'
import { Comparisons } from './comparisons.ts'
import { compareTools } from './comparetools.ts'
import { longestQueue } from './queue.ts'
import type { Site } from './sites/site.ts'
import { SiteSettings } from './sitesettings.ts'
import { StartedCalls, type Perform } from './started.ts'
import { suspicious } from './suspicious.ts'
import { chatTools } from './tools.ts'

/** A browser that keeps nothing, and whose tabs never load. */
const area = { get: async () => ({}), set: async () => {}, remove: async () => {} }
Object.assign(globalThis, {
  chrome: {
    storage: { local: area, session: area },
    runtime: { getURL: (path: string) => `chrome-extension://x/${path}` },
    permissions: { contains: async () => true },
    scripting: { registerContentScripts: () => new Promise(() => {}), unregisterContentScripts: async () => {} },
  },
})

test('prompts that never left the queue do not use up the hour', async (t) => {
  const chats = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  await chats.load()
  chats.set('gemini', { enabled: true, perHour: 30 })
  const gives = new AbortController()
  t.after(() => gives.abort())
  const ask = () => {
    const call = { client: { key: 'k', name: 'n' }, signal: gives.signal } as ToolCall
    return chats.ask({ site: 'gemini', prompt: 'p' }, call, { step() {}, partial() {} }).catch((e) => e.code)
  }
  const used = () => chats.views.gemini.usedThisHour

  const asked = Array.from({ length: 1 + longestQueue }, ask)
  assert.equal(used(), 1 + longestQueue) // those that wait are counted, so that no more are admitted
  for (let i = 0; i < 30; i++) assert.equal(await ask(), 'QUEUE_FULL')
  assert.equal(used(), 1 + longestQueue)

  gives.abort()
  assert.deepEqual(await Promise.all(asked.slice(1)), Array(longestQueue).fill('CANCELLED'))
  assert.equal(used(), 1)
})

test('a history whose database never answers keeps no client waiting', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const silent = { indexedDB: { open: () => ({}) }, IDBKeyRange: { upperBound: () => {} } }
  Object.assign(globalThis, silent)
  t.after(() => {
    for (const name in silent) delete globalThis[name as keyof typeof silent]
  })
  const chats = new Chats(() => ({ history: true, historyDays: 30 }) as Options, () => {}, () => {}, () => {})
  await chats.load()
  chats.set('gemini', { enabled: true, perHour: 30 })
  const call = { client: { key: 'k', name: 'n' }, signal: new AbortController().signal } as ToolCall
  const ask = () =>
    chats.ask({ site: 'gemini', prompt: 'p' }, call, { step() {}, partial() {} }).catch((e) => e.code as string)
  for (let i = 0; i < 1 + longestQueue; i++) void ask()
  let code
  void ask().then((c) => (code = c))
  for (let i = 0; i < 100 && !code; i++) {
    t.mock.timers.tick(1000)
    await new Promise(setImmediate)
  }
  assert.equal(code, 'QUEUE_FULL')
})

test('a bound that was lowered says when there is room again', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  const settings = new SiteSettings(() => {})
  await settings.load()
  settings.set('gemini', { enabled: true })
  for (let n = 0; n < 5; n++, t.mock.timers.tick(60_000)) settings.admit('gemini')
  settings.set('gemini', { perHour: 2 })
  assert.throws(() => settings.admit('gemini'), { code: 'RATE_LIMITED', message: /Try again in 58 minutes\.$/ })
  t.mock.timers.tick(58 * 60_000)
  settings.admit('gemini')
})

test('prompts that are counted before the clock is set back do not use up hours to come', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2040) })
  const settings = new SiteSettings(() => {})
  await settings.load()
  settings.set('gemini', { enabled: true, perHour: 1 })
  settings.admit('gemini')
  t.mock.timers.setTime(Date.UTC(2040) - 60_000) // a small correction does not free the hour
  assert.throws(() => settings.admit('gemini'), { code: 'RATE_LIMITED' })
  t.mock.timers.setTime(Date.UTC(2030))
  settings.admit('gemini')
})

test('calls that open the page of a chat at the same moment open one window', async (t) => {
  const created: string[] = []
  const tab = () => ({ id: created.length, windowId: 1, url: created.at(-1), status: 'complete' })
  const getTab = async (id: number) => id > 0 ? tab() : Promise.reject(new Error('no tab'))
  const scripts = new Set<string>()
  const { chrome } = globalThis as unknown as { chrome: Record<string, object> }
  const before = { ...chrome }
  t.after(() => Object.assign(chrome, before))
  Object.assign(chrome, {
    windows: { create: async ({ url }: { url: string }) => ({ tabs: [(created.push(url), tab())] }) },
    tabs: { get: getTab, update: async () => tab() },
    scripting: {
      executeScript: async () => [{ result: Math.random() }],
      registerContentScripts: async ([{ id }]: [{ id: string }]) => {
        assert.ok(!scripts.has(id), 'as in the browser, no id is registered twice')
        scripts.add(id)
      },
      unregisterContentScripts: async ({ ids: [id] }: { ids: [string] }) => void scripts.delete(id),
    },
  })
  const { tabs, profiles } = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  const spec = profiles.of('gemini')
  const { signal } = new AbortController()
  const ids = [tabs.any(spec, signal), tabs.open(spec, spec.newChat, false, signal), tabs.any(spec, signal)]
  assert.deepEqual(await Promise.all(ids), [1, 1, 1])
  assert.deepEqual(created, [spec.newChat])
})

test('a clock that is set while a page loads neither ends the wait nor prolongs it', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2040) })
  const looks: (() => void)[] = []
  const look = () => new Promise<void>((resolve) => looks.push(resolve))
  let loaded = false
  const tab = () => ({ id: 1, windowId: 1, url: 'https://gemini.google.com/app', status: 'complete' })
  const getTab = async (id: number) => id > 0 ? tab() : Promise.reject(new Error('no tab'))
  const { chrome } = globalThis as unknown as { chrome: Record<string, object> }
  const before = { ...chrome }
  t.after(() => Object.assign(chrome, before))
  Object.assign(chrome, {
    windows: { create: async () => ({ tabs: [tab()] }) },
    tabs: { get: getTab },
    scripting: {
      executeScript: async () => {
        for (const seen of looks.splice(0)) seen()
        return [{ result: loaded ? 1 : 0 }]
      },
      registerContentScripts: async () => {},
      unregisterContentScripts: async () => {},
    },
  })
  for (const hours of [10, -10]) {
    loaded = false
    const { tabs, profiles } = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
    const spec = profiles.of('gemini')
    const ends = performance.now() + 60_000
    const opened = tabs.open(spec, spec.newChat, false, new AbortController().signal, ends)
    let fault: unknown
    const ended = opened.catch((e: unknown) => (fault = e))
    await look()
    t.mock.timers.setTime(Date.UTC(2040) + hours * 3_600_000)
    for (let n = 0; n < 3 && !fault; n++) await Promise.race([look(), ended])
    assert.equal(fault, undefined)
    loaded = true
    assert.equal(await opened, 1)
  }
})

test('a remembered conversation whose page has no field for a prompt gives way to a new one', async () => {
  const chats = new Chats(() => ({ reuse: 'client' }) as Options, () => {}, () => {}, () => {})
  await chats.load()
  chats.set('mistral', { enabled: true })
  const opened: string[] = []
  const attempt = async (_: unknown, url: string) => {
    opened.push(url)
    if (opened.length === 2) throw new ToolFault('LAYOUT_UNKNOWN', 'no field', { state: { phase: 'opening' } })
    return { answer: 'a', conversationId: `talk-${opened.length}`, url, timings: {}, flags: [] }
  }
  Object.assign(chats, { attempt })
  const call = { client: { key: 'k', name: 'n' }, signal: new AbortController().signal } as ToolCall
  const ask = () => chats.ask({ site: 'mistral', prompt: 'p' }, call, { step() {}, partial() {} })
  await ask()
  assert.equal((await ask()).conversationId, 'talk-3') // the person has deleted the first one
  const newChat = 'https://chat.mistral.ai/chat'
  assert.deepEqual(opened, [newChat, `${newChat}/talk-1`, newChat])
})

/** Carries out a consensus of two chats that answer a prompt by its number. Returns what came of it. */
async function consensus(answers: (site: Site, n: number) => string, rounds = 2) {
  const chats = new Chats(() => ({ reuse: 'client' }) as Options, () => {}, () => {}, () => {})
  await chats.load()
  const services: Site[] = ['chatgpt', 'gemini']
  for (const site of services) chats.set(site, { enabled: true })
  const asked = { chatgpt: 0, gemini: 0 } as Record<Site, number>
  // The work of a page.
  const attempts = async ({ prompt: { site } }: { prompt: { site: Site } }) => (
    { answer: answers(site, ++asked[site]), conversationId: `talk-${site}`, url: '', timings: {}, flags: [] }
  )
  Object.assign(chats, { attempts })
  const client = { key: 'k', name: 'n', grants: {} }
  const call = { client, signal: new AbortController().signal } as ToolCall
  const order = { form: 'consensus', prompt: 'p', services, rounds, judge: 'gemini', maxChars: 1000 } as const
  const comparisons = new Comparisons(chats, () => {})
  const compared = await comparisons.run(order, call, () => {})
  return { chats, call, compared, comparisons }
}

test('comparisons that run at once do not promise themselves the same prompts', async (t) => {
  const chats = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  await chats.load()
  const services: Site[] = ['chatgpt', 'gemini']
  for (const site of services) chats.set(site, { enabled: true, perHour: 5 })
  const gate = Promise.withResolvers<void>()
  const gives = new AbortController()
  t.after(() => gives.abort())
  const attempts = async ({ prompt: { site } }: { prompt: { site: Site } }) => {
    await gate.promise
    return { answer: site, conversationId: null, url: '', timings: {}, flags: [] }
  }
  Object.assign(chats, { attempts })
  const call = { client: { key: 'k', name: 'n', grants: {} as object }, signal: gives.signal } as ToolCall
  const order = { form: 'consensus', prompt: 'p', services, rounds: 2, judge: 'client', maxChars: 1000 } as const
  const comparisons = new Comparisons(chats, () => {})
  const run = (rounds: number) => comparisons.run({ ...order, rounds }, call, () => {})
  const under = [run(2), run(2)]
  await assert.rejects(run(2), { code: 'QUOTA', message: /, and 1 are left/ })
  gate.resolve()
  await Promise.all(under)
  assert.equal(chats.settings.left('gemini'), 1)
  await run(1) // what is over holds nothing back
})

test('a chat that a client may not use, or not unasked, gets no prompt by the tools of several chats', async () => {
  const chats = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  await chats.load()
  const services: Site[] = ['chatgpt', 'gemini', 'claude', 'grok']
  for (const site of services) chats.set(site, { enabled: true })
  const asked: Site[] = []
  const attempts = async ({ prompt: { site } }: { prompt: { site: Site } }) => {
    asked.push(site)
    return { answer: site, conversationId: null, url: '', timings: {}, flags: [] }
  }
  Object.assign(chats, { attempts })
  const clients = new Clients(() => {})
  const { key } = clients.seen({ name: 'Editor' }, 'bridge')
  await clients.setGrant(key, 'chat_chatgpt', 'deny')
  await clients.setGrant(key, 'chat_gemini', 'ask')
  await clients.setGrant(key, 'chat_claude', 'allow')
  const { signal } = new AbortController()
  const call = { client: clients.seen({ name: 'Editor' }, 'bridge'), signal, args: { prompt: 'p' }, progress() {} }
  const tools = [...chatTools(chats), ...compareTools(new Comparisons(chats, () => {}), services)]
  for (const name of ['chat_all', 'chat_compare', 'chat_consensus']) {
    const tool = tools.find((t) => t.name === name)!
    const { structuredContent } = await tool.run(call as unknown as ToolCall)
    const { answers, ...rest } = structuredContent as Record<string, Record<string, object>>
    const outcomes = answers ?? rest
    const codes = services.map((site) => (outcomes[site] as { error?: { code: string } }).error?.code)
    assert.deepEqual(codes, ['DENIED', 'DENIED', undefined, undefined], name)
  }
  assert.deepEqual([...new Set(asked)], ['claude', 'grok'])
})

test('a prompt that is sent again, because the site is stuck, counts again', async () => {
  const chats = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  await chats.load()
  let tries = 0
  let kind = ''
  const attempt = async () => {
    tries++
    throw new ToolFault('STUCK', 'stuck', { kind })
  }
  Object.assign(chats, { attempt })
  Object.assign(chats.tabs, { abandon: async () => {} })
  const call = { client: { key: 'k', name: 'n' }, signal: new AbortController().signal } as ToolCall
  const ask = async (site: Site, perHour: number, why: string) => {
    tries = 0
    kind = why
    chats.set(site, { enabled: true, perHour })
    await assert.rejects(chats.ask({ site, prompt: 'p' }, call, { step() {}, partial() {} }), { code: 'STUCK' })
    return [tries, chats.views[site].usedThisHour]
  }
  assert.deepEqual(await ask('gemini', 30, 'no response'), [3, 3])
  assert.deepEqual(await ask('chatgpt', 2, 'no response'), [2, 2], 'the limit ends the further tries')
  assert.deepEqual(await ask('claude', 1, 'stop button'), [3, 1], 'nothing was sent before')
})

test('a site whose pages the extension may not use is not opened for a snapshot', async (t) => {
  const { chrome } = globalThis as unknown as { chrome: Record<string, object> }
  const { permissions } = chrome
  t.after(() => Object.assign(chrome, { permissions }))
  Object.assign(chrome, { permissions: { contains: async () => false } })
  const chats = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  await chats.load()
  chats.set('gemini', { enabled: true })
  const snapshot = chatTools(chats).find((tool) => tool.name === 'chat_snapshot')!
  const call = { args: { service: 'gemini' }, signal: AbortSignal.abort() } as unknown as ToolCall
  const message = /may not use the pages of Gemini\. The person can allow it in the side panel/
  await assert.rejects(snapshot.run(call), { code: 'CHAT_DISABLED', message })
})

test('a later prompt does not continue a chat of a comparison', async () => {
  const { chats, call } = await consensus((site, n) => `${site} ${n}`)
  assert.deepEqual(chats.conversations.of(call.client, {}), [])
})

test('a site that gives a reason why its answer stays keeps its answer', async () => {
  const { compared } = await consensus((site, n) => n === 2 ? '**NO CHANGE**\n\nIt is right.' : `${site} ${n}`)
  assert.equal(compared.answers.get('gemini')!.answer, 'gemini 1')
})

test('a site that fails in one round and answers in the next has not failed', async () => {
  const { compared } = await consensus((site, n) => {
    if (site === 'chatgpt' && n === 2) throw new ToolFault('NETWORK_ERROR', 'no network')
    return `${site} ${n}`
  }, 3)
  assert.equal(compared.answers.get('chatgpt')!.answer, 'chatgpt 3')
  assert.deepEqual([...compared.faults], [])
})

test('comparisons that are shown do not keep whole answers', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  gc()
  const before = process.memoryUsage().heapUsed
  const shown = []
  for (let i = 0; i < 10; i++)
    shown.push((await consensus((site, n) => `${site} ${n} ${'x'.repeat(4e6)}`, 1)).comparisons.list)
  gc()
  assert.ok(process.memoryUsage().heapUsed - before < 20e6)
  assert.deepEqual(shown.flat().flatMap((c) => c.sites.map((s) => s.answer?.length)), Array(20).fill(4000))
})

test('chat_start gives a tool the defaults of its parameters', async () => {
  const chats = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  await chats.load()
  chats.set('aistudio', { enabled: true })
  const given: Record<string, unknown>[] = []
  const perform: Perform = async (_, args) => (given.push(args), { content: [] })
  const [start] = new StartedCalls(perform).tools(chatTools(chats))
  for (const more of [{}, { temperature: 0.2 }])
    await start!.run(
      { args: { tool: 'chat_aistudio', prompt: 'p', ...more }, client: { key: 'k' } } as unknown as ToolCall,
    )
  assert.deepEqual(given.map((args) => args.temperature), [0.7, 0.2])
})

test("many results of one client do not displace another client's", async () => {
  const chats = new Chats(() => ({}) as Options, () => {}, () => {}, () => {})
  await chats.load()
  chats.set('gemini', { enabled: true })
  const [start, result] = new StartedCalls(async () => ({ content: [] })).tools(chatTools(chats))
  const call = (key: string, args: object) => ({ args, client: { key }, signal: new AbortController().signal })
  const begin = async (key: string) => {
    const { structuredContent } = await start!.run(
      call(key, { tool: 'chat_gemini', prompt: 'p' }) as unknown as ToolCall,
    )
    return (structuredContent as { id: string }).id
  }
  const fetched = (key: string, id: string) => result!.run(call(key, { id }) as unknown as ToolCall)
  const other = await begin('other')
  const own: string[] = []
  for (let n = 0; n < 60; n++) own.push(await begin('flood'))
  assert.deepEqual(await fetched('other', other), { content: [] })
  assert.deepEqual(await fetched('flood', own.at(-1)!), { content: [] })
  await assert.rejects(fetched('flood', own[0]!), { code: 'gone' })
})

test('one chat is no comparison, also if chat_start lets it through', async () => {
  const comparisons = new Comparisons({} as Chats, () => {})
  const order = { form: 'compare', prompt: 'p', services: ['gemini'], rounds: 1, judge: 'rotate', maxChars: 9 } as const
  const asked = comparisons.run({ ...order, services: [...order.services] }, {} as ToolCall, () => {})
  await assert.rejects(asked, { code: 'INVALID_ARGUMENTS' })
})

test('digits of any script are the digits that a question has asked for', () => {
  assert.deepEqual(['٧', '7', '７', 'seven'].map((answer) => suspicious('ما حاصل 3 + 4؟', answer)), [
    false,
    false,
    false,
    true,
  ])
})
