import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answer as wholeAnswer } from '../sites/answer.ts'
import { Scenario } from '../sites/scenario.ts'
import type { FromDriver } from '../../extension/chats/drivermessages.ts'
import {
  aistudio,
  article,
  gemini,
  layouts,
  phases,
  plain,
  right,
  runs,
  Sites,
  thorough,
  token,
  turnKey,
} from './site.ts'
import type { Driven } from './drivenpage.ts'

const sites = new Sites()

/** The backend's Markdown as the driver reads it from a page's elements. */
const asRead = (text: string, origin: string) =>
  text.replace('|---|---:|---|', '| --- | ---: | --- |').replace('[^1]', '').replace('quotation\n> of', 'quotation of')
    .replaceAll('](/images', `](${origin}/images`)

describe('driver', { concurrency: 8, timeout: 300_000 }, () => {
  test('an address that the page sets after the text is in the answer', async () => {
    const driven = await sites.open(article)
    await driven.page.evaluate(() => {
      const { post } = driverPort
      driverPort.post = (m) => {
        if ((m as { phase?: string }).phase === 'reading') {
          for (const link of document.querySelectorAll('a')) link.href = 'https://tides.example/late'
        }
        post(m)
      }
    })
    const { answer } = await driven.ask(`[[markdown]] token:${token('late')}`)
    assert.match(answer!.answer, /\[link\]\(https:\/\/tides\.example\/late\)/)
    driven.close()
  })

  for (const hours of [1, -1]) {
    const set = (driven: Driven) =>
      driven.page.evaluate((hours) => {
        const now = Date.now
        Date.now = () => now() + hours * 3_600_000
      }, hours)

    test(`a clock that is set by ${hours} h ends no answer, and no wait`, async () => {
      const about = token('clock')
      const driven = await sites.open(article)
      await driven.start(`[[think ms=60000]] [[outline ms=60000 nostop=1]] token:${about}`)
      await driven.phase('thinking')
      await set(driven)
      sites.pages.goOn('chatgpt', about)
      await driven.phase('answering')
      sites.pages.goOn('chatgpt', about)
      right(await driven.outcome(), plain(about))
      driven.close()
    })

    test(`a clock that is set by ${hours} h: no response is noticed in its time`, async () => {
      const driven = await sites.open({ ...article, times: { response: 3000 } })
      await driven.start(`[[noresponse]] token:${token('silent')}`)
      await driven.phase('waiting')
      await set(driven)
      const { failure } = await driven.outcome(20_000)
      assert.equal(failure?.code, 'STUCK')
      assert.ok(failure.state!.quietMs >= 3000 && failure.state!.quietMs < 20_000, JSON.stringify(failure.state))
      driven.close()
    })
  }

  for (const [nth, on] of layouts.entries()) {
    test(`${on.name}: a prompt of several lines arrives as it is, and its answer comes back`, async () => {
      const driven = await sites.open(on)
      const about = token(on.name)
      const prompt = `A question on token:${about}\n\n- with lines\n\tand "spaces"  <b>&amp;</b> — ü 漢字 😀`
      const outcome = await driven.ask(prompt)
      const answer = right(outcome, plain(about))
      assert.deepEqual(sites.received(on.site, about).map(({ text }) => text.replace(/\t| {2}/g, ' ')), [
        prompt.replace(/\t| {2}/g, ' '),
      ])
      assert.deepEqual([answer.layout, answer.confidence, answer.truncated], [on.layout, 'high', false])
      assert.deepEqual(answer.evidence, ['stop gone', 'feedback buttons', `model: ${answer.model}`])
      assert.ok(answer.conversationId && answer.url.includes(answer.conversationId))
      assert.deepEqual(Object.keys(answer.timings), ['waitInputMs', 'inputMs', 'sendMs', 'waitResponseMs', 'totalMs'])
      assert.deepEqual(phases(outcome.messages).filter((p) => p !== 'answering'), [
        'opening',
        'input',
        'sending',
        'waiting',
        'reading',
      ])
      driven.close()
    })

    test(`${on.name}: everything that Markdown has, after thinking`, async () => {
      const about = token('all')
      const prompt = `[[markdown]] [[think ms=60000 skip=1]] token:${about}`
      const driven = await sites.open(on)
      const outcome = await sites.think(driven, prompt)
      driven.close()
      right(
        outcome,
        asRead(wholeAnswer(prompt, new Scenario(prompt), 'en', 1), new URL(sites.pages.httpUrl(on.site)).origin),
      )
    })

    test(`${on.name}: outlines and pauses are not answers`, async () => {
      const driven = await sites.open(on)
      for (const [n, mark] of ['[[outline]]', '[[outline nostop=1]]', '[[pause ms=1500]]'].entries()) {
        const about = token('partial')
        right(await driven.ask(`${mark} token:${about}`, { continues: n > 0 }), plain(about, n + 1))
      }
      driven.close()
    })

    test(`${on.name}: a long answer, with partial answers`, async () => {
      const about = token('long')
      const prompt = `[[long kb=64]] [[slow ms=1500]] token:${about}`
      const outcome = await sites.ask(on, prompt)
      right(outcome, wholeAnswer(prompt, new Scenario(prompt), 'en', 1))
      const partials = outcome.messages.flatMap((m) => m.type === 'partial' ? [m.text] : [])
      assert.ok(
        partials.length >= 1 && partials.every((text) => Buffer.byteLength(text) <= 64 << 10 && text.includes(about)),
      )
    })

    test(`${on.name}: an old conversation with the same prompt is never the answer`, async () => {
      for (const old of [0, 800]) {
        // The stale conversation has exactly this prompt.
        const prompt = 'Earlier question 2: token:stale-2'
        const outcome = await sites.ask(
          { ...on, query: { ...on.query, old }, times: old ? { settle: 500 } : {} },
          prompt,
        )
        assert.equal(outcome.failure, undefined)
        // Answer 2 is stale. Ours is the third, or the first if the page had not filled the chat yet.
        assert.match(
          outcome.answer!.answer,
          /answer (?:3|1) of this conversation, and it ends with \*\*stale-2\*\*/,
          `old=${old}`,
        )
      }
    })

    test(`${on.name}: a conversation that continues, by its address`, async () => {
      const id = sites.pages.seed(on.site, 3)
      const driven = await sites.open({ ...on, path: sites.pages.path(on.site, id) })
      for (const n of [4, 5]) {
        const about = token('next')
        const answer = right(await driven.ask(`token:${about}`, { continues: true }), plain(about, n))
        assert.equal(answer.conversationId, id)
      }
      // The same words again are a new turn.
      const [prompt, about] = ['Say it again, token:again', 'again']
      right(await driven.ask(prompt, { continues: true }), plain(about, 6))
      right(await driven.ask(prompt, { continues: true }), plain(about, 7))
      driven.close()
    })

    if (thorough || nth % 2)
      test(`${on.name}: a turn whose elements are replaced while it streams`, async () => {
        const about = token('remount')
        right(await sites.ask(on, `[[remount]] [[slow ms=800]] token:${about}`), plain(about))
      })

    test(`${on.name}: no wrong or stale answer`, async () => {
      const driven = await sites.open(on)
      for (let n = 1; n <= runs; n++) {
        const about = token('run')
        right(await driven.ask(`token:${about}`, { continues: n > 1 }), plain(about, n))
      }
      driven.close()
    })

    if (thorough || nth % 2 === 0)
      test(`${on.name}: timers of a hidden page`, async () => {
        const about = token('hidden')
        const driven = await sites.open({ ...on, slow: true })
        right(await driven.ask(`[[slow ms=700]] token:${about}`), plain(about))
        driven.close()
      })
  }

  for (const locale of ['ja', 'de', 'fr', 'es', 'zh'] as const) {
    // Two layouts know some marks only by words.
    for (
      const on of [
        ...thorough ? layouts : [turnKey, ...locale === 'ja' ? [gemini] : locale === 'zh' ? [aistudio] : []],
        { ...article, name: 'ChatGPT without test ids', query: { ...article.query, noTestIds: true } },
      ]
    ) {
      test(`${on.name}: the page speaks ${locale}`, async () => {
        const about = token(locale)
        const prompt = `[[think ms=60000 skip=1]] token:${about}`
        const driven = await sites.open({ ...on, query: { ...on.query, locale } })
        const outcome = await sites.think(driven, prompt)
        driven.close()
        const answer = right(outcome, wholeAnswer(prompt, new Scenario(prompt), locale, 1))
        assert.equal(answer.confidence, 'high')
      })
    }
  }
})

