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

async function hiddenWhile<T>(tabId: number, work: Promise<T>): Promise<T> {
  let looks = 0
  let done = false
  const watched = (async () => {
    while (!done) {
      const seen = await asking.look(tabId).catch(() => undefined) // the tab navigates
      if (seen) {
        assert.equal(seen.hidden, true)
        looks++
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  try {
    return await work
  } finally {
    done = true
    await watched
    assert.ok(looks > 3, `${looks} looks`)
  }
}

test("a run has its own window, wide enough, and the user's stays in front", async () => {
  const before = await person()
  assert.deepEqual(before.focused, [before.windowId])
  const seen: Awaited<ReturnType<typeof person>>[] = []
  const runs = Promise.all(sites.map((site) => asking.ask(site)))
  let over = false
  const watched = (async () => {
    while (!over) {
      seen.push(await person())
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  await runs.finally(() => {
    over = true
  })
  await watched
  assert.ok(seen.length > 10)
  for (const each of seen) assert.deepEqual(each, before)
  const windows = await Promise.all(sites.map((site) => asking.tab(site)))
  assert.equal(new Set([...windows.map((w) => w.windowId), before.windowId]).size, 4)
  for (const { width, focused } of windows) assert.ok(width >= 1280 && !focused, `${width} px, focused=${focused}`)
})

test('with the option "focus" the driven tab is in front', async () => {
  await asking.rig.ask('setOptions', { focus: true })
  await asking.ask('gemini')
  assert.equal((await asking.tab('gemini')).focused, true)
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
        const answered = await hiddenWhile(id, asking.ask(site, mark))
        assert.equal(answered.confidence, sureness(site), `${site} ${mark}: ${answered.evidence.join()}`)
        const after = await asking.tab(site)
        assert.deepEqual([after.id, after.active], [id, false])
      }
    }))
  })
