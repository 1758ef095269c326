import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An MCP server (2025-11-25, stateless, JSON replies) that does as little as it
 * can, so that a benchmark over it measures the client. The path says how many
 * tools it lists: /50, /5000, /500o (with output schemas), /5000w (in one page), and
 * after a hyphen the delay of each reply in ms: /50-40.
 */
const bodies = new Map<string, string[]>()

function pages(path: string): string[] {
  let list = bodies.get(path)
  if (list) return list
  const count = Number.parseInt(path.slice(1), 10) || 1
  const output = path.endsWith('o')
  const pageSize = path.endsWith('w') ? Infinity : 500
  const tools = Array.from({ length: count }, (_, i) => ({
    name: `tool_${i}`,
    title: `Tool number ${i}`,
    description: `Does the work that number ${i} stands for, carefully and once. `.repeat(8),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from(
          { length: 6 },
          (_, k) => [`field_${k}`, { type: k % 2 ? 'string' : 'number', description: `What field ${k} is about` }],
        ),
      ),
      required: ['field_0'],
    },
    ...(output &&
      {
        outputSchema: {
          type: 'object',
          properties: { value: { type: 'number' }, text: { type: 'string', maxLength: 100 + i } },
          required: ['value'],
        },
      }),
  }))
  list = []
  for (let at = 0; at < count; at += pageSize) {
    const next = at + pageSize < count ? { nextCursor: String(at / pageSize + 1) } : {}
    list.push(JSON.stringify({ tools: tools.slice(at, at + pageSize), ...next }))
  }
  bodies.set(path, list)
  return list
}

const texts = new Map<number, string>()

function text(size: number): string {
  let t = texts.get(size)
  if (!t) texts.set(size, t = JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(size) }] }))
  return t
}

const tally = (kind: string) => {
  counts[kind] = (counts[kind] ?? 0) + 1
}

/** The numbers of replies since the last question, by kind; see /count. */
let counts: Record<string, number> = {}

async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [path, delay] = req.url!.split('-') as [string, string?]
  if (delay) await new Promise((resolve) => setTimeout(resolve, Number(delay)))
  res.setHeader('access-control-allow-origin', '*')
  if (req.method === 'OPTIONS') {
    res.setHeader('access-control-allow-headers', '*')
    res.setHeader('access-control-allow-methods', '*')
    res.setHeader('access-control-max-age', '7200')
    tally('preflights')
    return void res.writeHead(204).end()
  }
  if (path === '/count') {
    const body = JSON.stringify(counts)
    counts = {}
    return void res.end(body)
  }
  tally(req.method === 'GET' ? 'streams' : 'posts')
  if (req.method !== 'POST') return void res.writeHead(405).end()
  const chunks: Buffer[] = []
  for await (const c of req) chunks.push(c as Buffer)
  const m = JSON.parse(Buffer.concat(chunks).toString()) as {
    id?: unknown
    method: string
    params?: Record<string, unknown>
  }
  if (m.id === undefined) return void res.writeHead(202).end()
  let result: string | undefined
  if (m.method === 'initialize') {
    result = JSON.stringify({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'bench', version: '1' },
    })
  } else if (m.method === 'tools/list') {
    result = pages(path)[Number(m.params?.cursor ?? 0)]
  } else if (m.method === 'tools/call') {
    result = text(Number((m.params?.arguments as { field_0?: number })?.field_0 ?? 2))
  }
  const answer = result === undefined
    ? `{"jsonrpc":"2.0","id":${JSON.stringify(m.id)},"error":{"code":-32601,"message":"method not found"}}`
    : `{"jsonrpc":"2.0","id":${JSON.stringify(m.id)},"result":${result}}`
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) }).end(answer)
}

/** Starts n servers, each on a port of its own. */
export async function startServers(n: number): Promise<{ origins: string[]; close(): void }> {
  const servers: Server[] = []
  for (let i = 0; i < n; i++) {
    const s = createServer((req, res) => {
      handle(req, res).catch(() => res.destroy())
    })
    await new Promise<void>((resolve) => s.listen(0, '127.0.0.1', resolve))
    servers.push(s)
  }
  return {
    origins: servers.map((s) => `http://127.0.0.1:${(s.address() as AddressInfo).port}`),
    close: () =>
      servers.forEach((s) => {
        s.closeAllConnections()
        s.close()
      }),
  }
}

// As a program: serves n servers and prints their origins as one line of JSON.
if (process.argv[1] === import.meta.filename) {
  const { origins } = await startServers(Number(process.argv[2] ?? 1))
  console.log(JSON.stringify(origins))
}
