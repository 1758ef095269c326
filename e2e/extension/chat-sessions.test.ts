import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { sites } from '../../extension/chats/drivermessages.ts'
import { Asking } from './asking.ts'
import { hasTool } from './rig.ts'

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
  await asking.rig.ask('setOptions', { reuseChats: true })
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
  await asking.rig.ask('setOptions', { reuseChats: true })
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
  await asking.rig.ask('setOptions', { reuseChats: false })
})

test('history is kept, exported and cleared as the user wants', async () => {
  await asking.ask('gemini')
  assert.equal(await asking.rig.ask('exportHistory', {}), '')
  await asking.rig.ask('setOptions', { history: true })
  const { token, prompt } = asking.prompt()
  const r = await asking.call('chatgpt', prompt)
  await asking.fails('gemini', '[[ratelimit]]', 'RATE_LIMITED')
  const lines = (await asking.rig.ask('exportHistory', {})).trimEnd().split('\n').map((line) =>
    JSON.parse(line) as Record<string, unknown>
  )
  assert.equal(lines.length, 1)
  const [{ ts, client, ...entry }] = lines as [Record<string, unknown>]
  assert.ok(Math.abs(Date.parse(String(ts)) - Date.now()) < 60_000)
  assert.match(String(client), /desk/)
  assert.deepEqual(entry, {
    provider: 'chatgpt',
    question: prompt,
    answer: r.text,
    url: r.structured.url,
    timings: r.structured.timings,
  })
  await restarted()
  assert.match(await asking.rig.ask('exportHistory', {}), new RegExp(token))
  await asking.rig.ask('clearHistory', {})
  assert.equal(await asking.rig.ask('exportHistory', {}), '')
  await restarted()
  assert.equal(await asking.rig.ask('exportHistory', {}), '')
  await asking.rig.ask('setOptions', { history: false })
})

test("a debug bundle has the driver's observations, and no one's words", async () => {
  await asking.rig.ask('setLabel', { label: 'Annabel’s own profile' })
  const { token, prompt } = asking.prompt('[[empty]]')
  await asking.call('aistudio', prompt, {}, other)
  const failed = await asking.fails('gemini', '[[network mid=1]]', 'NETWORK_ERROR')
  assert.ok(failed.state)
  const asked = asking.ask('chatgpt', '[[slow ms=1500]]', { client: other })
  const { runs } = await asking.rig.until(
    'it answers',
    (s) => s.runs.length === 1 && s.runs[0]!.site === 'chatgpt' && s.runs[0]!.phase === 'answering',
  )
  const text = await asking.rig.ask('debugBundle', {})
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
