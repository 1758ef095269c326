import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolInfo } from '../../shared/types.ts'
import { suggest } from './suggest.ts'

const tool = { name: 's__t', server: 's', tool: 't', definition: { name: 't', inputSchema: {} } } as ToolInfo
const source = { tools: [tool], search: async () => [] }

test("the first array of a model's answer has the names of tools", async () => {
  const says = (text: string) => suggest(source, 'x', { model: async () => text })
  for (const text of ['["s__t"]', 'These: ["s__t", "other", 1] and [2]']) assert.equal((await says(text)).length, 1)
  for (const text of ['', 'none', ']', '[', '[1', '] [', '[1}'])
    await assert.rejects(says(text), { code: 'protocol' })
  await assert.rejects(says('['.repeat(4 << 20)), { code: 'protocol' })
})

test("a model's own failure is an error of the registry, with its cause", async () => {
  const cause = new TypeError('fetch failed')
  const fails = suggest(source, 'x', { model: () => Promise.reject(cause) })
  await assert.rejects(fails, {
    name: 'RegistryError',
    code: 'protocol',
    message: 'the model failed: TypeError: fetch failed',
    cause,
  })
})
