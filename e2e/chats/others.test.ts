import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { siteSpecs } from '../../extension/chats/sites/index.ts'
import type { FailureCode } from '../../extension/chats/drivermessages.ts'
import { subject } from '../sites/answer.ts'
import { loginPath } from '../sites/hosts.ts'
import { seen, selectors, watch } from './selectors.ts'
import { gemini, others, plain, right, Sites, token, type On } from './site.ts'

// The sites that are data only: one row of scenarios for each of them.

const sites = new Sites()
/**
 * The waits for a quiet text are shorter than the product's, because three of the pages show no mark of a complete
 * answer. Still shorter ones take a pause of a busy machine for the end.
 */
const times = { quietGone: 2500, quietUnseen: 3500 }

const troubles: { name: string; on: Partial<On>; mark?: string; code: FailureCode }[] = [
  { name: 'signed out', on: { query: { loggedOut: 'wall' } }, code: 'LOGIN_REQUIRED' },
  { name: 'a refused log-in', on: { query: { loggedOut: 'refused' } }, code: 'AUTHENTICATION_FAILED' },
  { name: 'the usage limit', on: {}, mark: '[[ratelimit]]', code: 'RATE_LIMITED' },
  { name: 'no answer', on: { times: { ...times, response: 1500 } }, mark: '[[noresponse]]', code: 'STUCK' },
]

describe('S12: sites that are data', { concurrency: 3, timeout: 300_000 }, () => {
  for (const on of others) {
    test(`${on.name}: several lines, thinking, a second turn; each selector has a page that proves it`, async () => {
      const wanted = selectors(siteSpecs[on.site], on.layout)
      const driven = await sites.open({ ...on, times })
      await watch(driven, wanted)
      const about = token('other')
      const prompt =
        `**Of** several\n\n1. \`lines\`, “quoted” & <b> [[think ms=60000 skip=1]] [[markdown]] token:${about}`
      const picked = siteSpecs[on.site].layouts[0]!.model ? { model: 'Haiku' } : {}
      await driven.start(prompt, picked)
      await driven.page.locator('.skip').waitFor()
      await seen(driven)
      sites.pages.goOn(on.site, about)
      const { answer, failure } = await driven.outcome()
      assert.equal(failure, undefined)
      assert.match(
        answer!.answer,
        new RegExp(`^Here is what I found about ${about}.*# Findings on ${about}.*\\*\\*${about}\\*\\*\\.$`, 's'),
      )
      assert.doesNotMatch(answer!.answer, /UNSPOKEN|Thought for|\bCopy\b/)
      assert.equal(sites.received(on.site, about)[0]!.text, prompt)
      assert.equal(answer!.layout, on.layout)
      assert.ok(answer!.conversationId && new URL(answer!.url).pathname.includes(answer!.conversationId))
      if (picked.model) assert.equal(answer!.model, picked.model)
      if (picked.model) { // the driver is too quick there for a search every 30 ms
        await driven.page.locator('[data-testid="model-selector-dropdown"]').click()
        await driven.page.getByRole('menuitem').first().waitFor()
      }
      const found = await seen(driven)
      if (picked.model) await driven.page.keyboard.press('Escape')
      assert.deepEqual(wanted.filter((selector) => !found.includes(selector)), [])
      const next = token('next')
      right(await driven.ask(`token:${next}`, { continues: true }), plain(next, 2))
      driven.close()
    })

    test(`${on.name}: troubles, each with its code`, async () => {
      for (const { name, on: state, mark = '', code } of troubles) {
        const path = state.query?.loggedOut ? loginPath[on.site] : undefined
        const about = token('trouble')
        const { failure } = await sites.ask({ ...on, times, ...state, path }, `${mark} token:${about}`)
        assert.equal(failure?.code, code, `${name}: ${failure?.message}`)
      }
    })
  }

  test('a prompt may end with line feeds', async () => {
    for (const on of others) {
      const about = token('ends')
      right(await sites.ask({ ...on, times }, `token:${about}\n\n`), plain(about))
    }
  })

  test('an answer may link to a log-in', async () => {
    const links = { grok: 'https://clerk.example/docs/sign-in', gemini: 'https://accounts.google.com/ServiceLogin' }
    for (const on of [...others, gemini]) {
      const link = links[on.site as keyof typeof links]
      if (!link) continue
      const about = token('link')
      const text = `See [its page](${link}).`
      sites.pages.reply(on.site, (prompt) => prompt.includes(about) ? text : undefined)
      right(await sites.ask({ ...on, times }, `[[slow ms=1500]] token:${about}`), text)
    }
  })

  test('a draft of several lines has them afterwards', async () => {
    const driven = await sites.open({ ...others.find(({ site }) => site === 'perplexity')!, times })
    const field = driven.page.locator('#ask-input')
    await field.click()
    await driven.page.keyboard.type('Dear aunt,')
    await driven.page.keyboard.press('Shift+Enter')
    await driven.page.keyboard.type('I never')
    const about = token('draft')
    right(await driven.ask(`token:${about}`), plain(about))
    assert.equal(await field.innerText(), 'Dear aunt,\nI never')
    driven.close()
  })

  test('a page may render a prompt: a short one, and one with formulas and links', async () => {
    const on = others.find(({ site }) => site === 'grok')!
    const long = 'Solve $x^2 + 1 = 0$ as in [a book](https://e.example/Root_(algebra)):\n\n$$\n\\int_0^1 x\\,dx\n$$'
    for (const prompt of ['**漢字**とは？', long])
      right(await sites.ask({ ...on, times }, prompt), plain(subject(prompt)))
  })

  test('cancelled: the stop button is pressed', async () => {
    for (const on of others) {
      const driven = await sites.open({ ...on, times })
      const stopped = sites.pages.stopped(on.site)
      await driven.start(`[[slow ms=9000]] token:${token('cancel')}`)
      await driven.phase('answering')
      await driven.tell({ type: 'cancel' })
      assert.equal((await driven.outcome()).failure!.code, 'CANCELLED')
      for (const end = Date.now() + 20_000; sites.pages.stopped(on.site) === stopped && Date.now() < end;)
        await driven.page.waitForTimeout(20)
      assert.equal(sites.pages.stopped(on.site), stopped + 1, on.name)
      driven.close()
    }
  })
})
