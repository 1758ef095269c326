import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { LoopEvent, LoopOptions, ModelAnswer, ModelMessage } from '../../web/loop/types.ts'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { happens, launchChromium, openPage, root, servePackage, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// The loop of the built package over a real MCP server. The model is a function that says what the test has written.

const { createRegistry } = await import(`${root}dist/npm/index.js`) as {
  createRegistry(o: RegistryOptions): Promise<Registry>
}
const { loop } = await import(`${root}dist/npm/loop.js`) as typeof import('../../web/loop/types.ts')

let server: Awaited<ReturnType<typeof sdkServer>>, view: Registry, browser: Browser, site: Listening
let page: Page & { faults: string[] }
before(async () => {
  const tools = ['one', 'two', 'broken'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  server = await sdkServer(tools, {
    results: {
      one: { content: [{ type: 'text', text: '1' }] },
      two: { content: [{ type: 'text', text: '2' }] },
      broken: { content: [{ type: 'text', text: 'the mast is broken' }], isError: true },
    },
  })
  view = await createRegistry({ storage: 'memory', servers: { s: { url: server.url } } })
  await view.discover()
  ;[browser, site] = await Promise.all([launchChromium(), servePackage()])
  page = await openPage(browser, site.url)
})
after(async () => {
  await view?.close()
  await browser?.close()
  await Promise.all([site, server].map((s) => s?.close()))
})

type Say =
  | ModelAnswer
  | string
  | ((messages: readonly ModelMessage[], signal: AbortSignal) => ModelAnswer | string | Promise<string>)
let ids = 0
/** Calls of tools, by their names on the server, with an argument each. */
const call = (...names: string[]): ModelAnswer => ({
  calls: names.map((name) => {
    const [tool, at] = name.split(' ')
    return { id: `c${++ids}`, name: `s__${tool}`, arguments: at ? { at } : {} }
  }),
})

/** Runs a loop whose model says these, one after another; the last again and again. */
async function play(says: Say[], options: Partial<LoopOptions> = {}) {
  const asked: (readonly ModelMessage[])[] = [], events: LoopEvent[] = []
  const model: LoopOptions['model'] = (messages, { signal }) => {
    const say = says[Math.min(asked.length, says.length - 1)]!
    asked.push(messages)
    return typeof say === 'function' ? say(messages, signal) : say
  }
  for await (const event of loop({ view, model, prompt: 'Sail.', ...options })) events.push(event)
  const last = events.at(-1)!
  const why = last.type === 'stopped' ? last.why : last.type
  const { state } = last as Extract<LoopEvent, { type: 'done' | 'stopped' }>
  return { asked, events, why, state, last: last as Extract<LoopEvent, { type: 'stopped' }> }
}

test('rounds, texts and tools are events, and the last answer is the end', async () => {
  const { events, state, asked } = await play([{ text: 'Let me see.', ...call('one', 'steps') }, 'It is 1.'])
  assert.deepEqual(events.map((e) => e.type === 'tool' ? `${e.call.name} ${e.phase}` : e.type), [
    'round',
    'text',
    's__one begin',
    's__steps begin',
    ...events.filter((e) => e.type === 'tool' && e.phase === 'end').map((e) =>
      e.type === 'tool' ? `${e.call.name} end` : ''
    ),
    'round',
    'text',
    'done',
  ])
  assert.equal(state.calls, 2)
  assert.deepEqual(asked[1]!.map(({ role }) => role), ['user', 'assistant', 'tool', 'tool'])
  assert.ok(state.tokens > 100, 'without usage, characters are counted')
})

test('parallel calls run at once, and their answers are in the order of the calls', { timeout: 60_000 }, async () => {
  const slow = { id: 'a', name: 's__steps', arguments: { steps: 3, everyMs: 1 } }
  // The first call ends after the others.
  let others = 2, end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const late: LoopOptions['view'] = {
    getTools: (options) => view.getTools(options),
    has: (name) => view.has(name),
    call: async (name, ...rest) => {
      const result = await view.call(name, ...rest)
      if (name === 's__steps') await ended
      else if (!--others) setImmediate(end)
      return result
    },
  }
  const { asked, events } = await play([{ calls: [slow, ...call('one', 'two').calls!] }, 'Done.'], { view: late })
  const ends = events.flatMap((e) => e.type === 'tool' && e.phase === 'end' ? [e.call.name] : [])
  assert.equal(ends.at(-1), 's__steps')
  assert.deepEqual(asked[1]!.slice(2).map((m) => m.content), ['done', '1', '2'])
  const progress = events.flatMap((e) => e.type === 'tool' && e.phase === 'progress' ? [e.progress.progress] : [])
  assert.equal(progress.at(-1), 3)
})

test('the failure of a tool is text for the model', async () => {
  const bad = [{ id: 'x', name: 'no_such', arguments: {} }, { id: 'y', name: 's__one', arguments: '{broken' }]
  const { asked, why } = await play([{ calls: [...call('broken').calls!, ...bad] }, 'Oh.'])
  assert.equal(why, 'done')
  const answers = asked[1]!.slice(2) as Extract<ModelMessage, { role: 'tool' }>[]
  assert.deepEqual(answers.map(({ isError }) => isError), [true, true, true])
  assert.match(answers[0]!.content, /the mast is broken/)
  assert.match(answers[1]!.content, /unknown_tool.*no_such/)
  assert.match(answers[2]!.content, /^invalid_arguments: /)
  assert.equal(answers[0]!.result!.isError, true)
})

test('budgets end a loop as an event with what there is', async () => {
  let n = 0
  const busy: Say = () => ({ text: `Step ${++n}.`, ...call(`one ${n}`), usage: { input: 90, output: 10 } })
  const rounds = await play([busy], { rounds: 3 })
  assert.deepEqual([rounds.why, rounds.state.round, rounds.state.calls], ['rounds', 3, 3])
  assert.equal(rounds.asked.length, 3)
  assert.equal(rounds.state.messages.length, 7)
  const tokens = await play([busy], { tokens: 250 })
  assert.deepEqual([tokens.why, tokens.state.tokens, tokens.asked.length], ['tokens', 300, 3])
  assert.equal(tokens.state.messages.at(-1)!.content, 'This call was stopped.', 'providers want an answer to each call')
  const guessed = await play([() => `${++n}`], { done: () => false, tokens: 1000 })
  assert.equal(guessed.why, 'tokens')
  for (const usage of [{}, { input: NaN }, { input: -5, output: 1 }]) {
    const vague = await play([() => ({ text: `${++n}`, usage })], { done: () => false, tokens: 1000 })
    assert.equal(vague.why, 'tokens', JSON.stringify(usage))
  }
  const hang: Say = (_, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const seconds = await play([busy, hang], { seconds: 2 })
  assert.deepEqual([seconds.why, seconds.state.calls], ['seconds', 1])
  const deaf = await play([busy, () => new Promise(() => {})], { seconds: 0.3 })
  assert.equal(deaf.why, 'seconds', 'a model that ignores its signal')
})

test('guards: the same call thrice, and rounds without anything new', async () => {
  const same = await play([call('one')])
  assert.deepEqual([same.why, same.asked.length], ['same_call', 3])
  const order = [{ a: 1, b: { c: [2] } }, { b: { c: [2] }, a: 1 }, '{"b":{"c":[2]},"a":1}']
  const says = order.map((args): ModelAnswer => ({ calls: [{ id: 'x', name: 's__one', arguments: args }] }))
  assert.equal((await play([...says, 'Never.'])).why, 'same_call')
  let i = 0
  const circle = await play([() => call(['one', 'two', 'broken'][i++ % 3]!)], { rounds: 50 })
  assert.deepEqual([circle.why, circle.asked.length], ['no_progress', 6])
  const silent = await play([''], { done: () => false })
  assert.deepEqual([silent.why, silent.asked.length], ['no_progress', 3])
  const fresh = await play(['I think.'], { done: () => false, fresh: true })
  assert.deepEqual([fresh.why, fresh.asked.length], ['no_progress', 4])
})

test('one signal ends the model, the tools and the loop', async () => {
  const stop = new AbortController()
  const before = server.calls.length
  const hears = (call: string) => happens(() => server.calls.slice(before).includes(call))
  const events: LoopEvent[] = []
  const model = () => call('wait', 'one')
  for await (const event of loop({ view, model, prompt: 'Wait.', signal: stop.signal })) {
    events.push(event)
    if (event.type !== 'tool' || event.phase !== 'end') continue
    await hears('wait')
    stop.abort()
  }
  const last = events.at(-1)! as Extract<LoopEvent, { type: 'stopped' }>
  assert.equal(last.why, 'aborted')
  const answers = last.state.messages.filter((m) => m.role === 'tool')
  assert.deepEqual(answers.map((m) => m.content), ['This call was stopped.', '1'], 'each call has an answer')
  await hears('cancelled')
})

test('a reader that leaves ends the model’s request', async () => {
  let aborted = false
  const model: LoopOptions['model'] = (_, { signal }) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        aborted = true
        reject(signal.reason)
      })
    )
  for await (const event of loop({ view, model, prompt: 'x' })) if (event.type === 'round') break
  assert.ok(aborted)
})

