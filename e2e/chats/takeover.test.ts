import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FromDriver, Site } from '../../extension/chats/drivermessages.ts'
import {
  aistudio,
  article,
  gemini,
  layouts,
  passMinute,
  phases,
  plain,
  right,
  Sites,
  some,
  token,
  wake,
} from './site.ts'
import type { Driven } from './drivenpage.ts'

const sites = new Sites()

const isInsert = (m: FromDriver): m is Extract<FromDriver, { type: 'insert' }> => m.type === 'insert'
const isPaused = (m: FromDriver): m is Extract<FromDriver, { type: 'paused' }> => m.type === 'paused'

const fieldOf: Partial<Record<Site, string>> = {
  chatgpt: '#prompt-textarea',
  gemini: '.ql-editor',
  aistudio: 'textarea[formcontrolname]',
}
const field = (driven: Driven) => driven.page.locator(fieldOf[driven.site]!)
const submit = (driven: Driven) => driven.page.keyboard.press(driven.site === 'aistudio' ? 'Control+Enter' : 'Enter')
const written = async (driven: Driven) =>
  driven.site === 'aistudio'
    ? field(driven).inputValue()
    : (await field(driven).innerText()).replace(/\n+/g, '\n').trim()

/** Shows a turn of another conversation in place of the page's own, as a site does without loading a page. */
const goElsewhere = (driven: Driven): Promise<void> =>
  driven.page.evaluate((path) => {
    history.pushState({}, '', path + location.search)
    for (const el of document.querySelectorAll('article, [data-testid=stop-button]')) el.remove()
    document.querySelector<HTMLElement>('#prompt-textarea')!.focus()
    for (const command of ['selectAll', 'delete']) document.execCommand(command)
    const turns = document.createElement('div')
    turns.innerHTML = `<article data-turn="user"><div data-message-author-role="user">
      <p class="whitespace-pre-wrap">a private question</p></div></article><article data-turn="assistant">
      <div data-message-author-role="assistant"><p class="markdown prose">a private answer</p></div>
      <button data-testid="copy-turn-action-button">copy</button></article>`
    document.querySelector('main')!.prepend(turns)
  }, sites.pages.path('chatgpt', sites.pages.seed('chatgpt', 1)))

