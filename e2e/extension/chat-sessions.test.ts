import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { Asking, sites } from './asking.ts'
import { call, hasTool } from './rig.ts'

// Data that outlives a prompt: a client's conversations (B27), history (B28), reports of failures (B29).

let asking: Asking
let other: Client
before(async () => {
  asking = await Asking.create()
  other = await asking.rig.bridge.httpClient('someone else entirely')
})
after(() => asking?.close())
beforeEach(() => asking.pages.reset())

/** Replaces the worker. The new one has only the stored state. */
async function restarted(): Promise<void> {
  await asking.rig.killWorker()
  await hasTool(asking.client, 'chat_all')
}

test('a new chat for each prompt, or with "reuse chats" one for each client', async () => {
  const first = await asking.ask('gemini')
  const second = await asking.ask('gemini')
  assert.notEqual(first.conversationId, second.conversationId)
  await asking.rig.ask('setOptions', { reuse: 'client' })
  await Promise.all(sites.map(async (site) => {
    const theirs = await asking.ask(site, '', { client: other })
    const named = await asking.ask(site, '', { conversationId: theirs.conversationId, turn: 2 })
    assert.equal(named.conversationId, theirs.conversationId)
    for (const turn of [3, 4])
      assert.equal((await asking.ask(site, '', { turn })).conversationId, theirs.conversationId)
  }))
  const kept = await asking.ask('aistudio', '', { turn: 5 })
  await restarted()
  assert.equal((await asking.ask('aistudio', '', { turn: 6 })).conversationId, kept.conversationId)
  assert.equal((await asking.ask('aistudio', '', { client: other, turn: 7 })).conversationId, kept.conversationId)
})

test('a remembered conversation that is stuck or gone gives way to a new one; one that the client named does not', async () => {
  await asking.rig.ask('setOptions', { reuse: 'client' })
  await asking.ask('aistudio')
  asking.pages.reset() // conversations too
  const stuck = async () => {
    const { conversationId } = (await asking.call('gemini', asking.prompt('[[frozen kept=1]]').prompt)).structured as {
      conversationId: string
    }
    assert.notEqual((await asking.ask('gemini')).conversationId, conversationId)
  }
  const gone = async () => {
    const fault = await asking.fails('chatgpt', '', 'UNKNOWN', {
      conversationId: '00000000-0000-4000-8000-000000000000',
    })
    assert.match(fault.text, /did not open/)
    assert.equal(fault.sent, 0)
  }
  await Promise.all([stuck(), gone(), asking.ask('aistudio', '', { timeoutSeconds: 30 })])
  await asking.rig.ask('setOptions', { reuse: 'off' })
})

test("B27: by default a prompt continues its project's chat, and clients of the same name are apart", async () => {
  await asking.rig.ask('setOptions', { reuse: 'project' })
  const [one, two, elsewhere] = await Promise.all([
    asking.rig.bridge.stdioClient('twin', '--project', 'harbour'),
    asking.rig.bridge.stdioClient('twin', '--project', 'harbour'),
    asking.rig.bridge.stdioClient('twin', '--project', 'tides'),
  ])
  const asked = (client: Client, turn: number, more = {}) => asking.ask('aistudio', '', { client, turn, ...more })
  const first = await asked(one, 1)
  assert.equal((await asked(one, 2)).conversationId, first.conversationId)
  const others = [await asked(two, 1), await asked(elsewhere, 1), await asked(one, 1, { conversationId: 'new' })]
  assert.equal(new Set([first, ...others].map((a) => a.conversationId)).size, 4)
  await restarted()
  assert.equal((await asked(two, 2)).conversationId, others[0]!.conversationId)

  const sessions = async (client: Client, args = {}) =>
    (await call(client, 'chat_sessions', args)).structured.sessions as Record<string, string>[]
  const [latest, earlier] = await sessions(one)
  assert.deepEqual([latest!.conversationId, earlier!.conversationId], [others[2]!.conversationId, first.conversationId])
  assert.deepEqual([latest!.project, latest!.site, latest!.url], ['harbour', 'aistudio', others[2]!.url])
  assert.equal((await sessions(one)).length, 2)
  assert.equal((await sessions(elsewhere)).length, 1)
  assert.deepEqual(await sessions(elsewhere, { project: 'harbour' }), [])
  assert.deepEqual(await sessions(one, { site: 'gemini' }), [])

  // The one that starts again is the one that left.
  await one.close()
  const again = await asking.rig.bridge.stdioClient('twin', '--project', 'harbour')
  assert.equal((await sessions(again)).length, 2)
  await asking.rig.ask('setOptions', { reuse: 'off' })
  await Promise.all([two, elsewhere, again].map((c) => c.close()))
})

