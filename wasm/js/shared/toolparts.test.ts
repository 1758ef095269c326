import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedTool } from './protocol.ts'
import { sourceParts, toolsEvents } from './toolparts.ts'

test('each run of a list goes to the page as it came', () => {
  const definitions = Array.from({ length: 100 }, (_, i) => ({ name: `t${i}` }))
  const runs = [40, 41, 100].map((end, i, ends) => ({
    text: definitions.slice(ends[i - 1] ?? 0, end).map((d) => JSON.stringify(d)).join(),
    end: Math.floor(end / 2), // each second tool was dropped
  }))
  const places = [...Array.from({ length: 20 }, (_, i) => 2 * i), ...Array.from({ length: 30 }, (_, i) => 1 + 2 * i)]
  const kept = definitions.filter((_, i) => i < 40 ? i % 2 === 0 : i > 40 && i % 2 === 0)
  assert.equal(kept.length, 49)
  const listed = kept.map(({ name }) => ({ name: `s__${name}`, tool: name })) as ListedTool[]
  const indices = kept.map((_, i) => i).filter((i) => i !== 3) // one is not offered
  const parts = toolsEvents('s', sourceParts(indices.map((i) => listed[i]!), indices, { runs, places }))
  assert.deepEqual(parts.map((p) => [p.first, p.last]), [[true, false], [false, true]])
  const got = parts.flatMap((part) => {
    assert.ok('text' in part)
    const tools = JSON.parse(part.text) as unknown[]
    return part.places.map((place, i) => [part.names[i], tools[place]])
  })
  assert.deepEqual(got, indices.map((i) => [listed[i]!.name, kept[i]]))
})