describe("the driver's input, and the user's", { concurrency: 8, timeout: 300_000 }, () => {
  const several = 'First line of\nseveral\n\nlines, token:'
  for (const on of [article, gemini, aistudio]) {
    for (const mangle of ['once', 'newlines'] as const) {
      test(`an editor that spoils scripted input (${mangle}), ${on.name}`, async () => {
        const about = token('mangle')
        right(await sites.ask({ ...on, query: { ...on.query, mangle } }, several + about), plain(about))
        assert.deepEqual(sites.received(on.site, about).map(({ text }) => text), [several + about])
      })
    }

    test(`trusted input if nothing else works, ${on.name}`, async () => {
      const about = token('trusted')
      const driven = await sites.open({ ...on, query: { ...on.query, mangle: 'scripted' } })
      await driven.start(several + about, { trustedInput: true })
      const { text } = await driven.message(isInsert)
      assert.equal(text, several + about)
      await driven.page.keyboard.insertText(text)
      await driven.tell({ type: 'inserted', ok: true })
      right(await driven.outcome(), plain(about))
      assert.equal(driven.messages.some(isPaused), false)
      driven.close()
    })

    test(`trusted input that fails, ${on.name}`, async () => {
      const driven = await sites.open({ ...on, query: { ...on.query, mangle: 'scripted' } })
      await driven.start(`token:${token('refused')}`, { trustedInput: true })
      await driven.message(isInsert)
      await driven.tell({ type: 'inserted', ok: false })
      assert.equal((await driven.outcome()).failure!.code, 'INPUT_NOT_APPLIED')
      driven.close()
    })
  }

  for (const on of [article, gemini, aistudio])
    test(`a prompt of 2,000 lines, ${on.name}`, async () => {
      const about = token('lines')
      const prompt = `token:${about}\n` + Array.from({ length: 2000 }, (_, n) =>
        n % 7 ? `Line ${n} has a few words, — ${'ü漢😀'.repeat(5)}` : '').join('\n') +
        'end'
      right(await sites.ask(on, prompt), plain(about))
      assert.ok(sites.received(on.site, about)[0]!.text === prompt)
    })

  for (const on of some(layouts, 0)) {
    test(`Enter if the click does nothing, sent once, ${on.name}`, async () => {
      const about = token('nosend')
      right(await sites.ask({ ...on, times: { turn: 700 } }, `[[nosend]] token:${about}`), plain(about))
      assert.equal(sites.received(on.site, about).length, 1)
    })

    test(`a send button that is disabled for a while, a field that comes late, ${on.name}`, async () => {
      const about = token('late')
      right(
        await sites.ask({ ...on, query: { ...on.query, late: 1200 } }, `[[disabled ms=900]] token:${about}`),
        plain(about),
      )
    })

    test(`a draft is restored afterwards, ${on.name}`, async () => {
      const about = token('draft')
      const driven = await sites.open(on)
      await field(driven).click()
      await driven.page.keyboard.type('Dear aunt, I never')
      right(await driven.ask(`token:${about}`), plain(about))
      assert.equal(await written(driven), 'Dear aunt, I never')
      assert.deepEqual(
        sites.received(on.site, about).map(({ text }) =>
          text
        ),
        [`token:${about}`],
      )
      driven.close()
    })
  }

  test('a draft that has the words of the prompt keeps them', async () => {
    const driven = await sites.open(article)
    await field(driven).click()
    const draft = 'Dear aunt, what is a spring tide? I never asked.'
    await driven.page.keyboard.type(draft)
    assert.equal((await driven.ask('what is a spring tide?')).failure, undefined)
    assert.equal(await written(driven), draft)
    driven.close()
  })

  for (const on of some(layouts, 1)) {
    test(`assist: the person sends, and changes the prompt before, ${on.name}`, async () => {
      const about = token('assist')
      const driven = await sites.open(on)
      await driven.start(`token:${about}`, { mode: 'assist' })
      await driven.phase('handover')
      await driven.page.waitForTimeout(300)
      assert.equal(sites.received(on.site, about).length, 0)
      await field(driven).click()
      await driven.page.keyboard.press('Control+End')
      await driven.page.keyboard.type(', in short')
      await submit(driven)
      const outcome = await driven.outcome()
      right(outcome, plain(about))
      assert.equal(outcome.messages.some(isPaused), false)
      assert.deepEqual(sites.received(on.site, about).map(({ text }) => text), [`token:${about}, in short`])
      driven.close()
    })
  }

  test('assist: a partial answer is handed over while the site still writes', async () => {
    const about = token('hand')
    const driven = await sites.open(article)
    await driven.start(`[[pause ms=60000]] token:${about}`, { mode: 'assist' })
    await driven.phase('handover')
    await field(driven).click()
    await submit(driven)
    const begins = `Here is what I found about ${about}.`.slice(0, 20)
    await driven.message((m): m is FromDriver => m.type === 'partial' && m.text.startsWith(begins))
    await driven.tell({ type: 'handover' })
    const { answer } = await driven.outcome(20_000)
    assert.ok(answer!.answer.startsWith(begins) && answer!.answer.length < plain(about).length)
    assert.deepEqual(answer!.evidence, ['handed over by the person', 'model: gpt-5'])
    driven.close()
  })

  test('assist: a prompt that nobody sends in time', async () => {
    const driven = await sites.open(article)
    await driven.start(`token:${token('unsent')}`, { mode: 'assist' })
    await driven.phase('handover')
    await passMinute(driven)
    const { failure } = await driven.outcome()
    assert.deepEqual([failure!.code, failure!.state!.phase], ['TIMEOUT', 'handover'])
    assert.match(failure!.message, /send it there/)
    driven.close()
  })

  for (const on of some(layouts, 2))
    test(`the person takes over before it is sent, and gives it back, ${on.name}`, async () => {
      const about = token('pause')
      const driven = await sites.open(on)
      await driven.start(`[[disabled ms=60000]] token:${about}`)
      await driven.phase('sending')
      await driven.page.mouse.click(600, 20)
      await driven.message(isPaused)
      await wake(driven)
      await driven.page.waitForTimeout(500)
      assert.equal(sites.received(on.site, about).length, 0, 'nothing is sent during the pause')
      await field(driven).click()
      await driven.page.keyboard.type('mine ')
      await driven.tell({ type: 'resume' })
      right(await driven.outcome(), plain(about))
      assert.deepEqual(sites.received(on.site, about).map(({ text }) => text), [`[[disabled ms=60000]] token:${about}`])
      assert.match(await written(driven), /^(?:\s|m|i|n|e)+$/, 'what the person typed is kept')
      driven.close()
    })

  for (const on of some(layouts, 3))
    test(`what the person types from the start of a run on is kept, ${on.name}`, async () => {
      const about = token('early')
      const driven = await sites.open({ ...on, times: { settle: 1500 } })
      await field(driven).waitFor()
      await driven.start(`token:${about}`)
      await driven.phase('opening')
      await field(driven).click()
      await driven.page.keyboard.type('Dear aunt')
      await driven.phase('input')
      await driven.page.keyboard.type(', I never wrote')
      await driven.tell({ type: 'resume' })
      right(await driven.outcome(), plain(about))
      assert.equal(await written(driven), 'Dear aunt, I never wrote')
      driven.close()
    })

  test('a person who opens another conversation: its answer is not ours, and half an answer is not whole', async () => {
    const driven = await sites.open(article)
    await driven.start(`[[outline ms=60000 nostop=1]] token:${token('elsewhere')}`)
    await driven.message((m): m is FromDriver => m.type === 'partial')
    await goElsewhere(driven)
    assert.equal((await driven.outcome()).failure?.code, 'TAB_CLOSED')
    driven.close()
  })

  test('a person who opens another conversation during the pause: nothing is sent there', async () => {
    const about = token('there')
    const driven = await sites.open(article)
    await driven.start(`[[disabled ms=60000]] token:${about}`)
    await driven.phase('sending')
    await driven.page.mouse.click(600, 20)
    await driven.message(isPaused)
    await goElsewhere(driven)
    await wake(driven)
    await driven.tell({ type: 'resume' })
    assert.equal((await driven.outcome()).failure?.code, 'TAB_CLOSED')
    assert.equal(sites.received('chatgpt', about).length, 0)
    driven.close()
  })

  test('a pause that ends at once is noticed: nothing is sent in another conversation', async () => {
    const driven = await sites.open(article)
    await driven.start(`[[disabled ms=60000]] token:${token('short')}`)
    await driven.phase('sending')
    // The pause begins and ends before the driver looks at the page again.
    await driven.page.evaluate((path) =>
      addEventListener('mousedown', () => {
        history.pushState({}, '', path + location.search)
        document.querySelector<HTMLElement>('#prompt-textarea')!.focus()
        for (const command of ['selectAll', 'delete']) document.execCommand(command)
        driverPort.onmessage!({ type: 'resume' })
      }), sites.pages.path('chatgpt', sites.pages.seed('chatgpt', 1)))
    await driven.page.mouse.click(600, 20)
    assert.equal((await driven.outcome()).failure?.code, 'TAB_CLOSED')
    driven.close()
  })

  test('assist: a person who opens another conversation before: only what they send is answered', async () => {
    const about = token('other')
    const driven = await sites.open(article)
    await driven.start(`token:${about}`, { mode: 'assist' })
    await driven.phase('handover')
    await goElsewhere(driven)
    await field(driven).click()
    await driven.page.keyboard.type(`token:${about}, in short`)
    await submit(driven)
    right(await driven.outcome(), plain(about))
    driven.close()
  })

  test('the person sends it during the pause: it is not sent again', async () => {
    const about = token('self')
    const driven = await sites.open(article)
    await driven.start(`[[disabled ms=60000]] token:${about}`)
    await driven.phase('sending')
    await field(driven).click()
    await driven.message(isPaused)
    await wake(driven)
    await submit(driven)
    await driven.page.waitForTimeout(500)
    await driven.tell({ type: 'resume' })
    right(await driven.outcome(), plain(about))
    assert.equal(sites.received('chatgpt', about).length, 1)
    driven.close()
  })

  test('a pause while it answers: the answer is still read', async () => {
    const about = token('watch')
    const driven = await sites.open(article)
    await driven.start(`[[pause ms=60000]] token:${about}`)
    await driven.phase('answering')
    await driven.page.keyboard.press('x')
    await driven.message(isPaused)
    sites.pages.goOn('chatgpt', about)
    right(await driven.outcome(), plain(about))
    assert.equal(driven.messages.filter(isPaused).length, 1)
    driven.close()
  })

  test('a pause that is never ended: PAUSED_BY_USER at the deadline, and the field is left alone', async () => {
    const driven = await sites.open(article)
    await driven.start(`[[disabled ms=60000]] token:${token('kept')}`)
    await driven.phase('sending')
    await field(driven).click()
    await driven.page.keyboard.type('mine ')
    await driven.message(isPaused)
    await passMinute(driven)
    const { failure } = await driven.outcome()
    assert.equal(failure!.code, 'PAUSED_BY_USER')
    assert.match(await written(driven), /mine/)
    driven.close()
  })

  test('wheels, modifiers and scripted events do not pause', async () => {
    const about = token('wheel')
    const driven = await sites.open(article)
    await driven.start(`[[pause ms=60000]] token:${about}`)
    await driven.phase('answering')
    await driven.page.mouse.wheel(0, 200)
    await driven.page.keyboard.press('Control')
    await driven.page.evaluate(() =>
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))
    )
    sites.pages.goOn('chatgpt', about)
    right(await driven.outcome(), plain(about))
    assert.equal(driven.messages.some(isPaused), false)
    assert.deepEqual(phases(driven.messages).at(-1), 'reading')
    driven.close()
  })

  test('model and temperature of AI Studio', async () => {
    const about = token('warm')
    right(await sites.ask(aistudio, `token:${about}`, { model: 'gemini-1.5-flash', temperature: 0.35 }), plain(about))
    assert.deepEqual(sites.received('aistudio', about).map(({ model, temperature }) => [model, temperature]), [[
      'gemini-1.5-flash',
      0.35,
    ]])
  })

  test('T2: a model is chosen by its name or its id, and the answer says which one wrote it', async () => {
    for (
      const [on, model, sent, said] of [
        [article, 'gpt-5-thinking', 'GPT-5 Thinking', 'gpt-5-thinking'],
        [layouts[1]!, 'gpt-4o', 'GPT-4o', 'GPT-4o'],
        [gemini, 'Pro', 'Pro', 'Pro'],
        [aistudio, 'Gemini 2.5 Flash', 'gemini-2.5-flash', 'Gemini 2.5 Flash'],
      ] as const
    ) {
      const about = token('model')
      const { answer, messages } = await sites.ask(on, `token:${about}`, { model })
      assert.equal(sites.received(on.site, about)[0]?.model, sent, on.name)
      assert.equal(answer?.model, said, on.name)
      assert.ok(answer.evidence.includes(`model: ${said}`))
      const offered = messages.flatMap((m) => m.type === 'models' ? [m.models] : [])
      assert.ok(offered.length === 1 && offered[0]!.length >= 3, `${on.name}: ${JSON.stringify(offered)}`)
    }
  })

  test("a page's models are read without a change, and its picker is closed again", async () => {
    for (const on of [article, gemini, aistudio]) {
      const about = token('models')
      const { answer, messages } = await sites.ask(on, `token:${about}`, { readModels: true })
      right({ answer, messages, failure: undefined }, plain(about))
      assert.ok(messages.some((m) => m.type === 'models' && m.models.length >= 3), on.name)
    }
  })

  test('a turn that the page removes while it streams is brought back, or kept as last read', async () => {
    const about = token('virtual')
    const id = sites.pages.seed('chatgpt', 12)
    const driven = await sites.open({ ...layouts[1]!, path: sites.pages.path('chatgpt', id) })
    await driven.start(`[[virtual n=3]] [[slow ms=2500]] token:${about}`, { continues: true })
    await driven.phase('answering')
    const scroller = driven.page.locator('[data-app-action-timeline-scroll]')
    for (let n = 0; n < 8; n++) {
      await scroller.evaluate((el) => {
        el.scrollTop = -3000
      })
      await driven.page.waitForTimeout(200)
    }
    right(await driven.outcome(), plain(about, 13))
    driven.close()
  })

  test('turns that stand in the document newest first', async () => {
    const id = sites.pages.seed('chatgpt', 5)
    const driven = await sites.open({
      ...layouts[1]!,
      query: { layout: 'turn-key', newestFirst: true },
      path: sites.pages.path('chatgpt', id),
    })
    for (const n of [6, 7])
      right(await driven.ask('the same words, token:newest', { continues: true }), plain('newest', n))
    driven.close()
  })
})
