import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Site } from '../../extension/chats/drivermessages.ts'
import { listen, type Listening } from '../rig/harness.ts'
import { soak } from '../rig/soak.ts'
import { Asking, sites, sureness } from './asking.ts'
import { hasTool } from './rig.ts'

// Chats in hidden tabs, without DevTools, which would make the tabs visible.

let asking: Asking
let elsewhere: Listening
before(async () => {
  elsewhere = await listen((_, res) =>
    void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>')
  )
  asking = await Asking.create()
  await watchMoves()
})
after(async () => {
  await asking?.close()
  await elsewhere?.close()
})
beforeEach(() => asking.pages.reset())

/** The user's window and tab, with the panel. */
const person = () =>
  asking.rig.panel.evaluate(async () => {
    const mine = (await chrome.tabs.getCurrent())!
    const focused = (await chrome.windows.getAll()).filter((w) => w.focused).map((w) => w.id!)
    return { windowId: mine.windowId, active: mine.active, focused, last: (await chrome.windows.getLastFocused()).id! }
  })

/** Puts another tab in front of a driven one. */
const cover = (windowId: number) =>
  asking.rig.panel.evaluate(
    async (windowId) => (await chrome.tabs.create({ windowId, active: true, url: 'about:blank' })).id!,
    windowId,
  )

/** Events of the browser: windows that came, windows that got the focus, and tabs that came in front. */
interface Moves {
  created: number[]
  focused: number[]
  activated: number[]
}

/** The outcome of some work, and what the browser did meanwhile. */
async function during<T>(work: () => Promise<T>): Promise<Moves & { outcome: T }> {
  const before = await moves()
  const outcome = await work()
  const { created, focused, activated } = await moves()
  return {
    outcome,
    created: created.slice(before.created.length),
    focused: focused.slice(before.focused.length),
    activated: activated.slice(before.activated.length),
  }
}

const moves = () => asking.rig.panel.evaluate(() => (globalThis as unknown as { moves: Moves }).moves)

/** Records the moves of the browser in the panel. */
const watchMoves = () =>
  asking.rig.panel.evaluate(() => {
    const moves: Moves = { created: [], focused: [], activated: [] }
    chrome.windows.onCreated.addListener(({ id }) => void moves.created.push(id!))
    chrome.windows.onFocusChanged.addListener((id) => void moves.focused.push(id))
    chrome.tabs.onActivated.addListener(({ tabId }) => void moves.activated.push(tabId))
    Object.assign(globalThis, { moves })
  })

async function hiddenWhile<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  assert.equal((await asking.look(tabId)).hidden, true)
  const { outcome, activated } = await during(work)
  assert.ok(!activated.includes(tabId), 'the tab came in front')
  assert.equal((await asking.look(tabId)).hidden, true)
  return outcome
}

test("a run has its own window, wide enough, and the user's stays in front", async () => {
  const before = await person()
  assert.deepEqual(before.focused, [before.windowId])
  const { created, focused } = await during(() => Promise.all(sites.map((site) => asking.ask(site))))
  assert.deepEqual([created.length, focused], [3, []])
  assert.deepEqual(await person(), before)
  const windows = await Promise.all(sites.map((site) => asking.tab(site)))
  assert.equal(new Set([...windows.map((w) => w.windowId), before.windowId]).size, 4)
  for (const { width, focused } of windows) assert.ok(width >= 1280 && !focused, `${width} px, focused=${focused}`)
})

test('with the option "focus" the driven tab is in front', async () => {
  await asking.rig.ask('setOptions', { focus: true })
  const { focused } = await during(() => asking.ask('gemini'))
  const { windowId, focused: isInFront } = await asking.tab('gemini')
  assert.deepEqual([isInFront, focused.includes(windowId)], [true, true])
  await asking.rig.ask('setOptions', { focus: false })
})

/** Takes a driven tab to a page of another site, as a person does who goes on reading there. */
async function takeAway(site: Site): Promise<number> {
  const { id } = await asking.tab(site)
  await asking.rig.panel.evaluate((id, url) => chrome.tabs.update(id, { url }).then(() => {}), id, elsewhere.url)
  await asking.rig.panel.until((id) => chrome.tabs.get(id).then((t) => t.title === 'Elsewhere'), [id], 'another site')
  return id
}

/** The title of a tab, if there is one. */
const titleOf = (id: number) =>
  asking.rig.panel.evaluate((id) => chrome.tabs.get(id).then((t) => t.title, () => undefined), id)

test('a tab that a person has taken to another site is theirs', async () => {
  await asking.ask('chatgpt')
  const taken = await takeAway('chatgpt')
  await asking.ask('chatgpt')
  assert.notEqual((await asking.tab('chatgpt')).id, taken)
  assert.equal(await titleOf(taken), 'Elsewhere')
})

test('an idle tab is closed after five minutes, unless the user looks at it, or has taken it elsewhere', async () => {
  await asking.ask('chatgpt')
  await asking.ask('aistudio')
  const taken = await takeAway('aistudio')
  await asking.ask('gemini')
  const [hidden, { id }] = [await asking.tab('chatgpt'), await asking.tab('gemini')]
  await asking.rig.panel.evaluate(
    async (id) => void await chrome.windows.update((await chrome.tabs.get(id)).windowId, { focused: true }),
    id,
  )
  const shown = await asking.tab('gemini')
  assert.deepEqual([hidden.focused, shown.focused], [false, true])
  // The worker's clock cannot be moved, but its stored times can.
  await asking.rig.panel.evaluate(async () => {
    const { places } = await chrome.storage.session.get('places') as { places: Record<string, { usedAt: number }> }
    for (const place of Object.values(places)) place.usedAt -= 6 * 60_000
    await chrome.storage.session.set({ places })
  })
  await asking.rig.killWorker()
  // Its alarm rings every 30 s.
  await asking.rig.panel.until(
    (id) => chrome.tabs.get(id).then(() => false, () => true),
    [hidden.id],
    'the tab is closed',
    45_000,
  )
  assert.equal((await asking.tab('gemini')).id, shown.id)
  await asking.rig.panel.until(
    () => chrome.storage.session.get('places').then(({ places }) => !('aistudio' in (places as object))),
    [],
    "the tab is the person's",
    45_000,
  )
  assert.equal(await titleOf(taken), 'Elsewhere')
  await hasTool(asking.client, 'chat_chatgpt')
  await asking.ask('chatgpt')
})

const marks = ['[[think ms=1200 skip=1]]', '[[slow ms=3000]]', ...soak ? ['', '[[markdown]]'] : []]
const others = soak ? [['claude', 'perplexity', 'grok'], ['deepseek', 'mistral', 'copilot']] as const : []

for (const some of [sites, ...others])
  test(`S12: hidden tabs answer like others: ${some.join(', ')}`, async () => {
    for (const site of some)
      await asking.rig.ask('setChat', { site, patch: { enabled: true, acceptedAt: Date.now(), perHour: 1000 } })
    await hasTool(asking.client, `chat_${some.at(-1)}`)
    await Promise.all(some.map(async (site) => {
      await asking.ask(site) // opens the tab
      const { id, windowId } = await asking.tab(site)
      await cover(windowId)
      for (const mark of marks) {
        const answered = await hiddenWhile(id, () => asking.ask(site, mark))
        assert.equal(answered.confidence, sureness(site), `${site} ${mark}: ${answered.evidence.join()}`)
        const after = await asking.tab(site)
        assert.deepEqual([after.id, after.active], [id, false])
      }
    }))
  })
