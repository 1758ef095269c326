import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Activity, Snapshot } from '../shared/types.ts'
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

test('only observers of logs hear of them', () => {
  const seen: string[] = []
  const listener = (name: string) => () => void seen.push(name)
  const activities = new Activities(new Map([[listener('calls'), {}], [listener('logs'), { logs: true }]]), () => [])
  activities.log({ server: 's', at: 1, level: 'info', text: 'a message' })
  assert.deepEqual(seen, ['logs'])
})

test('arguments keep the digits of large integers, unless a secret stands in them', async () => {
  const config = { url: 'https://a.example/mcp', headers: { authorization: 'Bearer canary-secret' } }
  const seen: (string | undefined)[] = []
  const listener = (a: Activity) => void (a.phase === 'begin' && seen.push(a.args))
  const activities = new Activities(new Map([[listener, { contents: true }]]), () => [config])
  const texts = [
    '{"id": 12345678901234567890}',
    '{"id":12345678901234567890,"key":"canary-secret"}',
    '{"id":12345678901234567890,"key":"\\u0063anary-secret"}',
    '{"id": 1}',
  ]
  for (const text of texts)
    await activities.call('s', 's__t', text, {}, () => Promise.reject(new Error())).catch(() => {})
  assert.deepEqual(seen, [
    texts[0],
    '{"id":12345678901234567000,"key":"[redacted]"}',
    '{"id":12345678901234567000,"key":"[redacted]"}',
    '{"id":1}',
  ])
})
