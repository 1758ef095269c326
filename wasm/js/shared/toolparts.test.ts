import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedTool } from './protocol.ts'
import { sourceParts, toolsEvents } from './toolparts.ts'

test('the text of a list goes to the page as it came, and in parts of whole tools if it is too long for one task', () => {
  for (const [length, isWhole] of [[1000, true], [80_000, false]] as const) {
    const definitions = Array.from({ length: 100 }, (_, i) => ({ name: `t${i}`, title: 'x'.repeat(length) }))
    const text = JSON.stringify({ id: 1, result: { tools: definitions } })
    const places = definitions.map((_, i) => i).filter((i) => i % 3 !== 0) // the others were dropped
    const tools = places.map((i) => ({ name: `s__t${i}`, tool: `t${i}` })) as ListedTool[]
    const parts = toolsEvents('s', sourceParts(tools, places.map((_, i) => i), { text, places }))
    assert.equal(parts.length === 1, isWhole)
    const got = parts.flatMap((part) => {
      assert.ok('text' in part && (isWhole || part.text.length < 512 << 10))
      const { tools } = (JSON.parse(part.text) as { result: { tools: unknown[] } }).result
      return part.places.map((place, i) => [part.names[i], tools[place]])
    })
    assert.deepEqual(got, places.map((i) => [`s__t${i}`, definitions[i]]))
  }
})
