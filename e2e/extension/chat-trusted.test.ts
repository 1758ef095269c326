import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { Asking, sites } from './asking.ts'
import { call, hasTool } from './rig.ts'
import { happens } from '../rig/harness.ts'

// Fields that accept only trusted input.

for (const granted of [true, false])
  describe(granted ? 'with the permission for trusted input' : 'without it', () => {
    let asking: Asking
    before(async () => {
      asking = await Asking.create({ debugger: granted })
      for (const site of sites) asking.pages.set(site, { mangle: 'scripted' })
      assert.equal((await asking.rig.state()).permissions.debugger, granted)
    })
    after(() => asking?.close())

    test('a hidden tab counts as visible with the debugger', async () => {
      for (const site of sites) asking.pages.set(site, { mangle: false })
      await asking.ask('gemini') // opens the tab
      const { id, windowId } = await asking.tab('gemini')
      const cover = await asking.rig.panel.evaluate(
        async (windowId) => (await chrome.tabs.create({ windowId, active: true, url: 'about:blank' })).id!,
        windowId,
      )
      assert.equal((await asking.look(id)).hidden, true)
      await asking.idle()
      const asked = asking.ask('gemini', '[[pause ms=60000]]')
      await asking.rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
      assert.equal((await asking.look(id)).hidden, !granted)
      asking.pages.goOn('gemini')
      await asked
      await happens(async () => (await asking.look(id)).hidden) // the debugger leaves after the answer
      await asking.rig.panel.evaluate((cover) => chrome.tabs.remove(cover), cover)
      for (const site of sites) asking.pages.set(site, { mangle: 'scripted' })
    })

    for (const layout of ['article', 'turn-key'] as const)
      test(`on all sites, ChatGPT as ${layout}`, async () => {
        asking.pages.set('chatgpt', { layout })
        await Promise.all((layout === 'article' ? sites : ['chatgpt'] as const).map(async (site) => {
          if (granted) {
            await asking.ask(site)
            await asking.ask(site, '[[markdown]]')
            return
          }
          const { sent } = await asking.fails(site, '', 'INPUT_NOT_APPLIED')
          assert.equal(sent, 0)
          assert.equal((await asking.look((await asking.tab(site)).id)).field.trim(), '')
        }))
      })
  })

test('a worker that ends during a run leaves no debugger behind that the next prompt would meet', async () => {
  const asking = await Asking.create({ debugger: true }, ['gemini'])
  try {
    asking.pages.set('gemini', { mangle: 'scripted' })
    await asking.ask('gemini') // opens the tab
    const { windowId } = await asking.tab('gemini')
    await asking.rig.panel.evaluate(
      async (windowId) => void await chrome.tabs.create({ windowId, active: true, url: 'about:blank' }),
      windowId,
    )
    const asked = asking.call('gemini', asking.prompt('[[pause ms=60000]]').prompt)
    await asking.rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
    await asking.rig.killWorker()
    assert.ok((await asked).error)
    await hasTool(asking.client, 'chat_gemini')
    await asking.ask('gemini')
  } finally {
    await asking.close()
  }
})

test('a host permission that is taken away ends the run', async () => {
  const asking = await Asking.create({}, ['gemini'])
  try {
    const { token, prompt } = asking.prompt('[[pause ms=60000]]')
    const asked = asking.call('gemini', prompt)
    await asking.rig.until('it answers', (s) => s.runs.some((r) => r.phase === 'answering'))
    await asking.rig.panel.evaluate(() => chrome.permissions.remove({ origins: ['https://*/*', 'http://*/*'] }))
    const r = await asked
    assert.ok(r.error && r.text.endsWith('(CANCELLED)'), r.text)
    assert.equal(asking.sent('gemini', token).length, 1)
    assert.match((await asking.call('gemini', asking.prompt().prompt)).text, /\(CHAT_DISABLED\)$/)
  } finally {
    await asking.close()
  }
})

test('a site without its host permission is reported as disabled', async () => {
  const without = await Asking.create({ granted: false })
  try {
    const r = await call(without.client, 'chat_gemini', { prompt: 'token:none' })
    assert.ok(r.error && /may not use the pages of Gemini.*\(CHAT_DISABLED\)$/.test(r.text), r.text)
    assert.equal(without.pages.prompts('gemini').length, 0)
    assert.equal((await without.rig.state()).chats.gemini.granted, false)
  } finally {
    await without.close()
  }
})
