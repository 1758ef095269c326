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
  }])
  assert.ok(!/canary|pass/.test(text), text)
  assert.match(text, /https:\/\/host\.example\/mcp failed/)
})
