import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remoteRun } from './remote.ts'

test('an event in very many parts is searched once', async (t) => {
  const markdown = 'a'.repeat(20_000)
  const event = (type: string, data: object, end: string) =>
    `event: ${type}${end}data: ${JSON.stringify(data)}${end}${end}`
  const said = event('progress', { stage: 'plan' }, '\r\n') + event('answer', { markdown, url: '' }, '\n')
  t.mock.method(globalThis, 'fetch', async () => {
    const parts = new TextEncoder().encode(said)
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => at < parts.length ? controller.enqueue(parts.slice(at, ++at)) : controller.close(),
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  let searched = 0
  const { split } = String.prototype
  t.mock.method(String.prototype, 'split', function(this: string, ...args: [RegExp]) {
    searched += this.length
    return split.apply(this, args)
  })
  const events = []
  for await (const e of remoteRun('https://x.example/', { prompt: 'x' })) events.push(e)
  assert.deepEqual(events, [{ type: 'progress', stage: 'plan' }, { type: 'answer', markdown, url: '' }])
  assert.ok(searched < 1_000_000, `${searched} characters`)
})

test('a run that is aborted with its question asks nobody', async (t) => {
  const caller = new AbortController()
  t.mock.method(globalThis, 'fetch', async () => {
    const said = 'event: clarify\ndata: {"question":"Which one?"}\n\n'
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(said)),
      cancel: () => caller.abort(), // while the run leaves the response
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  const events = []
  for await (const e of remoteRun('https://x.example/', { prompt: 'x', signal: caller.signal })) {
    events.push(e)
    if (e.type === 'clarify') break
  }
  assert.deepEqual(events, [{ type: 'error', code: 'aborted' }])
})

test('a blank reply leaves the question open, and a long one is cut', async (t) => {
  const sent: { answered?: { reply: string } }[] = []
  t.mock.method(globalThis, 'fetch', async (_: string, init: { body: string }) => {
    const request = JSON.parse(init.body) as (typeof sent)[number]
    sent.push(request)
    const said = request.answered
      ? 'event: answer\ndata: {"markdown":"yes","url":""}\n\n'
      : 'event: clarify\ndata: {"question":"Which one?"}\n\n'
    return new Response(said, { headers: { 'content-type': 'text/event-stream' } })
  })
  const run = remoteRun('https://x.example/', { prompt: 'x' })
  const types = [], taken = []
  for await (const { type } of run) {
    types.push(type)
    if (type === 'clarify') taken.push(run.reply(''), run.reply(' \n'), run.reply('a'.repeat(5000)), run.reply('b'))
  }
  assert.deepEqual(types, ['clarify', 'answer'])
  assert.deepEqual(taken, [false, false, true, false])
  assert.equal(sent.at(-1)!.answered!.reply, 'a'.repeat(4000))
})