/** Returns the whole history as the user would export it. */
async function exported(): Promise<Record<string, unknown>[]> {
  const { lines, next } = await asking.rig.ask('exportHistory', {})
  assert.equal(next, null)
  return lines.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('B28: history is kept, searched, exported and cleared as the user wants', async () => {
  await asking.ask('gemini')
  assert.deepEqual(await exported(), [])
  const off = await call(asking.client, 'chat_history', {})
  assert.match(off.text, /The person can switch it on.*\(HISTORY_OFF\)$/)
  await asking.rig.ask('setOptions', { history: true })
  const { token, prompt } = asking.prompt()
  const r = await asking.call('chatgpt', prompt)
  await asking.fails('gemini', '[[ratelimit]]', 'RATE_LIMITED')
  const theirs = await asking.ask('aistudio', '', { client: other })
  const lines = await exported()
  assert.deepEqual(lines.map((e) => [e.site, e.outcome]), [['chatgpt', 'ok'], ['gemini', 'RATE_LIMITED'], [
    'aistudio',
    'ok',
  ]])
  const [{ ts, ...entry }] = lines as [Record<string, unknown>]
  assert.ok(Math.abs(Date.parse(String(ts)) - Date.now()) < 60_000)
  const { conversationId, url, timings, model } = r.structured
  assert.deepEqual(entry, {
    project: basename(process.cwd()),
    client: 'desk',
    site: 'chatgpt',
    provider: 'chatgpt',
    question: prompt,
    answer: r.text,
    url,
    conversationId,
    timings,
    model,
    outcome: 'ok',
    flags: [],
  })

  const found = async (args: object, client = asking.client) =>
    (await call(client, 'chat_history', { ...args })).structured.entries as { site: string; url: string }[]
  assert.deepEqual((await found({ query: `FOUND about ${token}` })).map((e) => e.site), ['chatgpt'])
  assert.deepEqual((await found({})).map((e) => e.site), ['gemini', 'chatgpt'])
  assert.deepEqual((await found({}, other)).map((e) => e.url), [theirs.url], "not the other client's")
  assert.deepEqual(await found({ site: 'aistudio' }), [])

  const page = await asking.rig.ask('history', { text: token, limit: 1 })
  assert.deepEqual([page.entries.length, page.more, page.projects], [1, false, [basename(process.cwd())]])
  const two = await asking.rig.ask('history', { limit: 2 })
  assert.deepEqual([two.entries.map((e) => e.site), two.more], [['aistudio', 'gemini'], true])
  const rest = await asking.rig.ask('history', { limit: 2, before: two.entries[1]!.id })
  assert.deepEqual([rest.entries.map((e) => e.site), rest.more], [['chatgpt'], false])
  await asking.rig.ask('deleteHistory', { id: two.entries[1]!.id })
  assert.equal((await exported()).length, 2)
  await restarted()
  assert.match(JSON.stringify(await exported()), new RegExp(token))
  await asking.rig.ask('clearHistory', {})
  assert.deepEqual(await exported(), [])
  await restarted()
  assert.deepEqual(await exported(), [])
  await asking.rig.ask('setOptions', { history: false })
})

test('B28: an entry that is too old is forgotten, also if history is off and nobody looks at it', async () => {
  await asking.rig.ask('history', {}) // makes the database
  const isEmpty = () => {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    const opened = indexedDB.open('portolan-history')
    opened.onerror = () => reject(opened.error)
    opened.onsuccess = () => {
      const counted = opened.result.transaction('entries').objectStore('entries').count()
      counted.onsuccess = () => {
        opened.result.close()
        resolve(!counted.result)
      }
    }
    return promise
  }
  await asking.rig.panel.evaluate(() => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const opened = indexedDB.open('portolan-history')
    opened.onsuccess = () => {
      const writing = opened.result.transaction('entries', 'readwrite')
      writing.objectStore('entries').add({ ts: '2020-01-01T00:00:00.000Z', question: 'old', size: 3 })
      writing.oncomplete = () => {
        opened.result.close()
        resolve()
      }
    }
    return promise
  })
  assert.equal(await asking.rig.panel.evaluate(isEmpty), false)
  await restarted()
  await asking.rig.panel.until(isEmpty, [], 'the old entry is forgotten')
})

