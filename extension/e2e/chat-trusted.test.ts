import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { sites } from '../chats/wire.ts'
import { Asking } from './asking.ts'

// Fields that take nothing but what a person typed.

for (const granted of [true, false]) describe(granted ? 'with the permission for trusted input' : 'without it', () => {
  let asking: Asking
  before(async () => {
    asking = await Asking.create({ debugger: granted })
    for (const site of sites) asking.pages.set(site, { mangle: 'scripted' })
    assert.equal((await asking.rig.state()).permissions.debugger, granted)
  })
  after(() => asking?.close())

  for (const layout of ['article', 'turn-key'] as const) test(`on all sites, ChatGPT as ${layout}`, async () => {
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
