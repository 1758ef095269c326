import { toOpenAI, type Listed, type Variant } from './variant.ts'

/** fetch and JSON.parse, and nothing that a client is for. */
let endpoints: string[] = []
let id = 0

async function ask(url: string, method: string, params: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
  })
  return ((await response.json()) as { result: Record<string, unknown> }).result
}

globalThis.variant = {
  async open() {},
  async list(urls) {
    endpoints = urls
    const lists = await Promise.all(urls.map(async (url, i) => {
      await ask(url, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'floor', version: '1' },
      })
      const tools: Listed[] = []
      for (let cursor: unknown;;) {
        const page = await ask(url, 'tools/list', cursor === undefined ? {} : { cursor })
        tools.push(...(page.tools as Listed[]))
        cursor = page.nextCursor
        if (cursor === undefined) return toOpenAI(`s${i}`, tools)
      }
    }))
    return lists.flat().length
  },
  async call(server, args) {
    const result = await ask(endpoints[server]!, 'tools/call', { name: 'tool_0', arguments: args })
    return (result.content as { text: string }[])[0]!.text
  },
  async close() {},
} satisfies Variant