test('what the model, prompt or done throws ends the loop as an event', async () => {
  const fault = new Error('429')
  const thrown = () => {
    throw fault
  }
  const cases: [Say[], Partial<LoopOptions>][] = [[[thrown], {}], [['x'], { prompt: thrown }], [['x'], {
    done: thrown,
  }]]
  for (const [says, options] of cases) {
    const { why, last } = await play(says, options)
    assert.deepEqual([why, last.error], ['error', fault])
  }
})

test('wrong options throw', () => {
  const good = { view, model: () => '', prompt: 'x' }
  for (
    const wrong of [
      { view: undefined },
      { model: 'gpt' },
      { prompt: '' },
      { prompt: [] },
      { rounds: 0 },
      { rounds: '5' },
      { seconds: NaN },
      { done: true },
      { signal: {} },
      { maxRounds: 5 },
    ]
  )
    assert.throws(() => loop({ ...good, ...wrong } as never), { code: 'invalid_option' }, JSON.stringify(wrong))
  for (const none of [undefined, null, 5]) assert.throws(() => loop(none as never), { code: 'invalid_option' })
})

test('a model function that returns no answer ends the loop with an error that teaches', async () => {
  for (const answer of [undefined, null, 5, [], { text: 'x', calls: {} }]) {
    const { why, last } = await play([answer as never], {})
    assert.deepEqual([why, (last.error as { code: string }).code], ['error', 'protocol'], JSON.stringify(answer))
  }
  assert.equal((await play([{ text: 'x', calls: null } as never], {})).why, 'done')
})

