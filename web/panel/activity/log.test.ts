import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ActivityLog, exportRows } from './log.ts'

test('the events of a call are one row, in the place where it began', () => {
  const log = new ActivityLog()
  log.add({ id: 1, kind: 'call', server: 's', tool: 's__a', phase: 'begin', at: 10 })
  log.add({ id: 2, kind: 'connection', server: 't', phase: 'begin', at: 11 })
  log.add({ id: 1, kind: 'call', server: 's', tool: 's__a', phase: 'end', at: 30, durationMs: 20, outcome: 'ok' })
  assert.deepEqual(log.rows.map((r) => [r.id, r.at, r.over, r.outcome]), [[1, 10, true, 'ok'], [
    2,
    11,
    false,
    undefined,
  ]])
})

test('old rows go, and the end of one that has gone is a row of its own', () => {
  const log = new ActivityLog()
  for (let id = 0; id < 12_000; id++)
    log.add({ id, kind: 'call', server: 's', phase: id % 2 ? 'end' : 'begin', at: id })
  assert.ok(log.rows.length >= 10_000 && log.rows.length <= 10_500)
  log.add({ id: 11_998, kind: 'call', server: 's', phase: 'end', at: 1, outcome: 'ok' })
  assert.equal(log.rows.find((r) => r.id === 11_998)!.over, true)
  assert.equal(log.rows.filter((r) => r.id === 11_998).length, 1)
  log.clear()
  log.add({ id: 11_996, kind: 'call', server: 's', phase: 'end', at: 1 })
  assert.equal(log.rows.length, 1)
})

test('an export has no queries and no names of users of URLs', () => {
  const text = exportRows([{
    id: 1,
    kind: 'connection',
    server: 's',
    at: 0,
    over: true,
    outcome: 'error',
    message: 'GET https://user:pass@host.example/mcp?key=canary#x failed',
    progress: { progress: 1, message: 'reads https://host.example/?key=canary' },
  }])
  assert.ok(!/canary|pass/.test(text), text)
  assert.match(text, /https:\/\/host\.example\/mcp failed/)
})

test('the oldest contents go first, and rows stay', () => {
  const log = new ActivityLog()
  const text = 'x'.repeat(1 << 20)
  for (let id = 0; id < 40; id++) {
    log.add({ id, kind: 'call', server: 's', phase: 'begin', at: id, args: text })
    log.add({ id, kind: 'call', server: 's', phase: 'end', at: id, outcome: 'ok', answer: text })
  }
  assert.equal(log.rows.length, 40)
  const full = log.rows.filter((r) => r.args)
  assert.deepEqual(full.map((r) => r.id), [32, 33, 34, 35, 36, 37, 38, 39])
  assert.ok(full.every((r) => r.answer) && log.rows.every((r) => r.outcome === 'ok'))
})

test('nothing is kept of rows that have gone', () => {
  const log = new ActivityLog()
  for (let id = 0; id < 30_000; id++)
    log.add({ id, kind: 'exchange', server: 's', phase: id % 2 ? 'begin' : 'end', at: id, args: '{}' })
  for (const kept of [log.rows.length, log['open'].size, log['full'].size]) assert.ok(kept <= 10_500, String(kept))
  assert.equal(log['contents'], 2 * log.rows.length)
  assert.ok(log.rows.every((r) => r.args === '{}'))
})
