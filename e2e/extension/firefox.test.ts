import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { startPages, type Pages } from '../sites/serve.ts'
import { FirefoxRig } from './firefox.ts'
import { call, hasTool } from './rig.ts'

// The build for Firefox: the link to the bridge, bookmarks, and a chat, in Firefox ESR.

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

test('a chat answers, and its conversation continues', async () => {
  await rig.grant({ permissions: ['scripting'], origins: ['https://chatgpt.com/*'] })
  await rig.ask('setChat', { site: 'chatgpt', patch: { enabled: true, acceptedAt: Date.now() } })
  await rig.ask('setOptions', { reuse: 'off' })
  await hasTool(desk, 'chat_chatgpt')
  const ask = async (about: string, more = {}) => {
    const prompt = `token:${about}\nsecond line, “quoted” & <b>\n\n    fourth line`
    const r = await call(desk, 'chat_chatgpt', { prompt, ...more }, { timeout: 120_000 })
    assert.ok(!r.error, r.text)
    assert.match(r.text, new RegExp(`ends with \\*\\*${about}\\*\\*\\.$`))
    assert.equal(pages.prompts('chatgpt').at(-1)!.text, prompt)
    return r.structured as { conversationId: string; confidence: string }
  }
  const first = await ask('fox-1')
  assert.equal(first.confidence, 'high')
  const second = await ask('fox-2', { conversationId: first.conversationId })
  assert.equal(second.conversationId, first.conversationId)
})
