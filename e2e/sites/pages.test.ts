import { strict as assert } from 'node:assert'
import { describe, test } from 'node:test'
import { Chats } from './chats.ts'
import { locales } from './state.ts'
import { otherSights, Person, sights, type Sight } from './person.ts'
import { words } from './page/words.ts'

const chats = new Chats()

// At the same time, because each chat has its own tokens.
describe('a person', { concurrency: 2 }, () => {
  for (const [name, sight] of Object.entries(sights)) seen(name, sight)
  for (const sight of otherSights) {
    test(`${sight.site}: a person types several lines, sends by key and by button, and reads`, async () => {
      const person = await Person.open(chats.context, sight)
      const prompt = `Grüße an “token:${sight.site}-1”\n\n  two  spaces, 日本語 and 🧭`
      await person.type(prompt)
      await person.page.keyboard.press(sight.enter)
      assert.match(await person.answer(), new RegExp(`ends with ${sight.site}-1\\.$`))
      assert.equal(chats.pages.prompts(sight.site).at(-1)!.text, prompt)
      const bare = (text: string) => text.replace(/\s+/g, '') // Grok renders a prompt's lines as paragraphs
      assert.equal(bare(await person.prompt()), bare(prompt))
      await person.type(`And now token:${sight.site}-2`)
      await person.see('send').click()
      assert.match(await person.answer(), new RegExp(`answer 2 .* ends with ${sight.site}-2\\.$`, 's'))
      await person.page.reload()
      await person.complete()
      assert.equal(await person.see('user').count(), 2)
      await person.leave()
    })
  }
})

