import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolCall } from '../tools/tool.ts'
import { Approvals } from './approvals.ts'

test('calls of one client that wait for approvals take no place of another client', async () => {
  const stop = new AbortController()
  const approvals = new Approvals(() => {})
  const call = (key: string) =>
    approvals.ask({ client: { key, name: key }, tool: 't', args: {}, signal: stop.signal } as unknown as ToolCall, 's')
  const flood = Array.from({ length: 30 }, () => call('flood'))
  const other = call('other')
  const asked = approvals.list.find((a) => a.client === 'other')
  assert.ok(asked, 'the other client is not asked about')
  approvals.decide(asked.id, 'once')
  assert.equal(await other, 'once')
  stop.abort()
  assert.deepEqual(new Set(await Promise.all(flood)), new Set(['gone']))
  assert.equal(approvals.list.length, 0)
})
