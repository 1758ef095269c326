import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Activity, LogEntry, ServerConfig, Snapshot, ToolResult } from '../shared/types.ts'
import { Activities } from './activity.ts'

test('a connection that fails in its first state is reported', () => {
  const seen: Activity[] = []
  const activities = new Activities(new Map([[(a: Activity) => seen.push(a), {}]]), () => [])
  const state = (status: string, failures: number) =>
    ({
      s: {
        status,
        lastConnected: null,
        lastError: failures ? `no answer, ${failures}` : null,
        consecutiveFailures: failures,
      },
    }) as unknown as Snapshot['servers']
  const idle = state('disconnected', 0), once = state('error', 1), twice = state('error', 2)
  activities.states({}, idle)
  activities.states(idle, once)
  activities.states(once, { s: { ...once.s!, toolCount: 1 } })
  activities.states(once, twice)
  assert.deepEqual(seen.map((a) => [a.id, a.phase, a.outcome, a.message]), [
    [1, 'begin', undefined, undefined],
    [1, 'end', 'error', 'no answer, 1'],
    [2, 'begin', undefined, undefined],
    [2, 'end', 'error', 'no answer, 2'],
  ])
})

test('only observers of logs hear of them, once for each message, until none is left', async () => {
  const seen: string[] = []
  const listener = (name: string) => () => void seen.push(name)
  const activities = new Activities(new Map([[listener('calls'), {}], [listener('logs'), { logs: true }]]), () => [])
  const followed: { signal: AbortSignal; say(entry: LogEntry): void }[] = []
  const offers = async () => ({
    follow: (signal: AbortSignal, say: (entry: LogEntry) => void) =>
      new Promise<never>(() => followed.push({ signal, say })),
  })
  activities.follow(true, offers)
  activities.follow(true, offers)
  await new Promise(setImmediate)
  const ended = () => followed.map((f) => f.signal.aborted)
  assert.deepEqual(ended(), [false])
  followed[0]!.say({ server: 's', at: 1, level: 'info', text: 'a message' })
  assert.deepEqual(seen, ['logs'])
  activities.follow(false, offers)
  activities.follow(true, offers)
  await new Promise(setImmediate)
  assert.deepEqual(ended(), [true, false])
})

test('the digits of large integers are kept in arguments, unless something was redacted', async () => {
  const seen: (string | undefined)[] = []
  const listener = (a: Activity) => void (a.phase === 'begin' && seen.push(a.args))
  const config = { url: 'https://a.example', headers: { key: 'canary-1234' } } as unknown as ServerConfig
  const activities = new Activities(new Map([[listener, { contents: true }]]), () => [config])
  const result = { content: [], isError: false, text: '', durationMs: 0 } as unknown as ToolResult
  const call = (args: unknown) => activities.call('s', 's__t', args, {}, () => Promise.resolve(result))
  const exact = '{"id": 9007199254740993}'
  await call(exact)
  await call('{"id": 9007199254740993, "key": "canary-1234"}')
  assert.deepEqual(seen, [exact, '{"id":"9007199254740993","key":"[redacted]"}'])
})

test('the digits of large integers are kept in answers, where a text of the result has them', async () => {
  const seen: (string | undefined)[] = []
  const listener = (a: Activity) => void (a.phase === 'end' && seen.push(a.answer))
  const activities = new Activities(new Map([[listener, { contents: true }]]), () => [])
  const call = (text: string, content: ToolResult['content'], structuredContent: unknown) =>
    activities.call(
      's',
      's__t',
      {},
      {},
      () =>
        Promise.resolve({ content, structuredContent, isError: false, text, durationMs: 0 } as unknown as ToolResult),
    )
  const exact = '{"id":9007199254740993}'
  await call(exact, [], JSON.parse(exact))
  await call(`Found:\n${exact}`, [{ type: 'text', text: 'Found:' }, { type: 'text', text: exact }], JSON.parse(exact))
  await call('{"id":9007199254740995}', [], JSON.parse(exact))
  assert.ok(seen[0]!.includes(`"structuredContent":${exact}`), seen[0])
  assert.ok(seen[1]!.includes(`"structuredContent":${exact}`), seen[1])
  assert.ok(seen[2]!.includes('"structuredContent":{"id":9007199254740992}'), seen[2])
})

test('a content that was cut keeps no whole one in memory', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const seen: Activity[] = []
  const activities = new Activities(new Map([[(a: Activity) => seen.push(a), { contents: true }]]), () => [])
  const result = { text: 'ok', content: [], isError: false, server: 's', tool: 't', durationMs: 1 }
  gc()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 20; i++) {
    const structuredContent = { text: `${i}`.repeat(8 << 20) }
    await activities.call('s', 't', {}, {}, async () => ({ ...result, structuredContent }) as unknown as ToolResult)
  }
  gc()
  assert.ok(process.memoryUsage().heapUsed - before < 20e6)
  assert.equal(seen.at(-1)!.answer!.length, (64 << 10) + 1)
})

test('exchanges of a new module are others, also where those of the old one did not end', () => {
  const seen: Activity[] = []
  const activities = new Activities(new Map([[(a: Activity) => seen.push(a), { exchanges: true }]]), () => [])
  const exchange = { method: 'POST', url: 'https://a.example/mcp', requestHeaders: [] }
  const tell = (phase: 'begin' | 'end') =>
    activities.exchange({ event: 'exchange', exchangeId: 4, phase, at: 1, exchange }, {})
  tell('begin') // then its worker died, and the next one counts from the start
  tell('begin')
  tell('end')
  const [lost, begun, ended] = seen.map((a) => a.id)
  assert.notEqual(lost, begun)
  assert.equal(begun, ended)
})

test('a secret that begins with another one is redacted as a whole', async () => {
  const seen: (string | undefined)[] = []
  const listener = (a: Activity) => void (a.phase === 'begin' && seen.push(a.args))
  const headers = { account: 'acme-corp', key: 'acme-corp-9f8a7b6c' }
  const config = { url: 'https://a.example', headers } as unknown as ServerConfig
  const activities = new Activities(new Map([[listener, { contents: true }]]), () => [config])
  const result = { content: [], isError: false, text: '', durationMs: 0 } as unknown as ToolResult
  await activities.call('s', 's__t', { about: 'is acme-corp-9f8a7b6c right?' }, {}, () => Promise.resolve(result))
  assert.deepEqual(seen, ['{"about":"is [redacted] right?"}'])
})
