// A rehearsal connects a module of its own to servers that do not exist, lists their tools and calls one. The engine
// compiles a function when it is first called, and shares it with other modules of the same source. So the first real
// servers find compiled code. It runs in a worker of its own, whose memory is free as soon as that ends.

import type { RequestBody } from '../shared/protocol.ts'
import { Instance } from './instance.ts'

/** The numbers of servers, of their tools, and of calls. More would compile little more. */
const SERVERS = 32, TOOLS = 20, CALLS = 40

/** Runs a rehearsal. No request leaves this realm. */
export async function rehearse(module: WebAssembly.Module): Promise<void> {
  const instance = await Instance.load(module, undefined, { fetch: answer })
  const waiting = new Map<number, () => void>()
  const ignore = () => {}
  let isOver = false
  const ended = () => {
    isOver = true
    for (const done of waiting.values()) done()
  }
  instance.start({}, {
    settle: (id) => waiting.get(id)?.(),
    progress: ignore,
    queued: ignore,
    config: ignore,
    state: ignore,
    tools: ignore,
    hints: ignore,
    pins: ignore,
    elicit: ignore,
    authorize: ignore,
    unask: ignore,
    ended,
  })
  let last = 0
  const ask = (send: (id: number) => void) =>
    new Promise<void>((done) => {
      if (isOver) return done()
      waiting.set(++last, done)
      send(last)
    })
  const request = (body: RequestBody) => ask((id) => instance.call(id, body))
  const names = Array.from({ length: SERVERS }, (_, i) => `server${i}`)
  const config = (name: string) => ({ url: `https://${name}.invalid/mcp` })
  await Promise.all(names.map((name) => request({ method: 'addServer', name, config: config(name) })))
  await request({ method: 'discover' })
  for (let i = 0; i < CALLS; i++) await ask((id) => instance.dispatch(id, 'server0__tool0', '{"text":"x"}', 0, false))
  await request({ method: 'close' })
  instance.exit()
}

const tools = Array.from({ length: TOOLS }, (_, i) => ({
  name: `tool${i}`,
  description: 'Does its work on a text.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'The text.' }, times: { type: 'integer', minimum: 1 } },
    required: ['text'],
  },
}))

const results: Record<string, unknown> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'rehearsal', version: '1' },
  },
  'tools/list': { tools },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
}

/** Answers as a server of 2025-11-25 does. */
const answer: typeof fetch = async (_, init) => {
  await new Promise((resolve) => setTimeout(resolve)) // a task of its own, as from a network
  const { id, method } = JSON.parse(new TextDecoder().decode(init!.body as Uint8Array)) as {
    id?: number
    method: string
  }
  if (id === undefined) return new Response(null, { status: 202 })
  const result = results[method]
  const outcome = result ? { result } : { error: { code: -32601, message: 'method not found' } }
  return Response.json({ jsonrpc: '2.0', id, ...outcome })
}
