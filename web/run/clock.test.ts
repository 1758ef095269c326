import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Clock } from './clock.ts'

test('the time of a run stands still while the clock is stopped', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const clock = new Clock(1000)
  clock.start()
  t.mock.timers.tick(600)
  clock.stop()
  t.mock.timers.tick(60_000)
  assert.ok(!clock.signal.aborted)
  clock.start()
  t.mock.timers.tick(399)
  assert.ok(!clock.signal.aborted)
  t.mock.timers.tick(1)
  assert.ok(clock.signal.aborted)
})
