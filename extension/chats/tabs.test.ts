import assert from 'node:assert/strict'
import { test } from 'node:test'
import { siteSpecs } from './sites/index.ts'
import { ChatTabs } from './tabs.ts'

test('a page that does not load in time is a fault that says what to do', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const tab = { id: 1, windowId: 1, url: '', status: 'loading' }
  const area = { get: async () => ({}), set: async () => {} }
  let scripts: () => Promise<never> = () => new Promise(() => {})
  Object.assign(globalThis, {
    chrome: {
      storage: { local: area, session: area },
      runtime: { getURL: (path: string) => `chrome-extension://x/${path}` },
      tabs: {
        get: async (id: number) => id > 0 ? tab : Promise.reject(new Error('no tab')),
        remove: async () => {},
      },
      windows: { create: async () => ({ tabs: [tab] }) },
      scripting: {
        registerContentScripts: async () => {},
        unregisterContentScripts: async () => {},
        executeScript: () => scripts(),
      },
    },
  })
  const fault = async () => {
    let failed: Error | undefined
    new ChatTabs().open(siteSpecs.gemini, 'https://gemini.google.com/app', false, new AbortController().signal)
      .catch((e: Error) => (failed = e))
    while (!failed) {
      now += 5000
      t.mock.timers.tick(5000)
      await new Promise(setImmediate)
    }
    return failed.message
  }
  assert.equal(
    await fault(),
    'Gemini did not load in time. The page does not react. Check the connection, and try again.',
  )
  scripts = () => Promise.reject(new Error('The frame was removed.'))
  assert.equal(
    await fault(),
    'Gemini did not load in time. The frame was removed. Check the connection, and try again.',
  )
})

/** An idle tab of Gemini, whose page answers scripts as `script` says. `open` are the tabs of the browser. */
function idleTab(script: () => Promise<object[]>): { tabs: ChatTabs; open: Set<number> } {
  const { newChat } = siteSpecs.gemini
  const area = { get: async () => ({}), set: async () => {} }
  const open = new Set([1])
  const tab = (id: number) => ({ id, windowId: id, url: newChat, status: 'complete' })
  Object.assign(globalThis, {
    chrome: {
      storage: { local: area, session: area },
      runtime: { getURL: (path: string) => `chrome-extension://x/${path}` },
      tabs: {
        get: async (id: number) => open.has(id) ? tab(id) : Promise.reject(new Error('no tab')),
        remove: async (id: number) => void open.delete(id),
        update: async (id: number) => tab(id),
      },
      windows: {
        get: async () => ({ focused: false }),
        create: async () => {
          open.add(2)
          return { tabs: [tab(2)] }
        },
      },
      scripting: {
        registerContentScripts: async () => {},
        unregisterContentScripts: async () => {},
        executeScript: script,
      },
    },
  })
  const tabs = new ChatTabs()
  tabs.value = { gemini: { tabId: 1, windowId: 1, usedAt: 0 } }
  return { tabs, open }
}

test('an idle tab that is about to be closed does not become the tab of a prompt', async () => {
  const asked = Promise.withResolvers<void>()
  const isUsed = Promise.withResolvers<object[]>()
  let looks = 0
  // First the page is asked whether a person has used it.
  const { tabs, open } = idleTab(async () => {
    asked.resolve()
    return looks++ ? [{ result: looks }] : isUsed.promise
  })
  const tidied = tabs.tidy(() => false)
  await asked.promise
  const opened = tabs.open(siteSpecs.gemini, siteSpecs.gemini.newChat, false, new AbortController().signal)
  await new Promise(setImmediate)
  isUsed.resolve([{ result: false }])
  const [id] = await Promise.all([opened, tidied])
  assert.deepEqual([...open], [id])
})

test('an idle tab whose page is silent stays: it may be slow, and in use', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { tabs, open } = idleTab(() => new Promise(() => {}))
  let isTidy = false
  const tidied = tabs.tidy(() => false).then(() => (isTidy = true))
  while (!isTidy) {
    t.mock.timers.tick(1000)
    await new Promise(setImmediate)
  }
  await tidied
  assert.deepEqual([[...open], tabs.tabOf('gemini')], [[1], 1])
})
