import { strict as assert } from 'node:assert'
import { describe, test } from 'node:test'
import { Chats } from './chats.ts'
import { Person, sights } from './person.ts'

const article = sights['chatgpt, articles']!
const turnKey = sights['chatgpt, turn keys']!
const gemini = sights.gemini!
const aistudio = sights.aistudio!

const chats = new Chats()

/** Sends a prompt in a new chat, and leaves it. */
async function asking(
  sight: typeof article,
  prompt: string,
  see: (person: Person, asked: number) => Promise<void>,
  state = {},
  path?: string,
): Promise<void> {
  const person = await Person.open(chats.context, sight, state, path)
  const asked = Date.now()
  await person.ask(prompt)
  await see(person, asked)
  await person.leave()
}

// At the same time, because each prompt has its own token.
describe('scenarios', { concurrency: 2 }, () => {
  test('slow: the answer takes as long as the prompt says', () =>
    asking(gemini, 'token:slow-1 [[slow ms=1500]]', async (person, asked) => {
      assert.match(await person.answer(), /slow-1/)
      assert.ok(Date.now() - asked > 1200)
    }))

  test('outline: another text comes first', () =>
    asking(article, 'token:plan-1 [[outline ms=60000]]', async (person) => {
      await person.page.getByText('OUTLINE ONLY: details').waitFor()
      await person.see('stop').waitFor()
      chats.pages.goOn('chatgpt', 'plan-1')
      assert.doesNotMatch(await person.answer(), /OUTLINE/)
    }))

  test('outline nostop: the stop button goes and comes back', () =>
    asking(turnKey, 'token:plan-2 [[outline ms=60000 nostop=1]] [[slow ms=1500]]', async (person) => {
      await person.page.getByText('OUTLINE ONLY: details').waitFor()
      await person.see('stop').waitFor({ state: 'detached' })
      assert.equal(await person.see('end').count(), 0)
      const back = person.page.waitForFunction((stop) => document.querySelector(stop), turnKey.stop)
      chats.pages.goOn('chatgpt', 'plan-2')
      await back // looked for in each frame, because it goes with the end of the answer
      assert.match(await person.answer(), /plan-2/)
    }))

  test('pause: the stream rests in the middle, and the stop button stays', () =>
    asking(aistudio, 'token:rest-1 [[pause ms=60000]]', async (person) => {
      await person.see('answer').getByText(/^This was answ$/).waitFor()
      const half = await person.text('answer')
      await person.page.waitForTimeout(300)
      assert.equal(await person.text('answer'), half)
      await person.see('stop').waitFor()
      chats.pages.goOn('aistudio', 'rest-1')
      assert.match(await person.answer(), /ends with rest-1/)
    }))

  test('long: so many kilobytes', () =>
    asking(turnKey, 'token:long-1 [[long kb=200]]', async (person) => {
      const answer = await person.answer()
      assert.ok(answer.length > 200 * 1024)
      assert.match(answer, /ends with long-1\.$/)
    }))

  test('image and empty: a picture, and no text', async () => {
    await asking(gemini, 'token:picture-1 [[image]]', async (person) => {
      await person.complete()
      assert.equal(await person.see('answer').locator('img[alt="A drawing of picture-1"]').count(), 1)
    })
    await asking(gemini, 'token:empty-1 [[empty]]', async (person) => {
      assert.equal(await person.answer(), '')
    })
  })

  test('noresponse: the prompt appears, and nothing follows', async () => {
    await Promise.all(
      Object.values(sights).map((sight) =>
        asking(sight, 'token:none-1 [[noresponse]]', async (person) => {
          await person.see('user').waitFor()
          await person.see('stop').waitFor({ state: 'detached' })
          await person.page.waitForTimeout(200)
          for (const what of ['answer', 'end', 'trouble'] as const)
            assert.equal(await person.see(what).count(), 0, what)
        })
      ),
    )
  })

  test('frozen: the answer is complete, its stop button stays until it is pressed or the page loaded anew', async () => {
    await asking(gemini, 'token:ice-1 [[frozen]]', async (person) => {
      await person.see('end').waitFor()
      assert.match(await person.text('answer'), /ends with ice-1/)
      await person.page.waitForTimeout(300)
      await person.see('stop').waitFor()
      await person.page.reload()
      await person.see('end').waitFor()
      assert.equal(await person.see('stop').count(), 0)
    })
    await asking(gemini, 'token:ice-2 [[frozen kept=1]]', async (person) => {
      await person.see('end').waitFor()
      await person.page.reload()
      await person.see('stop').click()
      await person.see('stop').waitFor({ state: 'detached' })
      // The page notifies its backend after the button has gone.
      for (const end = Date.now() + 20_000; !chats.pages.stopped('gemini') && Date.now() < end;)
        await person.page.waitForTimeout(20)
      assert.equal(chats.pages.stopped('gemini'), 1)
    })
  })

  test('network mid: half an answer, then trouble', () =>
    asking(article, 'token:cut-1 [[network mid=1]]', async (person) => {
      await person.see('trouble').waitFor()
      await person.see('answer').getByText('Here is what').waitFor() // an answer is shown with the next frame only
      assert.match(await person.text('answer'), /^Here is what/)
      assert.doesNotMatch(await person.text('answer'), /ends with/)
      assert.equal(await person.see('end').count(), 0)
    }))

  test('nosend: a click does nothing, the keyboard sends; deaf: neither', async () => {
    await Promise.all(
      Object.values(sights).map(async (sight, n) => {
        const person = await Person.open(chats.context, sight)
        const received = (): number =>
          chats.pages.prompts(sight.site).filter(({ text }) => text.includes(`token:mute-${n}`)).length
        await person.see('field').focus()
        await person.page.keyboard.insertText(`token:mute-${n} [[nosend]]`)
        await person.see('send').click()
        await person.page.waitForTimeout(100)
        assert.equal(received(), 0)
        await person.see('field').press(sight.enter)
        assert.match(await person.answer(), new RegExp(`mute-${n}`))
        await person.page.keyboard.insertText(`token:mute-${n} [[deaf]]`)
        await person.see('send').click()
        await person.see('field').press(sight.enter)
        await person.page.waitForTimeout(100)
        assert.equal(received(), 1)
        await person.leave()
      }),
    )
  })

  test('disabled: the send button wakes after a while', async () => {
    // The clock of a context stands still until Enter was pressed: a busy machine would wake the button before.
    const context = await chats.newContext()
    const all = Object.values(sights)
    const people = await Promise.all(all.map((sight) => Person.open(context, sight)))
    await context.clock.install()
    await context.clock.pauseAt(Date.now() + 60_000)
    await Promise.all(people.map(async (person, n) => {
      const { site, send } = all[n]!
      await person.ask(`token:wait-${n} [[disabled ms=700]]`)
      await person.page.locator(`${send}:is(:disabled, [aria-disabled=true])`).waitFor()
      assert.ok(!chats.pages.prompts(site).some(({ text }) => text.includes(`token:wait-${n} `)))
    }))
    await context.clock.runFor(1000)
    await context.clock.resume()
    await Promise.all(people.map(async (person, n) => {
      await person.page.locator(`${all[n]!.send}:not(:disabled, [aria-disabled=true])`).click()
      assert.match(await person.answer(), new RegExp(`wait-${n}`))
    }))
    await context.close()
  })

  test('virtual: only some turns are mounted, whichever are in view', async () => {
    const path = chats.pages.path('chatgpt', chats.pages.seed('chatgpt', 12))
    await asking(
      turnKey,
      'token:far-1 [[virtual n=3]]',
      async (person) => {
        assert.match(await person.answer(), /far-1/)
        assert.equal(await person.see('user').count(), 3)
        const keys = (): Promise<(string | null)[]> =>
          person.page.locator('[data-turn-key]').evaluateAll((turns) =>
            turns.map((turn) => turn.getAttribute('data-turn-key'))
          )
        const before = await keys()
        await person.page.locator('[data-app-action-timeline-scroll]').evaluate((scroller) => {
          scroller.scrollTop = -scroller.scrollHeight
        })
        await person.see('user').getByText('Earlier question 1: ').waitFor()
        assert.equal(await person.see('user').count(), 3)
        await person.page.locator('[data-app-action-timeline-scroll]').evaluate((scroller) => {
          scroller.scrollTop = 0
        })
        await person.page.getByText('ends with far-1').waitFor()
        assert.deepEqual(await keys(), before)
      },
      {},
      path,
    )
  })

  test('newestFirst: the document has the turns of a column-reverse box in reverse order', async () => {
    const path = chats.pages.path('chatgpt', chats.pages.seed('chatgpt', 3))
    const person = await Person.open(chats.context, turnKey, { newestFirst: true }, path)
    assert.match((await person.see('user').allTextContents()).join(), /question 3.*question 2.*question 1/)
    const [newest, oldest] = await Promise.all([
      person.see('user').first().boundingBox(),
      person.see('user').last().boundingBox(),
    ])
    assert.ok(newest!.y > oldest!.y)
    await person.leave()
  })

  test('remount: an answer goes on in another element of the same key', async () => {
    const person = await Person.open(chats.context, turnKey)
    const appears = person.page.evaluateHandle(() =>
      new Promise<Element>((resolve) => {
        new MutationObserver((_, observer) => {
          const element = document.querySelector('[data-turn-key]')
          if (!element) return
          observer.disconnect()
          resolve(element)
        }).observe(document, { subtree: true, childList: true, attributes: true })
      })
    )
    await person.ask('token:again-1 [[slow ms=1200 remount=1]] [[remount]]')
    const first = await appears
    const key = await first.evaluate((element) => element.getAttribute('data-turn-key'))
    await person.answer()
    assert.equal(await first.evaluate((element) => element.isConnected), false)
    assert.equal(await person.page.locator('[data-turn-key]').getAttribute('data-turn-key'), key)
    assert.match(await person.text('answer'), /^Here is[^]*ends with again-1\.$/)
    await person.leave()
  })

  test('mangle: which input an editor takes', async () => {
    const text = 'Prüfe\n\n  zwei  Zeilen\n- Ende'
    const ways: Record<string, [exec: string, again: string, inserted: string]> = {
      once: ['', text, text],
      newlines: [text.replace(/\s*\n\s*/g, ' '), text.replace(/\s*\n\s*/g, ' '), text],
      scripted: ['', '', text],
      all: ['', '', ''],
    }
    const tried = Object.entries(ways).flatMap(([mangle, expected]) =>
      [article, gemini, aistudio].map((sight) => ({ mangle: mangle as 'once', expected, sight }))
    )
    await Promise.all(tried.map(async ({ mangle, expected, sight }) => {
      const person = await Person.open(chats.context, sight, { mangle })
      const field = person.see('field')
      const read = (): Promise<string> =>
        field.evaluate((element) =>
          element instanceof HTMLTextAreaElement
            ? element.value
            : [...element.children].map((line) => line.textContent).join('\n')
        )
      const command = (name: string, value?: string): Promise<unknown> =>
        field.evaluate((element, [name, value]) => {
          element.focus()
          document.execCommand(name!, false, value)
        }, [name, value])
      const seen: string[] = []
      for (
        const insert of [
          () => command('insertText', text),
          () => command('insertText', text),
          () => person.page.keyboard.insertText(text),
        ]
      ) {
        await insert()
        await person.page.waitForTimeout(20)
        seen.push(await read())
        await command('selectAll')
        await command('delete')
      }
      assert.deepEqual(seen, expected, `${mangle} on ${sight.site}`)
      await person.page.keyboard.type('typed')
      assert.equal(await read(), 'typed')
      await person.leave()
    }))
  })

  test('ChatGPT without test ids: only words tell the buttons', async () => {
    const person = await Person.open(chats.context, article, { noTestIds: true, locale: 'de' })
    await person.ask('token:words-1 [[pause ms=60000]]')
    await person.page.getByRole('button', { name: 'Streaming stoppen' }).waitFor()
    chats.pages.goOn('chatgpt', 'words-1')
    await person.page.getByRole('button', { name: 'Gute Antwort' }).waitFor()
    assert.equal(await person.page.locator('[data-testid], #composer-submit-button').count(), 0)
    assert.match(await person.text('answer'), /^Das habe ich über words-1 gefunden/)
    await person.leave()
  })

  test('AI Studio: model and temperature reach the backend', async () => {
    const person = await Person.open(chats.context, aistudio)
    await person.page.locator('ms-model-selector button').click()
    await person.page.locator('[id="model-carousel-row-models/gemini-1.5-pro"]').click()
    const temperature = person.page.locator('[data-test-id=temperatureSliderContainer] input[type=number]')
    await temperature.fill('0.35')
    await temperature.press('Tab')
    await person.ask('token:warm-1')
    await person.complete()
    await temperature.fill('7')
    await temperature.press('Tab')
    assert.equal(await temperature.inputValue(), '0.35')
    await person.ask('token:warm-2')
    await person.complete()
    assert.deepEqual(
      chats.pages.prompts('aistudio').filter(({ text }) => text.includes('token:warm')).map((
        { model, temperature },
      ) => [model, temperature]),
      [['gemini-1.5-pro', 0.35], ['gemini-1.5-pro', 0.35]],
    )
    await person.leave()
  })

  test('the sidebar holds earlier conversations, with the words of their prompts', async () => {
    await asking(article, 'token:past-1', async (person) => {
      await person.complete()
      assert.equal(await person.page.locator('#history a', { hasText: 'token:past-1' }).count(), 1)
      await person.page.goto('https://chatgpt.com/?sidebar=3')
      assert.deepEqual((await person.page.locator('#history a').allTextContents()).slice(-3), [
        'Passage plan 1',
        'Passage plan 2',
        'Passage plan 3',
      ])
      await person.page.getByRole('link', { name: 'token:past-1' }).click()
      await person.complete()
      assert.match(await person.text('answer'), /past-1/)
      await person.page.goto('https://chatgpt.com/c/no-such-one')
      assert.equal(person.page.url(), 'https://chatgpt.com/')
    })
  })

  test('two tabs at once: each gets its own answer', async () => {
    const people = await Promise.all(
      [article, gemini, aistudio, article].map((sight) => Person.open(chats.context, sight)),
    )
    await Promise.all(people.map((person, n) => person.ask(`token:both-${n}`)))
    for (const [n, person] of people.entries()) {
      await person.page.bringToFront()
      assert.deepEqual((await person.answer()).match(/both-\d/g), [`both-${n}`, `both-${n}`])
      await person.leave()
    }
  })

  test('over plain HTTP, by ?site=', async () => {
    const page = await chats.context.newPage()
    for (const site of ['chatgpt', 'gemini', 'aistudio'] as const) {
      await page.goto(chats.pages.httpUrl(site))
      const sight = [article, gemini, aistudio].find((each) => each.site === site)!
      await page.locator(sight.field).focus()
      await page.keyboard.insertText('token:plain-1')
      await page.keyboard.press(sight.enter)
      await page.getByText('and it ends with').waitFor()
      const sent = chats.pages.prompts(site).find(({ text }) => text === 'token:plain-1')
      assert.equal(page.url(), chats.pages.httpUrl(site, chats.pages.path(site, sent!.conversation)))
    }
    await page.close()
  })
})
