import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FailureCode, FromDriver, Order } from '../../extension/chats/drivermessages.ts'
import type { Times } from '../../extension/chats/driver/times.ts'
import { loginPath } from '../sites/hosts.ts'
import {
  aistudio,
  article,
  gemini,
  layouts,
  passMinute,
  plain,
  right,
  Sites,
  some,
  token,
  turnKey,
  wake,
  type On,
} from './site.ts'

const sites = new Sites()

/** `times` shortens the waits for what never comes. Other waits keep the driver's own times. */
interface Row {
  name: string
  on: On[]
  query?: On['query']
  mark?: string
  order?: Partial<Order>
  times?: Partial<Times>
  late?: boolean
  code: FailureCode
  kind?: string
  says: RegExp
  sent: number | [number, number]
}

const chatgpt = [article, turnKey]
const one = [article, gemini, aistudio]
const rows: Row[] = [
  {
    name: 'log-in buttons above a page that works',
    on: layouts,
    query: { loggedOut: 'guest' },
    code: 'LOGIN_REQUIRED',
    says: /^Login required: log in to/,
    sent: 0,
  },
  {
    name: 'a log-in page',
    on: one,
    query: { loggedOut: 'wall' },
    code: 'LOGIN_REQUIRED',
    says: /^Login required: log in to/,
    sent: 0,
  },
  {
    name: 'T16: a log-in form that refused',
    on: one,
    query: { loggedOut: 'refused' },
    code: 'AUTHENTICATION_FAILED',
    says: /^Authentication failed: .* refused the log-in/,
    sent: 0,
  },
  {
    name: 'the session expires',
    on: layouts,
    mark: '[[expire]]',
    code: 'SESSION_EXPIRED',
    says: /^Session expired: log in to .* again/,
    sent: 1,
  },
  { name: 'the usage limit', on: layouts, mark: '[[ratelimit]]', code: 'RATE_LIMITED', says: /wait until/, sent: 1 },
  {
    name: 'the network',
    on: layouts,
    mark: '[[network]]',
    code: 'NETWORK_ERROR',
    says: /check the connection/,
    sent: [1, Infinity],
  },
  {
    name: 'the network, in the middle',
    on: one,
    mark: '[[network mid=1]]',
    code: 'NETWORK_ERROR',
    says: /check the connection/,
    sent: [1, Infinity],
  },
  {
    name: 'no answer',
    on: layouts,
    mark: '[[noresponse]]',
    times: { response: 1200 },
    code: 'STUCK',
    kind: 'no response',
    says: /look at the chat/,
    sent: 1,
  },
  {
    name: 'a stop button and nothing else',
    on: layouts,
    mark: '[[stuck]]',
    times: { response: 1200, working: 1600 },
    code: 'STUCK',
    kind: 'no response',
    says: /look at the chat/,
    sent: 1,
  },
  {
    name: 'an answer that does not end in time',
    on: layouts,
    mark: '[[pause ms=60000]]',
    late: true,
    code: 'TIMEOUT',
    says: /sawStopButton=true.*answerLength=[1-9]/,
    sent: 1,
  },
  {
    name: 'a page of another generation',
    on: one,
    query: { layout: 'unknown' },
    times: { input: 1500 },
    code: 'LAYOUT_UNKNOWN',
    says: /needs an update/,
    sent: 0,
  },
  {
    name: 'an editor that takes nothing',
    on: one,
    query: { mangle: 'scripted' },
    code: 'INPUT_NOT_APPLIED',
    says: /trusted input/,
    sent: 0,
  },
  {
    name: 'no way of sending works',
    on: layouts,
    mark: '[[deaf]]',
    times: { turn: 800 },
    code: 'SEND_NOT_CONFIRMED',
    says: /before you ask again/,
    sent: 0,
  },
  {
    name: 'the send button stays disabled',
    on: one,
    mark: '[[disabled ms=20000]]',
    times: { send: 1200 },
    code: 'SEND_NOT_CONFIRMED',
    says: /did not become available/,
    sent: 0,
  },
  {
    name: 'a conversation that is gone',
    on: one,
    order: { continues: true },
    times: { turns: 1200 },
    code: 'UNKNOWN',
    says: /may have been deleted/,
    sent: 0,
  },
  {
    name: 'a model that the page does not have',
    on: [aistudio],
    order: { model: 'gemini-9' },
    code: 'MODEL_UNAVAILABLE',
    says:
      /does not offer the model "gemini-9"\. Its page offers: gemini-2\.5-flash \(Gemini 2\.5 Flash\), .*gemini-1\.0-pro/,
    sent: 0,
  },
  {
    name: 'a temperature that the page does not take',
    on: [aistudio],
    order: { temperature: 7 },
    code: 'UNKNOWN',
    says: /offers no temperature "7"/,
    sent: 0,
  },
  {
    name: 'a model where there is none to choose',
    on: [article],
    query: { noTestIds: true },
    order: { model: 'gpt-9' },
    code: 'MODEL_UNAVAILABLE',
    says: /shows no list of models/,
    sent: 0,
  },
]

