import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen, type Listening } from '../../rig/harness.ts'

/** One request to a faulty server, and the means to answer it. */
export interface Asked {
  /** The JSON-RPC method, or GET or DELETE. */
  method: string
  /** The number of requests of that method so far, with this one. */
  nth: number
  message: { id?: number | string; params?: Record<string, unknown> }
  req: IncomingMessage
  res: ServerResponse
}

export type Step = (a: Asked) => void

export interface Script {
  /** Speaks 2026-07-28 instead of 2025-11-25. */
  modern?: boolean
  /** Answers by method; `*` answers everything that has no own step. The rest is answered well. */
  on: Record<string, Step>
}

export interface FaultServer extends Listening {
  /** Requests so far, by method. */
  seen: Record<string, number>
  /** The methods of the exchanges that are still open after at most ms. */
  open(ms: number): Promise<string[]>
}

export const tool = (name = 't', inputSchema: unknown = { type: 'object' }) => ({ name, inputSchema })

/** Answers with a result. */
export const result = (a: Asked, value: unknown): void =>
  json(a, JSON.stringify({ jsonrpc: '2.0', id: a.message.id, result: value }))

export const json = (a: Asked, text: string): void =>
  void a.res.writeHead(200, { 'content-type': 'application/json' }).end(text)

/** Writes text again and again until the other side has gone. */
export function forever(res: ServerResponse, text: string, everyMs: number): void {
  const timer = setInterval(() => {
    if (!res.writableNeedDrain) res.write(text)
  }, everyMs)
  res.on('close', () => clearInterval(timer))
}

const usual: Record<string, Step> = {
  'server/discover': (a) => void a.res.writeHead(400).end(),
  initialize(a) {
    a.res.setHeader('mcp-session-id', `session-${a.nth}`)
    result(a, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'faulty', version: '1' },
    })
  },
  'tools/list': (a) => result(a, { tools: [tool()] }),
  'tools/call': (a) => result(a, { content: [{ type: 'text', text: `call ${a.nth}` }] }),
  GET: ({ res }) => void res.writeHead(405).end(),
  DELETE: ({ res }) => void res.writeHead(204).end(),
}

const modern: Record<string, Step> = {
  'server/discover': (a) =>
    result(a, { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
}

/** A server on a real socket that does what the script says, right or wrong. Pages of any origin may use it. */
export async function faultServer(script: Script): Promise<FaultServer> {
  const seen: Record<string, number> = {}
  const open = new Map<ServerResponse, string>()
  let idle = () => {}
  const listening = await listen(async (req, res) => {
    for (
      const [name, value] of Object.entries({ origin: '*', headers: '*, authorization', methods: 'GET, POST, DELETE' })
    )
      res.setHeader(`access-control-allow-${name}`, value)
    res.setHeader('access-control-expose-headers', 'mcp-session-id')
    if (req.method === 'OPTIONS') return void res.writeHead(204).end()
    open.set(res, req.method!)
    res.on('close', () => {
      open.delete(res)
      if (open.size === 0) idle()
    })
    const chunks: Buffer[] = []
    try {
      for await (const c of req) chunks.push(c as Buffer)
    } catch {
      return // the asker has gone
    }
    const message = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : {}
    const method = (message.method ?? req.method) as string
    open.set(res, method)
    const nth = (seen[method] = (seen[method] ?? 0) + 1)
    const step = script.on[method] ?? script.on['*'] ?? (script.modern ? modern[method] : undefined) ?? usual[method]
    if (step) step({ method, nth, message, req, res })
    else res.writeHead(202).end()
  })
  return {
    ...listening,
    url: `${listening.url}/mcp`,
    seen,
    async open(ms) {
      if (open.size) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          idle = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return [...open.values()]
    },
  }
}