// These tests run alone, because they measure time.
for (const on of layouts)
  test(`${on.name}: an answer is captured soon after its completion`, async () => {
    const driven = await sites.open({ ...on, slow: on === turnKey })
    const delays: number[] = []
    for (let n = 1; n <= 2; n++) {
      const about = token('delay')
      await driven.page.evaluate(watchEnd)
      right(await driven.ask(`token:${about}`, { continues: n > 1 }), plain(about, n))
      delays.push(Math.round(await driven.page.evaluate(() => globalThis.doneAt! - globalThis.endAt!)))
    }
    driven.close()
    console.log(`# ${on.name}: captured ${delays.join(', ')} ms after completion`)
    // The goal is 500, but other programs use the machine too.
    assert.ok(Math.min(...delays) < 5000, 'it waits for what is not to come')
  })

declare global {
  /** In the page: the times of the marks of completion, and of the driver's report. */
  var endAt: number | undefined
  var doneAt: number | undefined
}

/** Runs in the page. Records when marks of completion are added, and when the driver reports. */
function watchEnd(): void {
  const count = (root: ParentNode): number =>
    root.querySelectorAll(
      '[data-testid="good-response-turn-action-button"], [data-turn-key] > [role="group"], img[alt="thumb_up"], button[iconname="thumb_up"]',
    ).length +
    [...root.querySelectorAll('*')].reduce((sum, el) => sum + (el.shadowRoot ? count(el.shadowRoot) : 0), 0)
  const before = count(document)
  const told = globalThis.driverPort.post
  globalThis.endAt = undefined
  const look = () => {
    if (globalThis.endAt === undefined && count(document) > before) globalThis.endAt = performance.now()
  }
  const timer = setInterval(look, 10)
  globalThis.driverPort.post = (m) => {
    told(m)
    if ((m as FromDriver).type !== 'done') return
    look()
    clearInterval(timer)
    globalThis.doneAt = performance.now()
    globalThis.driverPort.post = told
  }
}
