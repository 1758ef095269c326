import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { toOpenAI, type Listed, type Variant } from './variant.ts'

let clients: Client[] = []

globalThis.variant = {
  async open() {},
  async list(urls) {
    clients = urls.map(() => new Client({ name: 'bench', version: '1' }))
    const lists = await Promise.all(clients.map(async (client, i) => {
      await client.connect(new StreamableHTTPClientTransport(new URL(urls[i]!)) as never)
      const tools: Listed[] = []
      for (let cursor: string | undefined; ;) {
        const page = await client.listTools(cursor === undefined ? undefined : { cursor })
        tools.push(...page.tools)
        cursor = page.nextCursor
        if (cursor === undefined) return toOpenAI(`s${i}`, tools)
      }
    }))
    return lists.flat().length
  },
  async call(server, args) {
    const result = await clients[server]!.callTool({ name: 'tool_0', arguments: args })
    return (result.content as { text: string }[])[0]!.text
  },
  async close() { await Promise.all(clients.map((c) => c.close())) },
} satisfies Variant
