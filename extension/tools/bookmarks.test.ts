import { test } from 'node:test'
import assert from 'node:assert/strict'
import { bookmarkTools } from './bookmarks.ts'
import type { ToolCall } from './tool.ts'

/** Calls a tool that is stopped at its third change. Returns how many changes were made, and the fault's code. */
async function stoppedAtThird(name: string, args: Record<string, unknown>) {
  const gives = new AbortController()
  let changes = 0
  const change = async (id: unknown) => {
    if (++changes === 3) gives.abort()
    return { id: String(id), title: '' }
  }
  const children = Array.from({ length: 8 }, (_, i) => ({ id: String(i), title: '', url: 'https://e.example/' }))
  Object.assign(globalThis, {
    chrome: { bookmarks: { move: change, create: change, getSubTree: async () => [{ id: 'f', title: '', children }] } },
  })
  const call = { args, signal: gives.signal, progress() {} } as unknown as ToolCall
  const code = await bookmarkTools.find((t) => t.name === name)!.run(call).then(() => 'ok', (e) => e.code)
  return [changes, code]
}

test('stopped calls change no further bookmarks', async () => {
  const items = Array.from({ length: 8 }, (_, i) => ({ id: String(i), parentId: 'g' }))
  assert.deepEqual(await stoppedAtThird('bookmark_move', { items }), [3, 'CANCELLED'])
  assert.deepEqual(await stoppedAtThird('bookmark_copy', { id: 'f', parentId: 'g' }), [3, 'CANCELLED'])
})

test('a long copy says that it goes on, so that it does not time out', async () => {
  const children = Array.from({ length: 300 }, () => ({ id: 'b', title: '', url: 'https://e.example/' }))
  const bookmarks = { create: async () => ({ id: 'c' }), getSubTree: async () => [{ id: 'f', title: '', children }] }
  Object.assign(globalThis, { chrome: { bookmarks } })
  let steps = 0
  const progress = () => steps++
  const call = {
    args: { id: 'f', parentId: 'g' },
    signal: new AbortController().signal,
    progress,
  } as unknown as ToolCall
  await bookmarkTools.find((t) => t.name === 'bookmark_copy')!.run(call)
  assert.ok(steps > 1)
})