test('B29: a suspicious answer is flagged, and a bundle with the eight fields is kept over a restart', async () => {
  const { token, prompt } = asking.prompt('[[empty]]')
  const empty = await asking.call('chatgpt', prompt)
  assert.deepEqual(empty.structured.flags, ['suspicious_answer'])
  assert.ok(!('debug' in empty.structured))
  await asking.rig.ask('setOptions', { debugTexts: true })
  const said = asking.prompt('[[empty]]')
  await asking.call('gemini', said.prompt)
  await asking.rig.ask('setOptions', { debugTexts: false })
  await restarted()
  const [redacted, told] = (await asking.rig.ask('troubles', {})).slice(-2).map((t) => JSON.parse(t.file))
  assert.equal(redacted.code, 'SUSPICIOUS_ANSWER')
  assert.deepEqual(Object.keys(redacted).filter((key) => key.startsWith('debug_')).sort(), [
    'debug_assistantMsgsCount',
    'debug_bodyLen',
    'debug_bodySnippet',
    'debug_chatgptArticlesCount',
    'debug_lastAssistantInnerTextLen',
    'debug_markdownsInLast',
    'debug_pageTitle',
    'debug_pageUrl',
  ])
  assert.equal(redacted.debug_assistantMsgsCount, 1)
  assert.ok(redacted.debug_bodyLen > 100)
  assert.ok(!JSON.stringify(redacted).includes(token), 'no words unless the user allows them')
  assert.ok(told.question.includes(said.token) && told.debug_bodySnippet.includes('Gemini'), JSON.stringify(told))
  assert.ok(!(await asking.rig.ask('debugBundle', {})).includes(said.token))
})

test("a debug bundle has the driver's observations, and no one's words", async () => {
  await asking.rig.ask('setLabel', { label: 'Annabel’s own profile' })
  const { token, prompt } = asking.prompt('[[empty]]')
  await asking.call('aistudio', prompt, {}, other)
  const failed = await asking.fails('gemini', '[[network mid=1]]', 'NETWORK_ERROR')
  assert.ok(failed.state)
  const asked = asking.ask('chatgpt', '[[pause ms=60000]]', { client: other })
  const { runs } = await asking.rig.until(
    'it answers',
    (s) => s.runs.length === 1 && s.runs[0]!.site === 'chatgpt' && s.runs[0]!.phase === 'answering',
  )
  const text = await asking.rig.ask('debugBundle', {})
  asking.pages.goOn('chatgpt')
  await asked
  const { clients } = await asking.rig.state()
  const secret = [
    token,
    'second line',
    'Here is what I found',
    'answer 1',
    'someone else',
    'Annabel',
    '"desk"',
    asking.rig.bridge.address,
    runs[0]!.prompt.slice(0, 20),
    ...clients.map((c) => c.key),
  ]
  for (const word of secret) assert.ok(!text.includes(word), `${word} in the report`)
  const report = JSON.parse(text) as {
    runs: object[]
    troubles: { code: string; site: string; details: Record<string, Record<string, unknown>> }[]
  }
  assert.deepEqual(report.runs, [{ site: 'chatgpt', phase: 'answering', mode: 'auto' }])
  const codes = report.troubles.map((t) => `${t.site} ${t.code}`)
  assert.deepEqual(codes.slice(-2), ['aistudio SUSPICIOUS_ANSWER', 'gemini NETWORK_ERROR'])
  assert.equal(report.troubles.at(-1)!.details.state!.turnFound, true)
})