test('what fails with a long text gives the first 4,000 characters of it', async () => {
  const long = 'x'.repeat(100_000)
  const { last } = await play([{ incomplete: long }])
  assert.equal((last.error as Error).message, `The provider ended the model's answer early: ${'x'.repeat(4000)}.`)
  const failing: LoopOptions['view'] = {
    getTools: () => [],
    has: () => true,
    dispatch: () => Promise.reject(new Error(long)),
  }
  const { asked } = await play([call('one'), 'done'], { view: failing })
  assert.equal(asked[1]!.at(-1)!.content, 'x'.repeat(4000))
})

test('fresh rounds begin with the prompt and the state only', async () => {
  const { asked, why } = await play([call('one'), 'Half of it.', call('two'), 'All of it.'], {
    fresh: true,
    done: (text) => text.startsWith('All'),
  })
  assert.equal(why, 'done')
  assert.deepEqual(asked.map((messages) => messages.length), [1, 3, 2, 4])
  assert.deepEqual(asked[2]!.map(({ content }) => content), ['Sail.', 'Where the round before ended:\nHalf of it.'])
  const own = await play(['a', 'b'], {
    fresh: true,
    prompt: ({ round, text }) => `Round ${round} after ${text}.`,
    done: (t) => t === 'b',
  })
  assert.deepEqual(own.asked.map(([first]) => first!.content), ['Round 1 after .', 'Round 2 after a.'])
  const endless = await play([() => call(`one ${++ids}`)], { fresh: true, rounds: 2 })
  assert.deepEqual([endless.why, endless.asked.length], ['rounds', 100], 'a round has 50 answers')
})

test('a conversation that is not done goes on', async () => {
  const { asked, why } = await play(['a', 'b', 'c'], { done: (text) => text === 'c' })
  assert.equal(why, 'done')
  assert.deepEqual(asked[2]!.map(({ role }) => role), ['user', 'assistant', 'user', 'assistant', 'user'])
})

test('what the provider sent comes back, and at most 100 calls run', async () => {
  const raw = { thinking: 'sealed' }
  const many = Array.from({ length: 103 }, (_, i) => ({ id: `m${i}`, name: 's__one', arguments: { i } }))
  const before = server.calls.length
  const { asked } = await play([{ calls: many, raw }, 'x'])
  assert.equal((asked[1]![1] as { raw: unknown }).raw, raw)
  assert.equal(server.calls.length - before, 100)
  assert.match(asked[1]!.at(-1)!.content, /At most 100 calls/)
})

test('a view with dispatch alone works', async () => {
  const own: LoopOptions['view'] = {
    getTools: () => [],
    has: (name) => name === 'mine',
    dispatch: async (_, args) => `got ${JSON.stringify(args)}`,
  }
  const { asked } = await play([{ calls: [{ id: '1', name: 'mine', arguments: { a: 1 } }] }, 'x'], { view: own })
  assert.equal(asked[1]!.at(-1)!.content, 'got {"a":1}')
})

test('in Chromium the same loop runs', async () => {
  const events = await page.evaluate(`(async () => {
    const [{ createRegistry }, { loop }] = await Promise.all([import('/index.js'), import('/loop.js')])
    const view = await createRegistry({ storage: 'memory', servers: { s: { url: ${JSON.stringify(server.url)} } } })
    await view.discover()
    let turn = 0
    const model = (messages, { tools }) => turn++
      ? 'The answer is ' + messages.at(-1).content + ' of ' + tools.length
      : { calls: [{ id: '1', name: 's__two', arguments: {} }] }
    const events = []
    for await (const { type, text, phase } of loop({ view, model, prompt: 'x' })) events.push([type, phase, text].filter(Boolean).join(' '))
    return events
  })()`)
  assert.deepEqual(events, [
    'round',
    'tool begin',
    'tool end 2',
    'round',
    'text The answer is 2 of 6',
    'done The answer is 2 of 6',
  ])
  assert.deepEqual(page.faults, [])
})

test('a loop that is over before it begins asks no model', async () => {
  const { asked, last } = await play([() => Promise.reject(new Error('it was asked'))], { signal: AbortSignal.abort() })
  assert.equal(last.type, 'stopped')
  assert.equal(asked.length, 0)
})
