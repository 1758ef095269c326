import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolInfo } from '../../../wasm/js/shared/types.ts'
import { chosen } from './ledger.ts'
import { ToolLists } from './ledger.ts'

test('switches change a choice as little as they can', () => {
  const all = ['a', 'b', 'c']
  for (
    const [before, names, on, after] of [
      [undefined, ['a'], false, { deny: ['a'] }],
      [{ deny: ['a'] }, ['a'], true, undefined],
      [{ deny: ['a'] }, ['b'], false, { deny: ['a', 'b'] }],
      [undefined, all, false, { allow: [] }],
      [{ allow: [] }, all, true, undefined],
      [{ allow: [] }, ['b'], true, { allow: ['b'] }],
      [{ allow: ['b', 'c'], deny: ['c'] }, ['c'], true, { allow: ['b', 'c'] }],
      [{ allow: ['b', 'c'] }, ['c'], false, { allow: ['b'] }],
      [{ deny: ['gone'] }, ['a'], false, { deny: ['gone', 'a'] }],
    ] as const
  ) assert.deepEqual(chosen(before as never, all, names, on), after, JSON.stringify([before, names, on]))
})

test('a list that is sent again keeps its objects, but for what changed', () => {
  const info = (tool: string, description = ''): ToolInfo => ({
    name: `s__${tool}`,
    server: 's',
    tool,
    definition: { name: tool, description, inputSchema: {} },
  })
  const toolLists = new ToolLists()
  toolLists.see({ tools: [info('b'), info('a')], withheld: [info('c')] })
  const before = toolLists.servers.get('s')!
  assert.deepEqual(before.map((l) => [l.info.tool, l.on]), [['a', true], ['b', true], ['c', false]])
  toolLists.see({ tools: [info('b'), info('a')], withheld: [info('c')] })
  assert.equal(toolLists.servers.get('s'), before)
  toolLists.see({ tools: [info('a'), info('b', 'new')], withheld: [info('c')] })
  const after = toolLists.servers.get('s')!
  assert.deepEqual(after.map((l, i) => l.info === before[i]!.info), [true, false, true])
})
