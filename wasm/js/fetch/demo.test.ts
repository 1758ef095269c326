import assert from 'node:assert/strict'
import { test } from 'node:test'
import { opened } from '../shared/answer.ts'
import { type Deliver, Flag, Kind } from './events.ts'
import { demoUrl, Platform } from './platform.ts'

type Event = Parameters<Deliver>

const LIST = 5, CALL = 6, OTHER = 4 // ids: the kind is in the low bits

/** A platform whose network fails. The demo needs none. */
const platform = () => new Platform({ fetch: () => assert.fail('a request left') })

function start(p: Platform, id: number, method: string, params: object): void {
  const body = new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  p.start(id, 1, id, 0, `POST\n${demoUrl}\nContent-Type\napplication/json`, body)
}

/** Sends a request to the demo and collects the events. */
function send(p: Platform, id: number, method: string, params: object = {}): Promise<Event[]> {
  const events: Event[] = []
  return new Promise((resolve) => {
    p.deliver = (...event) => {
      events.push(event)
      if (event[2] & Flag.Last) resolve(events)
    }
    start(p, id, method, params)
  })
}

/** The result of a call. */
async function call(name: string, args: object): Promise<unknown> {
  const p = platform()
  const [event] = await send(p, CALL, 'tools/call', { name, arguments: args })
  const [, kind, flags, , table] = event!
  assert.equal(kind, Kind.Output)
  const { resultType, ...result } = opened(p.tables.takeResult(table)!).value as Record<string, unknown>
  assert.equal(resultType, 'complete')
  assert.equal((flags & Flag.Error) !== 0, result['isError'] === true)
  return result
}

const text = (text: string) => ({ content: [{ type: 'text', text }] })

test('only the whole URL is the demo', () => {
  const p = platform()
  assert.equal(p.resolve(demoUrl, ''), `${demoUrl}\n${demoUrl}`)
  for (
    const [base, ref] of [['builtin:other', ''], [demoUrl, '/x'], [demoUrl, demoUrl], ['https://a.example', demoUrl]]
  )
    assert.equal(p.resolve(base!, ref!), undefined)
})

test('the demo introduces itself', async () => {
  const [event] = await send(platform(), OTHER, 'server/discover')
  const { result } = JSON.parse(event![6])
  assert.deepEqual(result.supportedVersions, ['2026-07-28'])
  assert.deepEqual(result._meta['io.modelcontextprotocol/serverInfo'], { name: 'portolan-demo', version: '1' })
})

test('the demo lists its tools', async () => {
  const p = platform()
  const [event] = await send(p, LIST, 'tools/list')
  const [, kind, , , table, , names] = event!
  assert.equal(kind, Kind.Tools)
  assert.deepEqual(names.split('\n').map((line) => line.split('\t')[0]), [
    'echo',
    'add',
    'count',
    'picture',
    'weather',
    'fail',
    'ask',
  ])
  assert.deepEqual(p.tables.tool(table, 1)!.definition, {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
  })
})

test('the tools answer', async () => {
  assert.deepEqual(await call('echo', { text: 'hé' }), text('hé'))
  assert.deepEqual(await call('echo', { text: 7 }), text(''))
  assert.deepEqual(await call('add', { a: 2, b: 0.5 }), text('2.5'))
  assert.deepEqual(await call('add', { a: 2 }), { ...text('a and b must be numbers'), isError: true })
  assert.deepEqual(await call('fail', {}), { ...text('this tool always fails'), isError: true })
  const weather = { city: 'Palma', celsius: 21.5, sky: 'clear' }
  assert.deepEqual(await call('weather', { city: 'Palma' }), {
    ...text(JSON.stringify(weather)),
    structuredContent: weather,
  })
  assert.match(JSON.stringify(await call('picture', {})), /One pixel:.*image\/png/)
})

test('what the demo does not have is refused', async () => {
  for (
    const [id, method, params, code, message] of [
      [CALL, 'tools/call', { name: 'nope' }, -32602, 'unknown tool: nope'],
      [OTHER, 'tasks/list', {}, -32601, 'method not found'],
      [CALL, 'resources/read', { uri: 'demo://tide/someday' }, -32602, 'unknown resource: demo://tide/someday'],
    ] as const
  ) {
    const [event] = await send(platform(), id, method, params)
    assert.deepEqual(JSON.parse(event![6]).error, { code, message })
  }
})

test('count reports progress to those who ask', async () => {
  const args = { name: 'count', arguments: { to: 3, delayMs: 1 } }
  const p = platform()
  const all = await send(p, CALL, 'tools/call', { ...args, _meta: { progressToken: CALL } })
  assert.deepEqual(
    all.slice(0, -1).map(([, kind, , ...progress]) => [kind, ...progress.slice(0, 4)]),
    [1, 2, 3].map((i) => [Kind.Progress, CALL, i, 3, `at ${i}`]),
  )
  const result = opened(p.tables.takeResult(all.at(-1)![4])!).value as object
  assert.deepEqual(result, { resultType: 'complete', ...text('counted to 3') })
  assert.equal((await send(platform(), CALL, 'tools/call', args)).length, 1)
})

test('count ends when its call is cancelled', async () => {
  const p = platform()
  const params = { name: 'count', arguments: { to: 100, delayMs: 1 }, _meta: { progressToken: CALL } }
  await new Promise<void>((resolve) => {
    p.deliver = (...[, , , , progress]) => {
      if (progress === 2) resolve()
    }
    start(p, CALL, 'tools/call', params)
  })
  p.cancel(CALL)
  p.deliver = () => assert.fail('an event after the end')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout'), [])
  assert.deepEqual(p.held, { tables: 0, exchanges: 0 })
})
