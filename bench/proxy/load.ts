import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { Agent, createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { page, type Subject } from './subjects.ts'

const reply = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(400) }] } })

const upstream = createServer((req, res) => {
  req.resume()
  if (req.url === '/idle') return void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')
  const as = req.url === '/events'
    ? { 'content-type': 'text/event-stream' }
    : { 'content-type': 'application/json', 'content-length': reply.length }
  req.on('end', () => res.writeHead(200, { ...as, 'mcp-session-id': 'a-session' }).end(reply))
})
upstream.listen(0, '127.0.0.1')
await once(upstream, 'listening')
const server = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`

/** Ends the server that all requests go to. */
export function close(): void {
  upstream.closeAllConnections()
  upstream.close()
}

function send(subject: Subject, agent: Agent, path: string): Promise<IncomingMessage> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}'
  return new Promise((resolve, reject) => {
    request(subject.url || server + path, {
      agent,
      method: 'POST',
      headers: {
        origin: page,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': body.length,
        'mcp-session-id': 'a-session',
        'mcp-protocol-version': '2025-11-25',
        authorization: 'Bearer abc',
        'user-agent': 'bench',
        'x-portolan-target': server + path,
      },
    }, resolve).on('error', reject).end(body)
  })
}

/**
 * Asks n times, so many at once, and is answered with JSON, or with events at /events. The result is each time taken,
 * in ms.
 */
export async function load(subject: Subject, n: number, atOnce: number, path = '/mcp'): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const times: number[] = []
  let left = n
  try {
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (left-- > 0) {
        const begun = performance.now()
        await ask(subject, agent, path)
        times.push(performance.now() - begun)
      }
    }))
  } finally {
    agent.destroy()
  }
  return times
}

async function ask(subject: Subject, agent: Agent, path: string): Promise<void> {
  const res = await send(subject, agent, path)
  if (res.statusCode !== 200) throw new Error(`status ${res.statusCode} ${String(res.headers['x-proxy-error'])}`)
  let n = 0
  for await (const chunk of res) n += (chunk as Buffer).length
  if (n < reply.length) throw new Error(`${n} bytes`)
}

/** Opens event streams, each to its first byte. Returns what ends them. */
export async function openStreams(subject: Subject, n: number): Promise<() => void> {
  const agent = new Agent({ keepAlive: true })
  await Promise.all(Array.from({ length: n }, async () => {
    const res = await send(subject, agent, '/idle')
    if (res.statusCode !== 200) throw new Error(`status ${res.statusCode} ${String(res.headers['x-proxy-error'])}`)
    await once(res, 'data')
  }))
  return () => agent.destroy()
}

/** CPU that the threads of a process have used, in ms, and memory that it has, in MB. */
export async function usage(pid: number): Promise<{ cpu: number; memory: number }> {
  let nanoseconds = 0
  for (const thread of await readdir(`/proc/${pid}/task`))
    nanoseconds += Number((await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')).split(' ')[0])
  const memory = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]
  return { cpu: nanoseconds / 1e6, memory: Number(memory) / 1024 }
}
