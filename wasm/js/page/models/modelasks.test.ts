import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchOptions, ToolInfo } from '../../shared/types.ts'
import { ModelTools } from './modeltools.ts'
import { Offers } from '../offers/offers.ts'
import { Results, readPart } from './results.ts'

// Models write null, '' or 0 for what they leave out.
const left = [undefined, null, '', 0]

test('a part without a length is as long as usual', async () => {
  const results = new Results()
  const { handle } = results.shorten('0123456789'.repeat(5000), 500)
  const registry = { readResult: (h: string, range: object) => Promise.resolve(results.read(h, range)) }
  for (const length of [...left, 'all', -1]) {
    const text = await readPart(registry, JSON.stringify({ handle, offset: 100, length }))
    assert.ok(
      text.endsWith('[characters 100 to 20100 of 50000; go on with offset 20100]'),
      `${length}: ${text.slice(-80)}`,
    )
  }
  assert.match(await readPart(registry, JSON.stringify({ handle, length: 1 })), /^0\n\[characters 0 to 1 of/)
})

test('a list without a server is of all servers', async () => {
  const asked: unknown[] = []
  const ask = (body: unknown) => (asked.push(body), Promise.resolve([]))
  const offers = new Offers(
    {
      requests: { ask },
      results: () => Promise.resolve(new Results()),
      resultBytes: () => 0,
      snapshot: () => ({ servers: {} }),
    } as never,
  )
  for (const server of left) {
    const { text } = await offers.forModel('portolan_list_resources', JSON.stringify({ server }), undefined)
    assert.equal(text, 'There are no resources.')
  }
  assert.ok(asked.every((body) => (body as { servers?: string[] }).servers === undefined), JSON.stringify(asked))
})

/** Tools that note what is searched. */
function searched() {
  const asked: SearchOptions[] = []
  const among: (readonly string[] | undefined)[] = []
  class Tools extends ModelTools {
    tools: ToolInfo[] = []
    readonly toMessage = undefined as never
    readonly ended = new AbortController().signal
    readonly call = undefined as never
    readonly subscribe = undefined as never
    readonly annotations = undefined as never
    find(_: string, options: SearchOptions, names?: ReadonlySet<string>) {
      asked.push(options)
      among.push(names && [...names])
      return Promise.resolve([])
    }
  }
  return { asked, among, tools: new Tools() }
}

test('a search without a server is in all servers', async () => {
  const { asked, tools } = searched()
  for (const server of left) await tools.answer('portolan_search_tools', JSON.stringify({ query: 'x', server }))
  assert.deepEqual(asked, left.map(() => ({ limit: 5 })))
})

test("a search finds only the tools of Anthropic's deferred list", async () => {
  const { among, tools } = searched()
  const toolOf = (server: string): ToolInfo => {
    const name = `${server}__say`
    return { name, server, tool: 'say', definition: { name: 'say', inputSchema: { type: 'object' } } }
  }
  tools.tools = [toolOf('here'), toolOf('there')]
  for (const format of ['anthropic', 'openai'] as const) {
    tools.getTools({ format, servers: ['here'], deferred: { budgetTokens: 1 } })
    tools.tools = [...tools.tools, toolOf(`after-${format}`)]
    await tools.answer('portolan_search_tools', '{"query":"x"}')
    // The API refuses a reference to a tool that the request lacks. Another model calls portolan_call_tool.
    assert.deepEqual(among.at(-1), format === 'anthropic' ? ['here__say'] : undefined)
  }
})

test('any number of suggestions can be asked for', async () => {
  const { asked, tools } = searched()
  for (const max of [0, 0.3, 1.7, 12, 1000]) assert.deepEqual(await tools.suggest('a task', { max }), [])
  assert.deepEqual(asked.map((o) => o.limit), [1, 1, 4, 24, 50]) // a search wants a whole number from 1
})
