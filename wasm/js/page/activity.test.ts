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
