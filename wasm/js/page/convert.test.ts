import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { toolFor } from './convert.ts'
import { convertTools, prepareTools } from './dialects.ts'
import type { Dialect, ToolInfo } from '../shared/types.ts'

const data = new URL('../../../testdata/convert/', import.meta.url)
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

test('tools of a list that still arrives are converted once, each time for the dialect of the last list', () => {
  const tools = Array.from({ length: 6 }, (_, i): ToolInfo => {
    const inputSchema = { type: 'object', properties: { a: { type: ['string', 'null'] } } }
    return { name: `s__t${i}`, server: 's', tool: `t${i}`, definition: { name: `t${i}`, inputSchema } }
  })
  const looks: number[] = []
  tools.forEach(({ definition }, i) => {
    const { inputSchema } = definition
    Object.defineProperty(definition, 'inputSchema', { get: () => (looks.push(i), inputSchema) })
  })
  convertTools('gemini', [], {})
  prepareTools(tools.slice(0, 3))
  prepareTools(tools.slice(0, 5))
  assert.deepEqual(looks, [2, 1, 0, 4, 3])
  convertTools('gemini', tools, {})
  assert.deepEqual(looks, [2, 1, 0, 4, 3, 5])
  convertTools('openai', tools.slice(0, 1), {})
  assert.deepEqual(looks, [2, 1, 0, 4, 3, 5, 0])
})
