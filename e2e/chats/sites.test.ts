import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { siteSpecs } from '../../extension/chats/sites/index.ts'
import type { FromDriver } from '../../extension/chats/drivermessages.ts'
import { seen, selectors, watch } from './selectors.ts'
import { layouts, right, plain, Sites, token } from './site.ts'

const sites = new Sites()

describe('sites', { concurrency: 4, timeout: 300_000 }, () => {
  for (const on of layouts)
    test(`${on.name}: each selector has a page that proves it`, async () => {
      const wanted = selectors(siteSpecs[on.site], on.layout)
      const unproven = new Set(wanted)
      for (const query of [on.query, ...(on.layout === 'article' ? [{ ...on.query, noTestIds: true }] : [])]) {
        const driven = await sites.open({ ...on, query })
        await watch(driven, wanted)
        const about = token('proof')
        const prompt = `[[markdown]] [[think ms=60000 skip=1]] token:${about}`
        const { answer } = await sites.think(driven, prompt, () => seen(driven))
        assert.equal(answer?.layout, on.layout)
        const picker = siteSpecs[on.site].layouts.find(({ name }) => name === on.layout)!.model!
        const opener = driven.page.locator(picker.open[0]!)
        if (await opener.count()) {
          await opener.click()
          await driven.page.locator(picker.option[0]!).first().waitFor()
        }
        for (const selector of await seen(driven)) unproven.delete(selector)
        driven.close()
      }
      assert.deepEqual([...unproven], [])
    })

  for (const { site, newChat, conversation, conversationUrl, matches } of Object.values(siteSpecs))
    test(`${site}: addresses`, () => {
      const re = new RegExp(conversation)
      const path = (url: string) => new URL(url).pathname
      assert.equal(re.exec(path(newChat)), null)
      assert.equal(re.exec(path(conversationUrl.replace('{id}', 'abc123')))![1], 'abc123')
      for (const url of [newChat, conversationUrl]) assert.ok(url.startsWith(matches[0]!.replace('*', '')))
    })

  test('health and a redacted snapshot of each page', async () => {
    for (const on of layouts) {
      const id = sites.pages.seed(on.site, 2)
      const driven = await sites.open({
        ...on,
        query: { ...on.query, sidebar: 5 },
        path: sites.pages.path(on.site, id),
      })
      const about = token('secretword')
      right(await driven.ask(`[[plain]] token:${about}`, { continues: true }), plain(about, 3))
      await driven.tell({ type: 'snapshot', spec: siteSpecs[on.site] })
      const { snapshot } = await driven.message((m): m is Extract<FromDriver, { type: 'snapshot' }> =>
        m.type === 'snapshot'
      )
      const health = snapshot.health[on.layout]!
      assert.ok(
        health.input === 1 && health.userTurn! >= 3 && health.answer! >= 3 && health.end! >= 3,
        JSON.stringify(health),
      )
      for (
        const written of [
          about,
          'Earlier',
          'earlier',
          'Passage',
          'harbour',
          'found about',
          id,
          snapshot.url.includes('?') ? snapshot.url : '\u0000',
        ]
      ) assert.ok(!JSON.stringify(snapshot).includes(written), `${on.name}: ${written}`)
      assert.match(
        snapshot.dom,
        on.site === 'chatgpt'
          ? /id=prompt-textarea/
          : on.site === 'gemini'
          ? /rich-textarea.*\n.*\n.*ql-editor/
          : /formcontrolname=promptText/,
      )
      assert.ok(snapshot.dom.length > 500 && snapshot.dom.length < 200 << 10)
      driven.close()
    }
  })

  test('a snapshot of a page that is too large, and of one with private data in attributes', async () => {
    const driven = await sites.open(layouts[0]!)
    await driven.page.locator('main').waitFor()
    await driven.page.evaluate(() => {
      const main = document.querySelector('main')!
      main.insertAdjacentHTML(
        'afterbegin',
        `<a id="u-8f3a9c0d1e2b" data-title="Divorce" data-session="eyJhbGciOiJIUzI1NiJ9" aria-label="Chat: my illness" title="my illness" href="https://e.example/u/ann/c/8f3a?key=k1#h">my illness</a>
        <input value="hunter2" name="password" placeholder="ann@e.example" data-state="open">`,
      )
      for (let n = 0; n < 30_000; n++) main.append(document.createElement('section'))
    })
    await driven.tell({ type: 'snapshot', spec: siteSpecs.chatgpt })
    const { snapshot } = await driven.message((m): m is Extract<FromDriver, { type: 'snapshot' }> =>
      m.type === 'snapshot'
    )
    assert.ok(snapshot.truncated && snapshot.dom.length <= 200 << 10)
    for (const secret of ['8f3a', 'Divorce', 'eyJ', 'illness', 'hunter2', 'ann@', 'k1', '#h'])
      assert.ok(!snapshot.dom.includes(secret), secret)
    assert.match(snapshot.dom, /href=https:\/\/e\.example\/u\/…?/)
    assert.match(snapshot.dom, /input name=password .*data-state=open/)
    driven.close()
  })
})