function seen(name: string, sight: Sight): void {
  const at = (state = {}, path?: string): Promise<Person> => Person.open(chats.context, sight, state, path)

  describe(name, () => {
    test('a person types, sends and reads, twice', async () => {
      const person = await at()
      const prompt = 'Grüße an “token:first-1”\n\n  two  spaces, 日本語 and 🧭\n- end'
      assert.equal(await person.see('send').and(person.page.locator(':enabled:not([aria-disabled=true])')).count(), 0)
      await person.type(prompt)
      await person.page.keyboard.press(sight.enter)
      const answer = await person.answer()
      assert.match(answer, /Here is what I found about first-1\.[^]*ends with first-1\.$/)
      assert.equal(await person.prompt(), prompt)
      const sent = chats.pages.prompts(sight.site).find(({ conversation }) => person.page.url().includes(conversation))
      assert.equal(sent?.text, prompt)

      await person.type('And now token:second-2')
      await person.see('send').click()
      assert.match(await person.answer(), /answer 2 of this conversation, and it ends with second-2\.$/)
      assert.doesNotMatch(await person.text('answer'), /first-1/)
      assert.deepEqual(
        chats.pages.prompts(sight.site).filter(({ conversation }) => conversation === sent.conversation).map((
          { turn },
        ) => turn),
        [1, 2],
      )

      await person.page.reload()
      await person.complete()
      assert.equal(await person.see('user').count(), 2)
      assert.match(await person.text('answer'), /second-2/)
      await person.leave()
    })

    test('an answer with everything is real HTML', async () => {
      const person = await at()
      await person.ask('token:all-1 [[markdown]]')
      await person.complete()
      const answer = person.see('answer')
      const counts = await answer.evaluate((element) =>
        Object.fromEntries(
          [
            'h1',
            'h2',
            'h3',
            'ol > li',
            'ol ul ul li',
            'table td',
            'blockquote p',
            'pre code:not(.rendered)',
            'code:not(.rendered)',
            'strong',
            'em',
            'a[href]',
            'img[alt]',
            'hr',
            'input[type=checkbox]',
            '.katex',
          ]
            .map((selector) => [selector, element.querySelectorAll(selector).length]),
        )
      )
      assert.deepEqual({ ...counts, 'a[href]': counts['a[href]']! > 0 }, {
        h1: 1,
        h2: 1,
        h3: 1,
        'ol > li': 3,
        'ol ul ul li': 1,
        'table td': 6,
        'blockquote p': 1,
        'pre code:not(.rendered)': 2,
        'code:not(.rendered)': 4,
        strong: 3,
        em: 2,
        'a[href]': true,
        'img[alt]': 1,
        hr: 1,
        'input[type=checkbox]': 2,
        '.katex': 2,
      })
      assert.equal(
        await answer.locator('pre code').first().textContent(),
        'def greet(name):\n    # two levels, and a blank line\n\n    if name:\n        print(f"Hello, {name} <b>& co</b>")',
      )
      assert.match((await answer.locator('pre code').first().getAttribute('class'))!, /language-python/)
      const source = answer.locator('[data-math], annotation').first()
      assert.equal(await source.evaluate((el) => el.getAttribute('data-math') ?? el.textContent), 'e^{i\\pi} + 1 = 0')
      assert.ok(
        await answer.locator('img[alt="A chart of all-1"]').evaluate((image: HTMLImageElement) =>
          image.decode().then(() => image.naturalWidth > 0)
        ),
      )
      await person.leave()
    })

    test('it thinks, and the thoughts are not in the answer', async () => {
      const person = await at()
      await person.ask('token:deep-1 [[think ms=60000 skip=1]]')
      await person.see('stop').waitFor()
      await person.see('skip').click()
      assert.match(await person.answer(), /deep-1/)
      assert.equal(await person.see('skip').count(), 0)
      assert.doesNotMatch(await person.text('answer'), /UNSPOKEN/)
      assert.equal(await person.see('thought').getAttribute('aria-expanded'), 'false')
      await person.see('thought').click()
      await person.page.getByText('UNSPOKEN THOUGHT').waitFor()
      await person.leave()
    })

    test('stop ends a stuck answer, and is counted', async () => {
      const person = await at()
      await person.ask('token:stuck-1 [[stuck]]')
      await person.see('stop').waitFor()
      await person.page.waitForTimeout(300)
      const stopped = chats.pages.stopped(sight.site)
      await person.see('stop').click()
      await person.see('stop').waitFor({ state: 'detached' })
      await person.ask('token:stuck-2')
      assert.match(await person.answer(), /stuck-2/)
      assert.ok(chats.pages.stopped(sight.site) > stopped)
      await person.leave()
    })

    test('notices come in each language', async () => {
      for (const locale of name.includes('articles') ? locales : ['en', 'ja', 'fr'] as const) {
        const person = await at({ locale })
        const say = words[locale]
        const troubles = [['ratelimit', say.rateLimited], ['network', say.network], ['expire', say.expired]] as const
        for (
          const [n, [mark, said]] of (locale === 'en' ? troubles : [troubles[locales.indexOf(locale) % 3]!]).entries()
        ) {
          await person.ask(`token:no-${mark} [[${mark}]]`)
          await person.see('trouble').nth(n).waitFor()
          assert.ok((await person.text('trouble')).includes(said), `${locale} ${mark}`)
        }
        assert.equal(await person.see('stop').count(), 0)
        await person.leave()
      }
    })

    test('an earlier conversation appears in place of a new chat', async () => {
      for (const old of name.includes('articles') ? [0, 2000] : [0]) {
        const person = await at({ old })
        await person.see('answer').nth(1).waitFor()
        assert.ok(await person.age() >= old)
        assert.match(await person.text('answer'), /stale-2/)
        await person.leave()
      }
    })

    test('a user who is not logged in gets log-in pages', async () => {
      const guest = await at({ loggedOut: 'guest' })
      await guest.see('field').waitFor()
      assert.ok(await guest.page.getByText(/^(Log|Sign) in$/).isVisible())
      await guest.ask('token:guest-1')
      await guest.see('trouble').waitFor()
      await guest.leave()
      const out = await at({ loggedOut: 'wall' })
      assert.match(out.page.url(), /\/(auth\/login|signin|welcome)/)
      assert.ok(await out.page.getByText(/^(Log|Sign) in$/).isVisible())
      assert.equal(await out.see('field').count(), 0)
      await out.leave()
    })

    test('an unknown layout has no known mark, and works', async () => {
      const person = await at({ layout: 'unknown' })
      const field = person.page.locator('[contenteditable]')
      for (const what of ['field', 'send', 'stop', 'user', 'answer', 'end'] as const)
        assert.equal(await person.see(what).count(), 0, what)
      await field.click()
      await person.page.keyboard.type('token:odd-1')
      await person.page.keyboard.press('Enter')
      await person.page.getByText('ends with **odd-1**').waitFor()
      await person.leave()
    })

    test('the editor comes late', async () => {
      const person = await at({ late: 700 })
      await person.see('field').waitFor()
      assert.ok(await person.age() >= 700)
      await person.ask('token:late-1')
      assert.match(await person.answer(), /late-1/)
      await person.leave()
    })
  })
}
