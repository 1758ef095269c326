import { test, mock } from 'node:test'
import assert from 'node:assert/strict'
import type { ToolFault } from '../tools/tool.ts'
import { longestQueue, Queue } from './queue.ts'

const never = new AbortController().signal
const far = () => Date.now() + 60_000

test('one is at work, the others go in order', async () => {
  const queue = new Queue()
  const log: string[] = []
  let atWork = 0
  const ask = (name: string) =>
    queue.add(async () => {
      atWork++
      assert.equal(atWork, 1)
      log.push(`${name} begins`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      atWork--
      log.push(`${name} ends`)
      return name
    }, { signal: never, deadline: far(), moved: (n) => log.push(`${name} is ${n}`) })
  assert.deepEqual(await Promise.all([ask('a'), ask('b'), ask('c')]), ['a', 'b', 'c'])
  assert.deepEqual(log, [
    'b is 1',
    'c is 2',
    'a begins',
    'a ends',
    'c is 1',
    'b begins',
    'b ends',
    'c begins',
    'c ends',
  ])
  assert.equal(queue.waiting, 0)
})

test('a fault of one does not hold up the next', async () => {
  const queue = new Queue()
  const first = queue.add(() => Promise.reject(new Error('broken')), { signal: never, deadline: far(), moved() {} })
  const second = queue.add(async () => 'fine', { signal: never, deadline: far(), moved() {} })
  await assert.rejects(first, /broken/)
  assert.equal(await second, 'fine')
})

test('a full queue, a cancellation and a deadline are different errors, and never run', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  try {
    const queue = new Queue()
    const held = Promise.withResolvers<void>()
    const first = queue.add(() => held.promise, { signal: never, deadline: far(), moved() {} })
    const forbidden = () => Promise.reject(new Error('it ran'))
    const code = (p: Promise<unknown>) => p.then(() => 'resolved', (e: ToolFault) => e.code)
    const ends = new AbortController()
    const cancelled = code(queue.add(forbidden, { signal: ends.signal, deadline: far(), moved() {} }))
    const late = code(queue.add(forbidden, { signal: never, deadline: Date.now() + 1000, moved() {} }))
    const others = Array.from(
      { length: longestQueue - 2 },
      () => queue.add(async () => 'ran', { signal: never, deadline: far(), moved() {} }),
    )
    assert.equal(await code(queue.add(forbidden, { signal: never, deadline: far(), moved() {} })), 'QUEUE_FULL')
    ends.abort()
    mock.timers.tick(1001)
    assert.equal(await cancelled, 'CANCELLED')
    assert.equal(await late, 'TIMEOUT')
    assert.equal(queue.waiting, longestQueue - 2)
    held.resolve()
    await first
    assert.deepEqual(await Promise.all(others), others.map(() => 'ran'))
  } finally {
    mock.timers.reset()
  }
})
