import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import type { PageState } from '../sites/serve.ts'
import { locales } from '../sites/state.ts'
import { Asking, sites } from './asking.ts'

// Languages, and turns in the sites' layouts. The whole answer is compared.

let asking: Asking
before(async () => {
  asking = await Asking.create()
})
after(() => asking?.close())
beforeEach(() => asking.pages.reset())

test('in six languages, by words if there are no marks', async () => {
  await Promise.all(sites.map(async (site) => {
    for (const locale of locales) {
      const states: Partial<PageState>[] = site === 'chatgpt'
        ? [{ layout: 'article', noTestIds: true }, { layout: 'turn-key', noTestIds: false }]
        : [{}]
      for (const state of states) {
        asking.pages.set(site, { ...state, locale })
        const answered = await asking.ask(site, '[[think ms=600 skip=1]]', { locale })
        assert.equal(
          answered.confidence,
          'high',
          `${site} ${locale} ${state.layout ?? ''}: ${answered.evidence.join()}`,
        )
      }
    }
  }))
})

test('all of Markdown, complete', async () => {
  await Promise.all(sites.map((site) => asking.ask(site, '[[markdown]] [[image]]')))
  asking.pages.set('chatgpt', { layout: 'turn-key' })
  await asking.ask('chatgpt', '[[markdown]]')
})

test('turns newest first, replaced, and removed', async () => {
  await Promise.all(sites.map(async (site) => {
    if (site === 'chatgpt') asking.pages.set(site, { layout: 'turn-key', newestFirst: true })
    const id = asking.pages.seed(site, 6)
    let turn = 6
    for (
      const marks of [
        '',
        '[[remount]]',
        ...site === 'chatgpt'
          ? ['[[virtual n=3]] [[slow ms=1500]]', '[[remount]] [[slow ms=1500]]', '[[long kb=64]]']
          : ['[[long kb=64]]'],
      ]
    ) {
      const { conversationId, truncated } = await asking.ask(site, marks, { conversationId: id, turn: ++turn })
      assert.equal(conversationId, id)
      assert.equal(truncated, false)
    }
  }))
})

test('an old conversation on the page, at once or late, is never the answer', async () => {
  await Promise.all(sites.map(async (site) => {
    for (const old of [0, 300, 800]) {
      asking.pages.set(site, { old })
      const { token, prompt } = asking.prompt()
      const r = await asking.call(site, prompt)
      assert.ok(!r.error, `${site} ${old}: ${r.text}`)
      assert.match(r.text, new RegExp(`answer [13] of this conversation, and it ends with \\*\\*${token}\\*\\*`))
    }
  }))
})
