import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Site } from '../../extension/chats/drivermessages.ts'
import { Asking, hosts, sites } from './asking.ts'
import { CdpPage } from '../rig/cdp.ts'

// The user types and clicks in a driven tab (S13).

let asking: Asking
before(async () => {
  asking = await Asking.create()
})
after(() => asking?.close())
beforeEach(async () => {
  asking.pages.reset()
  // A tab with the person's words would stay beside the next test's own.
  await asking.rig.panel.evaluate(async (url) => {
    for (const { id } of await chrome.tabs.query({ url })) await chrome.tabs.remove(id!)
  }, sites.map((site) => `${hosts[site]}/*`))
})

/** The driven tab, for input of the user's keyboard and mouse. */
async function hands(site: Site): Promise<CdpPage> {
  const { cdp } = asking.rig.browser
  const target = (await asking.rig.browser.targets()).find((t) =>
    t.type === 'page' && t.url.startsWith(`${hosts[site]}/`)
  )
  return CdpPage.attach(cdp, target!.targetId)
}

async function type(tab: CdpPage, text: string): Promise<void> {
  for (const key of text)
    for (const type of ['keyDown', 'keyUp'])
      await tab.send('Input.dispatchKeyEvent', {
        type,
        key,
        text: type === 'keyDown' ? key : undefined,
      })
}

/** Enables the send button that `[[disabled]]` holds back. */
const wake = async (site: Site) =>
  asking.rig.panel.evaluate(async (tabId) => {
    await chrome.scripting.executeScript({ target: { tabId }, func: () => void dispatchEvent(new Event('wake')) })
  }, (await asking.tab(site)).id)

/** Lets a minute pass for the driver of a tab. */
const passMinute = async (site: Site) =>
  asking.rig.panel.evaluate(async (tabId) => {
    const func = () => {
      const passed = performance.now.bind(performance)
      performance.now = () => passed() + 60_000
    }
    await chrome.scripting.executeScript({ target: { tabId }, func })
  }, (await asking.tab(site)).id)

const runOf = async (site: Site, phase: string) =>
  (await asking.rig.until(`${site} is ${phase}`, (s) => s.runs.some((r) => r.site === site && r.phase === phase))).runs
    .find((r) => r.site === site)!

test("while the user types nothing is sent; then the run continues, and the user's words stay", async () => {
  await Promise.all(sites.map(async (site) => {
    const asked = asking.ask(site, '[[disabled ms=60000]]')
    const { id } = await runOf(site, 'sending')
    const tab = await hands(site)
    await type(tab, 'mine')
    await runOf(site, 'paused')
    await tab.detach()
    await wake(site)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await runOf(site, 'paused')
    assert.equal(asking.pages.prompts(site).length, 0)
    const { field } = await asking.look((await asking.tab(site)).id)
    assert.match(field, /mine/)
    await asking.rig.ask('resumeRun', { id })
    await asked
    assert.equal((await asking.look((await asking.tab(site)).id)).field.trim(), 'mine')
  }))
})

test('a pause until the deadline fails, and the tab is left alone', async () => {
  const asked = asking.fails('gemini', '[[disabled ms=60000]]', 'PAUSED_BY_USER', { timeoutSeconds: 60 })
  await runOf('gemini', 'sending')
  const tab = await hands('gemini')
  await type(tab, 'mine')
  await tab.detach()
  await runOf('gemini', 'paused')
  await wake('gemini')
  await passMinute('gemini')
  const fault = await asked
  assert.equal(fault.sent, 0)
  assert.equal(fault.state!.phase, 'sending')
  assert.match((await asking.look((await asking.tab('gemini')).id)).field, /mine/)
})

test('an answer is read during a pause too, and its phase is reported after it', async () => {
  const asked = asking.ask('chatgpt', '[[pause ms=60000]]')
  const { id } = await runOf('chatgpt', 'answering')
  const tab = await hands('chatgpt')
  await type(tab, 'mine')
  await runOf('chatgpt', 'paused')
  await asking.rig.ask('resumeRun', { id })
  await runOf('chatgpt', 'answering')
  await type(tab, 'more')
  await runOf('chatgpt', 'paused')
  await tab.detach()
  asking.pages.goOn('chatgpt')
  await asked
  assert.equal((await asking.look((await asking.tab('chatgpt')).id)).field.trim(), 'minemore')
})

test("a tab with a person's words is theirs: the next prompt has another one, and none closes it", async () => {
  await asking.ask('aistudio')
  await asking.idle()
  const { id } = await asking.tab('aistudio')
  const tab = await hands('aistudio')
  await tab.click(`document.querySelector('textarea[formcontrolname]')`)
  await type(tab, 'a letter')
  await tab.detach()
  const { url } = await asking.ask('aistudio')
  assert.equal((await asking.look(id)).field.trim(), 'a letter')
  const tabs = () =>
    asking.rig.panel.evaluate(async () =>
      (await chrome.tabs.query({ url: 'https://aistudio.google.com/*' })).map((t) => [t.id!, t.url!] as const)
    )
  const other = (await tabs()).find(([, at]) => at === url)![0]
  await asking.ask('aistudio')
  assert.deepEqual((await tabs()).map(([id]) => id).sort(), [id, other].sort())
})

test('a tab that a person has only scrolled by the keyboard is driven again', async () => {
  await asking.ask('gemini')
  await asking.idle()
  const { id } = await asking.tab('gemini')
  const tab = await hands('gemini')
  await tab.click('document.body')
  for (const type of ['keyDown', 'keyUp']) await tab.send('Input.dispatchKeyEvent', { type, key: 'PageDown' })
  await tab.detach()
  await asking.ask('gemini')
  const tabs = await asking.rig.panel.evaluate((url) => chrome.tabs.query({ url }), `${hosts.gemini}/*`)
  assert.deepEqual(tabs.map((t) => t.id), [id])
})

test('a person who uses the tab of a prompt that gets no response keeps it, and it is not sent again', async () => {
  const failed = asking.fails('chatgpt', '[[noresponse]]', 'STUCK', { conversationId: 'new' })
  await runOf('chatgpt', 'waiting')
  const { id } = await asking.tab('chatgpt')
  const tab = await hands('chatgpt')
  await type(tab, 'mine')
  await tab.detach()
  await runOf('chatgpt', 'paused')
  assert.equal((await failed).sent, 1)
  assert.match((await asking.look(id)).field, /mine/)
})

test('an idle tab that a person has clicked in stays, because they may read it on a second screen', async () => {
  await asking.ask('chatgpt') // so it is the first one that is looked at
  await asking.ask('gemini')
  await asking.idle()
  const [read, unused] = [await asking.tab('chatgpt'), await asking.tab('gemini')]
  const tab = await hands('chatgpt')
  await tab.click('document.body')
  await tab.detach()
  await asking.rig.panel.evaluate(async (windowId) => {
    await chrome.tabs.create({ windowId, url: 'about:blank' }) // the click gave this window the focus
    const { places } = await chrome.storage.session.get('places') as { places: Record<string, { usedAt: number }> }
    for (const place of Object.values(places)) place.usedAt -= 6 * 60_000
    await chrome.storage.session.set({ places })
  }, read.windowId)
  await asking.rig.killWorker()
  await asking.rig.panel.until(
    (id) => chrome.tabs.get(id).then(() => false, () => true),
    [unused.id],
    'the other one is closed',
    45_000,
  )
  assert.equal((await asking.tab('chatgpt')).id, read.id)
})
