import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { toolFor } from './convert.ts'
import type { Dialect } from '../../shared/types.ts'

const data = new URL('../../../../testdata/convert/', import.meta.url)
const read = (name: string) => JSON.parse(readFileSync(new URL(name, data), 'utf8'))

/** The model's name is the registry's business; here it comes from the golden. */
const nameOf = (tool: { name?: string; function?: { name: string } }) => tool.name ?? tool.function!.name

for (const golden of readdirSync(data).filter((name) => name.endsWith('.golden.json'))) {
  const [server, dialect] = golden.split('.') as [string, Dialect]
  test(`${server} as ${dialect} is what Go makes of it`, () => {
    const tools: unknown[] = read(`${server}.tools.json`)
    const before = JSON.stringify(tools)
    const { tools: want, losses } = read(golden)
    const lost: string[] = []
    assert.equal(tools.length, want.length)
    tools.forEach((def, i) => {
      const name = nameOf(want[i])
      const onLoss = ({ path, what }: { path: string; what: string }) => lost.push(`${name} ${path} ${what}`)
      assert.deepEqual(toolFor(dialect, name, server, def, onLoss), want[i])
    })
    assert.deepEqual(lost, losses)
    assert.equal(JSON.stringify(tools), before, 'the definitions were changed')
  })
}

test('a definition that is no object is still a tool', () => {
  for (const def of [null, undefined, 5, 'x', [], [{}]]) {
    assert.deepEqual(toolFor('anthropic', 'n', 's', def), {
      name: 'n',
      description: '[s] n',
      input_schema: { type: 'object', properties: {} },
    })
  }
})
