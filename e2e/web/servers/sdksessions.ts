import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

/** Lets pages of any origin in. True: the request was a preflight, and has its answer. */
export function admitPages(req: IncomingMessage, res: ServerResponse): boolean {
  res.setHeader('access-control-allow-origin', '*')
  res.setHeader('access-control-expose-headers', 'mcp-session-id')
  res.setHeader('access-control-allow-headers', '*, authorization')
  res.setHeader('access-control-allow-methods', 'GET, POST, DELETE')
  if (req.method === 'OPTIONS') res.writeHead(204).end()
  return req.method === 'OPTIONS'
}

export async function bodyOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const c of req) chunks.push(c as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Answers requests with the official TypeScript SDK, by a program for each session. `body`: it was read before. */
export function sdkSessions(
  program: () => { connect(transport: never): Promise<void> },
): (req: IncomingMessage, res: ServerResponse, body?: string) => Promise<void> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  return async (req, res, body) => {
    const id = req.headers['mcp-session-id'] as string | undefined
    let transport = id === undefined ? undefined : sessions.get(id)
    if (!transport) {
      if (id !== undefined) return void res.writeHead(404).end()
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (s) => void sessions.set(s, transport!),
      })
      await program().connect(transport as never)
    }
    await transport.handleRequest(req, res, body ? JSON.parse(body) : undefined)
  }
}
