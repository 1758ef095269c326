import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Clock } from './clock.ts'

test('the time of a run stands still while the clock is stopped', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const pass = (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
  }
  const clock = new Clock(1000)
  clock.start()
  pass(600)
  clock.stop()
  pass(60_000)
  assert.ok(!clock.signal.aborted)
  clock.start()
  pass(399)
  assert.ok(!clock.signal.aborted)
  pass(1)
  assert.ok(clock.signal.aborted)
})
