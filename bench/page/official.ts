import { toOpenAI, type Listed, type Variant } from './variant.ts'

/** The code that the two generations of the official TypeScript client share. */
interface Client {
  connect(transport: never): Promise<unknown>
  listTools(params?: { cursor: string }): Promise<{ tools: Listed[]; nextCursor?: string | undefined }>
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}

/** An official client used as its documentation shows. */
export function official(makeClient: () => Client, makeTransport: (url: URL) => unknown): Variant {
  let clients: Client[] = []
  return {
    async open() {},
    async list(urls) {
      clients = urls.map(makeClient)
      const lists = await Promise.all(clients.map(async (client, i) => {
        await client.connect(makeTransport(new URL(urls[i]!)) as never)
        const tools: Listed[] = []
        for (let cursor: string | undefined;;) {
          const page = await client.listTools(cursor === undefined ? undefined : { cursor })
          tools.push(...page.tools)
          cursor = page.nextCursor
          if (cursor === undefined) return toOpenAI(`s${i}`, tools)
        }
      }))
      return lists.flat().length
    },
    async call(server, args) {
      const result = await clients[server]!.callTool({ name: 'tool_0', arguments: args }) as {
        content: { text: string }[]
      }
      return result.content[0]!.text
    },
    async close() {
      await Promise.all(clients.map((c) => c.close()))
    },
  }
}
