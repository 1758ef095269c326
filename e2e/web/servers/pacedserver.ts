import { randomUUID } from 'node:crypto'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { listen, type Listening } from '../../rig/harness.ts'

export const transports = ['json', 'events', 'legacy'] as const

/**
 * A server on the official TypeScript SDK, without CORS, in three transports at
 * /json (streamable, JSON replies), /events (streamable, SSE replies) and /legacy
 * (HTTP+SSE). Its tool `say` answers its text. Where a reply is a stream, it
 * sends events of progress before. It sends each when the page has told /seen?at=
 * when it saw the last one. late is how long each took, in ms; ended are the
 * sessions that were deleted, watched those for which a stream was opened.
 */
export async function pacedServer(
  events: number,
): Promise<Listening & { late: number[]; ended: string[]; watched: string[] }> {
  const late: number[] = []
  const ended: string[] = []
  const watched: string[] = []
  let seen: (at: number) => void = () => {}

  function program(streams: boolean): Server {
    const server = new Server({ name: 'paced', version: '1' }, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler(
      ListToolsRequestSchema,
      () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' as const } }] }),
    )
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
      for (let i = 1; streams && i <= events; i++) {
        const arrival = new Promise<number>((resolve) => {
          seen = resolve
        })
        const flushed = Date.now()
        await sendNotification({
          method: 'notifications/progress',
          params: { progressToken: params._meta!.progressToken!, progress: i, total: events },
        })
        late.push(await arrival - flushed)
      }
      return { content: [{ type: 'text' as const, text: String(params.arguments!.text) }] }
    })
    return server
  }

  const streamable = new Map<string, StreamableHTTPServerTransport>()
  const legacy = new Map<string, SSEServerTransport>()
  const listening = await listen(async (req, res) => {
    const url = new URL(req.url!, 'http://paced.invalid')
    if (url.pathname === '/seen') {
      seen(Number(url.searchParams.get('at')))
      return void res.writeHead(204, { 'access-control-allow-origin': '*' }).end()
    }
    if (url.pathname === '/legacy' && req.method === 'GET') {
      const transport = new SSEServerTransport('/posts', res)
      legacy.set(transport.sessionId, transport)
      return program(true).connect(transport)
    }
    if (url.pathname === '/posts') return legacy.get(url.searchParams.get('sessionId')!)!.handlePostMessage(req, res)
    if (url.pathname === '/legacy' || req.method === 'OPTIONS') return void res.writeHead(405).end()
    const id = req.headers['mcp-session-id'] as string | undefined
    if (req.method === 'DELETE') ended.push(id!)
    if (req.method === 'GET') watched.push(id!)
    let transport = id === undefined ? undefined : streamable.get(id)
    if (!transport) {
      if (id !== undefined) return void res.writeHead(404).end()
      const json = url.pathname === '/json'
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: json,
        onsessioninitialized: (s) => void streamable.set(s, transport!),
      })
      await program(!json).connect(transport as never)
    }
    await transport.handleRequest(req, res)
  })
  return { ...listening, late, ended, watched }
}
