import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { soak } from '../rig/soak.ts'
import { Asking, type Fault, sites } from './asking.ts'
import { call } from './rig.ts'

// Failures of the sites, and their results for clients.

/** Uses all tries of B26, which take minutes. */
const thorough = soak

const own: Record<(typeof sites)[number], Record<string, (asking: Asking) => Promise<void>>> = {
  chatgpt: {
    async 'a stop button that stays: tried again in new tabs, and nothing sent'(asking) {
      const { prompt } = asking.prompt('[[frozen kept=1]]')
      const first = await asking.call('chatgpt', prompt)
      assert.ok(!first.error, first.text)
      assert.equal(first.structured.confidence, 'low')
      const again = asking.prompt()
      const steps: string[] = []
      const r = await call(asking.client, 'chat_chatgpt', {
        prompt: again.prompt,
        conversationId: first.structured.conversationId,
      }, { onprogress: (p) => steps.push(p.message ?? '') })
      assert.match(r.text, /\(STUCK\)$/)
      assert.equal((r.meta['portolan/error'] as Fault).kind, 'stop button')
      assert.equal(steps.filter((s) => /once more in a new tab/.test(s)).length, 2)
      assert.deepEqual(asking.sent('chatgpt', again.token), [])
      await asking.ask('chatgpt') // in a new chat
    },
  },

  gemini: {
    async 'time in the queue counts'(asking) {
      await asking.rig.until('the run before has ended', (s) => !s.runs.some((r) => r.site === 'gemini'))
      const first = asking.ask('gemini', '[[pause ms=60000]]')
      await asking.rig.until('it answers', (s) => s.runs.some((r) => r.site === 'gemini' && r.phase === 'answering'))
      const second = await call(asking.client, 'chat_all', {
        prompt: asking.prompt().prompt,
        services: ['gemini'],
        timeoutSeconds: 10,
      })
      const { error } = second.structured.gemini as { error: Fault }
      assert.equal(error.code, 'TIMEOUT')
      assert.match(second.text, /Nothing was sent/)
      asking.pages.goOn('gemini')
      await first
    },

    async 'a page that hangs holds nothing up, nor does one that did not load'(asking) {
      await asking.ask('gemini')
      await asking.rig.until('it ends', (s) => !s.runs.some((r) => r.site === 'gemini'))
      const { id } = await asking.tab('gemini')
      const failed = asking.fails('gemini', '[[slow ms=30000]]', 'TIMEOUT', { timeoutSeconds: 10 })
      await asking.rig.until('it answers', (s) => s.runs.some((r) => r.site === 'gemini' && r.phase === 'answering'))
      // The page reacts to nothing from then on: its thread waits, and does nothing else.
      await asking.rig.panel.evaluate((tabId) =>
        void chrome.scripting.executeScript({
          target: { tabId },
          func: () => {
            const request = new XMLHttpRequest()
            request.open('GET', '/never', false)
            request.send()
          },
        }), id)
      assert.match((await failed).text, /its page does not react/)
      await asking.ask('gemini')
      const other = await asking.tab('gemini')
      assert.notEqual(other.id, id, 'it did not wait for the page')

      await asking.rig.panel.evaluate(
        async (id) => void await chrome.tabs.update(id, { url: 'https://gemini.google.com/reset' }),
        other.id,
      )
      await asking.rig.panel.until(
        async (id) => (await chrome.tabs.get(id)).status === 'complete',
        [other.id],
        'an error page',
      )
      await asking.ask('gemini')
      assert.equal((await asking.tab('gemini')).id, other.id)
    },
  },

  aistudio: {
    async 'T16: sent to a log-in at another host, and one that was refused there'(asking) {
      await asking.closeTab('aistudio')
      asking.pages.set('aistudio', { loggedOut: 'away' })
      const away = await asking.fails('aistudio', '', 'LOGIN_REQUIRED')
      assert.match(away.text, /^Login required: .* accounts\.google\.com/)
      asking.pages.set('aistudio', { loggedOut: 'rejected' })
      const rejected = await asking.fails('aistudio', '', 'AUTHENTICATION_FAILED')
      assert.match(rejected.text, /^Authentication failed: Google refused the log-in/)
      assert.equal(away.sent + rejected.sent, 0)
      const logins = await asking.rig.panel.evaluate(() =>
        chrome.tabs.query({ url: 'https://accounts.google.com/*' }).then((tabs) => tabs.length)
      )
      assert.equal(logins, 1, 'the tab at the log-in is used again')
      asking.pages.set('aistudio', { loggedOut: false })
    },

    async 'a prompt that nothing follows: tried again, for as long as there is time'(asking) {
      const fault = await asking.fails('aistudio', '[[noresponse]]', 'STUCK', thorough ? {} : { timeoutSeconds: 45 })
      assert.equal(fault.kind, 'no response')
      assert.equal(fault.sent, thorough ? 3 : 1)
      assert.deepEqual([fault.state!.turnFound, fault.state!.stopVisible, fault.state!.answerLength], [true, false, 0])
    },

    ...thorough && {
      async 'a site at work that writes nothing: the same, after more patience'(asking) {
        const fault = await asking.fails('aistudio', '[[stuck]]', 'STUCK')
        assert.deepEqual([fault.sent, fault.kind, fault.state!.stopVisible, fault.state!.answerLength], [
          3,
          'no response',
          true,
          0,
        ])
      },
    },
  },
}

describe('trouble', { concurrency: sites.length }, () => {
  let asking: Asking
  before(async () => {
    asking = await Asking.create()
    asking.pages.set('chatgpt', { layout: 'turn-key' })
  })
  after(() => asking?.close())

  // At the same time, but one after another on a site, because the time in the queue counts.
  for (const site of sites)
    describe(site, { concurrency: 1 }, () => {
      test('refusals of the site have their own codes, and do not last', async () => {
        for (
          const [marks, code] of [['[[ratelimit]]', 'RATE_LIMITED'], ['[[network mid=1]]', 'NETWORK_ERROR'], [
            '[[expire]]',
            'SESSION_EXPIRED',
          ]] as const
        ) {
          const fault = await asking.fails(site, marks, code)
          assert.equal(fault.sent, 1)
          assert.ok(fault.state)
        }
        await asking.ask(site)
      })
      test('a deadline is kept, and the state reported', async () => {
        const begun = Date.now()
        const fault = await asking.fails(site, '[[slow ms=90000]]', 'TIMEOUT', { timeoutSeconds: 20 })
        const took = Date.now() - begun
        console.log(`# ${site}: 20 s took ${took} ms`)
        assert.ok(took >= 20_000 && took < 90_000, 'neither before nor when the answer is there')
        assert.ok(fault.state!.stopSeen && fault.state!.turnFound && fault.state!.answerLength > 0)
        assert.match(fault.text, /sawStopButton=true/)
        assert.equal(fault.sent, 1)
      })
      for (const [name, work] of Object.entries(own[site])) test(name, () => work(asking))
    })

  test('too little and too much time is refused, and a blank prompt', async () => {
    const wrong = [9, 481, 20.5, '60'].map((timeoutSeconds): object => ({ prompt: 'x', timeoutSeconds }))
    for (const args of [...wrong, { prompt: ' \n' }])
      for (const tool of ['chat_gemini', 'chat_all']) {
        const r = await call(asking.client, tool, args as Record<string, unknown>)
        assert.ok(r.error && r.text.startsWith('Invalid arguments:'), r.text)
      }
  })
})