describe('the driver fails', { concurrency: 8, timeout: 300_000 }, () => {
  for (const [nth, row] of rows.entries())
    for (const on of some(row.on, nth)) {
      test(`${row.name}: ${row.code}, ${on.name}`, async () => {
        const about = token('fail')
        const wall = row.query?.loggedOut === 'wall' || row.query?.loggedOut === 'refused'
        const driven = await sites.open({
          ...on,
          query: { ...on.query, ...row.query },
          path: wall ? loginPath[on.site] : undefined,
          times: row.times,
        })
        await driven.start(`${row.mark ?? ''} token:${about}`.trim(), row.order)
        if (row.late) {
          await driven.message((m): m is Extract<FromDriver, { type: 'partial' }> => m.type === 'partial')
          await passMinute(driven)
        }
        const { failure, answer } = await driven.outcome()
        assert.equal(answer, undefined)
        assert.deepEqual([failure!.code, failure!.kind], [row.code, row.kind], failure!.message)
        assert.match(failure!.message, row.says)
        assert.match(failure!.message, /^[A-Z].*[.)]$/s)
        // Over HTTP/1.1 Chromium repeats a POST if its connection breaks.
        const [least, most] = [row.sent].flat() as [number, number?]
        const count = () => sites.received(on.site, about).length
        // On a busy machine the driver's time may end before the prompt reaches the backend.
        for (const end = Date.now() + 20_000; count() < least && Date.now() < end;)
          await driven.page.waitForTimeout(20)
        const sent = count()
        assert.ok(sent >= least && sent <= (most ?? least), `sent ${sent} times`)
        assert.equal(
          failure!.state!.layout,
          ['LAYOUT_UNKNOWN', 'LOGIN_REQUIRED', 'AUTHENTICATION_FAILED'].includes(row.code) ? '' : on.layout,
        )
        if (row.code === 'LAYOUT_UNKNOWN') assert.equal(failure!.health![on.layout]!.input, 0)
        assert.equal(await written(driven), '', 'nothing is left in the field')
        driven.close()
      })
    }

  for (const on of layouts) {
    test(`an earlier answer never ended: STUCK, ${on.name}`, async () => {
      const about = token('kept')
      const driven = await sites.open({ ...on, times: { frozen: 400, stop: 600 } })
      const first = await driven.ask(`[[frozen kept=1]] token:${about}`)
      assert.deepEqual([first.answer?.answer, first.answer?.confidence], [plain(about), 'low'])
      assert.ok(first.answer!.evidence.includes('stop button stays'))
      const { failure } = await driven.ask(`token:${about}-next`, { continues: true })
      assert.deepEqual([failure!.code, failure!.kind, failure!.state!.stopVisible], ['STUCK', 'stop button', true])
      assert.equal(sites.received(on.site, `${about}-next`).length, 0)
      driven.close()
    })

    test(`cancelled while it answers, ${on.name}`, async () => {
      const about = token('cancel')
      const driven = await sites.open(on)
      const stopped = sites.pages.stopped(on.site)
      await driven.start(`[[slow ms=10000]] token:${about}`)
      await driven.phase('answering')
      const begun = Date.now()
      await driven.tell({ type: 'cancel' })
      const { failure } = await driven.outcome()
      assert.equal(failure!.code, 'CANCELLED')
      console.log(`# cancelled after ${Date.now() - begun} ms`)
      // The page notifies its backend after the button has gone.
      for (const end = Date.now() + 20_000; sites.pages.stopped(on.site) === stopped && Date.now() < end;)
        await driven.page.waitForTimeout(20)
      assert.ok(sites.pages.stopped(on.site) > stopped)
      const next = token('after')
      right(await driven.ask(`token:${next}`, { continues: true }), plain(next, 2))
      driven.close()
    })
  }

  test('cancelled before it was sent: nothing is sent or left', async () => {
    const about = token('early')
    const driven = await sites.open(article)
    await driven.start(`[[disabled ms=5000]] token:${about}`)
    await driven.phase('sending')
    await driven.tell({ type: 'cancel' })
    assert.equal((await driven.outcome()).failure!.code, 'CANCELLED')
    assert.equal(await written(driven), '')
    assert.equal(sites.received('chatgpt', about).length, 0)
    driven.close()
  })

  for (const on of chatgpt)
    test(`an empty answer is reported as empty, ${on.name}`, async () => {
      const { answer } = await sites.ask({ ...on, times: { empty: 500 } }, `[[empty]] token:${token('empty')}`)
      assert.deepEqual([answer!.answer, answer!.confidence], ['', 'low'])
      assert.ok(answer!.evidence.includes('no text'))
    })

  test('the port is closed: the run ends, and nothing of it stays', async () => {
    const about = token('closed')
    const driven = await sites.open(article)
    await driven.start(`[[disabled ms=60000]] token:${about}`)
    await driven.phase('sending')
    await driven.hangUp()
    await wake(driven)
    await driven.page.waitForTimeout(500)
    assert.equal(sites.received('chatgpt', about).length, 0)
    assert.equal(await written(driven), '')
    await driven.page.keyboard.press('a')
    assert.equal(driven.messages.some((m: FromDriver) => m.type === 'paused'), false)
    driven.close()
  })
})

/** Returns the text in the page's field, whatever kind it is. */
function written(driven: { page: import('playwright-core').Page }): Promise<string> {
  return driven.page.evaluate(() => {
    const find = (root: ParentNode): Element | null =>
      root.querySelector('#prompt-textarea, .ql-editor, textarea[formcontrolname]') ??
        [...root.querySelectorAll('*')].map((el) => el.shadowRoot && find(el.shadowRoot)).find(Boolean) ?? null
    const field = find(document)
    return (field instanceof HTMLTextAreaElement ? field.value : field?.textContent ?? '').trim()
  })
}
