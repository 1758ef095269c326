import type { Limits } from '../../../wasm/js/types.ts'
import { forever, json, result, tool, type FaultServer, type Script, type Step } from './faultserver.ts'

/** A server that misbehaves, and what a registry makes of it. */
export interface Fault extends Script {
  name: string
  limits?: Partial<Limits>
  /** Each deadline, in ms; default 600. */
  timeoutMs?: number
  /** Of its health after discovery; no code: connected. */
  code?: string
  /** Its tools, by the names that models see. */
  tools?: string[]
  warning?: RegExp
  /** What a call of the first tool comes to: its text, or the code of its error. */
  call?: string
  /** What the server must have been asked in the end. */
  asked?: (server: FaultServer) => void
  /** Not in this realm, and why. */
  except?: { realm: 'Node' | 'Chromium'; why: string }
}

const silent: Step = () => {}
const reset: Step = ({ req }) => void req.socket.destroy()
const stream: Step = ({ res }) => void res.writeHead(200, { 'content-type': 'text/event-stream' })
const status = (code: number): Step => ({ res }) => void res.writeHead(code).end()
const html: Step = ({ res }) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>')

const dripping: Step = ({ res }) => {
  res.writeHead(200, { 'content-type': 'application/json' })
  forever(res, ' ', 20)
}
const comments: Step = (a) => {
  stream(a)
  forever(a.res, ': still here\n\n'.repeat(100), 5)
}
const flood: Step = (a) => {
  stream(a)
  forever(a.res, `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n\n`.repeat(200), 5)
}

const megabyte = Buffer.alloc(1 << 20, ' ')
const large: Step = ({ res }) => {
  res.writeHead(200, { 'content-type': 'application/json' })
  let left = 200
  const more = () => {
    while (left-- > 0) if (!res.write(megabyte)) return void res.once('drain', more)
    res.end('null')
  }
  more()
}

const counted = (server: FaultServer, want: Record<string, number>): void => {
  for (const [method, n] of Object.entries(want)) {
    if ((server.seen[method] ?? 0) !== n) throw new Error(`${method} was asked ${server.seen[method] ?? 0} times, want ${n}`)
  }
}

const one = { tools: ['bad__t'], call: 'call 1' }

export const faults: Fault[] = [
  { name: 'it accepts and never answers', on: { '*': silent }, code: 'timeout' },
  { name: 'it never answers a list', on: { 'tools/list': silent }, code: 'timeout' },
  { name: 'it drips a body for ever', on: { '*': dripping }, code: 'timeout' },
  { name: 'it drips a list for ever', on: { 'tools/list': dripping }, code: 'timeout' },
  { name: 'it resets each connection', on: { '*': reset }, code: 'network' },
  { name: 'it answers with a page', on: { '*': html }, code: 'protocol' },
  { name: 'it answers a list with a page', on: { 'tools/list': html }, code: 'protocol' },
  { name: 'it sends half of a JSON text', on: { 'tools/list': (a) => json(a, '{"jsonrpc":"2.0","id":1,"resu') }, code: 'protocol' },
  { name: 'it sends 200 MB', timeoutMs: 5000, on: { 'tools/list': large }, code: 'too_large' },
  { name: 'it sends comments for ever', on: { 'tools/list': comments }, code: 'timeout' },
  { name: 'it sends notifications for ever', on: { 'tools/list': flood }, code: 'timeout' },
  { name: 'it answers everything with 500', on: { '*': status(500) }, code: 'http_status' },
  {
    name: 'its list has no end', limits: { pages: 10 }, tools: Array.from({ length: 10 }, (_, i) => `bad__t${i + 1}`), warning: /10 pages/, call: 'call 1',
    on: { 'tools/list': (a) => result(a, { tools: [tool(`t${a.nth}`)], nextCursor: `c${a.nth}` }) },
    asked: (s) => counted(s, { 'tools/list': 10 }),
  },
  {
    name: 'its list turns in a circle', tools: ['bad__t'], warning: /cursor/, call: 'call 1',
    on: { 'tools/list': (a) => result(a, { tools: a.nth === 1 ? [tool()] : [], nextCursor: 'again' }) },
    asked: (s) => counted(s, { 'tools/list': 2 }),
  },
  {
    name: 'a schema is 10,000 levels deep', ...one, warning: /deep/,
    on: { 'tools/list': (a) => json(a, `{"jsonrpc":"2.0","id":${a.message.id},"result":{"tools":[{"name":"deep","inputSchema":${'{"items":'.repeat(10_000)}{}${'}'.repeat(10_000)}},${JSON.stringify(tool())}]}}`) },
  },
  { name: 'tools are no tools', ...one, warning: /./, on: { 'tools/list': (a) => result(a, { tools: [null, 7, [], { name: 3 }, {}, tool()] }) } },
  {
    name: 'a tool name is no header', modern: true, tools: ['bad_tool_5evbav5wrf'], call: 'call 1',
    on: { 'tools/list': (a) => result(a, { tools: [tool('日本')], resultType: 'complete' }) },
  },
  { name: 'it forgets the session', tools: ['bad__t'], call: 'call 2', on: { 'tools/call': (a) => (a.nth === 1 ? status(404)(a) : result(a, { content: [{ type: 'text', text: 'call 2' }] })) },
    asked: (s) => counted(s, { initialize: 2, 'tools/call': 2 }) },
  { name: 'it forgets every session', tools: ['bad__t'], call: 'session_expired', on: { 'tools/call': status(404) }, asked: (s) => counted(s, { 'tools/call': 2 }) },
  { name: 'it fails in a call', tools: ['bad__t'], call: 'http_status', on: { 'tools/call': status(500) }, asked: (s) => counted(s, { 'tools/call': 1 }) },
  { name: 'it never answers a call', tools: ['bad__t'], call: 'timeout', on: { 'tools/call': silent }, asked: (s) => counted(s, { 'tools/call': 1, 'notifications/cancelled': 1 }) },
  { name: 'it drips the answer to a call', tools: ['bad__t'], call: 'timeout', on: { 'tools/call': dripping }, asked: (s) => counted(s, { 'tools/call': 1 }) },
  { name: 'it answers a call with a page', tools: ['bad__t'], call: 'protocol', on: { 'tools/call': html }, asked: (s) => counted(s, { 'tools/call': 1 }) },
  { name: 'it answers a call with 200 MB', timeoutMs: 5000, tools: ['bad__t'], call: 'too_large', on: { 'tools/call': large }, asked: (s) => counted(s, { 'tools/call': 1 }) },
  { name: 'it sends notifications for ever in a call', tools: ['bad__t'], call: 'timeout', on: { 'tools/call': flood }, asked: (s) => counted(s, { 'tools/call': 1 }) },
  {
    name: 'it resets a call', tools: ['bad__t'], call: 'network', on: { 'tools/call': reset }, asked: (s) => counted(s, { 'tools/call': 1 }),
    except: { realm: 'Chromium', why: 'over HTTP/1.1 it sends a POST again by itself when a used connection breaks' },
  },
]
