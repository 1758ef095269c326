import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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
  approvals.settle(asked.id, 'once')
  assert.equal(await other, 'once')
  stop.abort()
  assert.deepEqual(new Set(await Promise.all(flood)), new Set(['gone']))
  assert.equal(approvals.list.length, 0)
})

test('arguments that are shown in part are not kept whole while a call waits', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const stop = new AbortController()
  const approvals = new Approvals(() => {})
  let deep: unknown[] = []
  for (let i = 0; i < 1000; i++) deep = [deep]
  const args = { list: Array.from({ length: 5 }, () => deep) }
  gc()
  const before = process.memoryUsage().heapUsed
  const calls = Array.from(
    { length: 10 },
    () =>
      approvals.ask(
        { client: { key: 'c', name: 'c' }, tool: 't', args, signal: stop.signal } as unknown as ToolCall,
        's',
      ),
  )
  gc()
  assert.ok(process.memoryUsage().heapUsed - before < 20e6)
  assert.equal(approvals.list[0]!.args.length, 4001)
  stop.abort()
  await Promise.all(calls)
})

test('long and deep arguments are shown without indentation, whatever their depth', async () => {
  const stop = new AbortController()
  const approvals = new Approvals(() => {})
  const ask = (args: object) =>
    approvals.ask({ client: { key: 'c', name: 'c' }, tool: 't', args, signal: stop.signal } as unknown as ToolCall, 's')
  let deep: unknown[] = Array.from({ length: 400_000 }, () => 1)
  for (let i = 0; i < 1000; i++) deep = [deep] // 800 million characters with indentation, which no text has
  const calls = [ask({ deep }), ask({ few: [1] })]
  const [long, short] = approvals.list.map((a) => a.args)
  assert.match(long!, /^\{"deep":\[{1001}1,1,[1,]+…$/)
  assert.equal(short, '{\n  "few": [\n    1\n  ]\n}')
  stop.abort()
  await Promise.all(calls)
})
