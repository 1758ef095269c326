import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { median, print, type Table } from './report.ts'

/**
 * The CORS proxy against a Worker written by hand in JavaScript, and against no
 * proxy: latency, CPU, throughput, first request, memory of open event streams.
 * Rounds are interleaved; each starts its processes anew. Asserts nothing.
 *
 *   ./build.sh bench proxy [--rounds 3]
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const at = process.argv.indexOf('--rounds')
const rounds = at < 0 ? 3 : Number(process.argv[at + 1])
const page = 'http://localhost:5173'
const reply = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(400) }] } })

const upstream = createServer((req, res) => {
  req.resume()
  if (req.url === '/idle') return void res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  req.on('end', () => res.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length, 'mcp-session-id': 'a-session' }).end(reply))
})
upstream.listen(0, '127.0.0.1')
await once(upstream, 'listening')
const server = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`

interface Subject { url: string; process?: ChildProcess }

/** Runs workerd on modules, by name, until its process is killed. */
async function workerd(modules: Record<string, string>): Promise<Subject> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-'))
  const worker = await readFile(join(root, 'proxy-worker/wrangler.jsonc'), 'utf8')
  const date = /"compatibility_date": "([^"]+)"/.exec(worker)![1]
  const vars = { ALLOWED_ORIGINS: page, ALLOWED_HOSTS: '127.0.0.1', ALLOWED_PORTS: '*', ALLOW_HTTP: 'true', ALLOW_PRIVATE: 'true', MAX_STREAMS: '1000' }
  await writeFile(join(dir, 'config.capnp'), `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${Object.entries(modules).map(([name, path]) => `(name = "${name}", ${name.endsWith('.wasm') ? 'wasm' : 'esModule'} = embed "/${path}")`).join(', ')}],
  compatibilityDate = "${date}", compatibilityFlags = ["enable_request_signal"],
  bindings = [${Object.entries(vars).map(([name, text]) => `(name = "${name}", text = "${text}")`).join(', ')}],
);`)
  const child = spawn(join(root, 'proxy-worker/node_modules/@cloudflare/workerd-linux-64/bin/workerd'),
    ['serve', '-I', root, '--control-fd=3', join(dir, 'config.capnp')], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] })
  for await (const line of createInterface(child.stdio[3] as Readable)) {
    const event = JSON.parse(line) as { event: string; port: number }
    if (event.event !== 'listen') continue
    await rm(dir, { recursive: true })
    return { url: `http://127.0.0.1:${event.port}/`, process: child }
  }
  throw new Error('workerd has ended')
}

async function native(): Promise<Subject> {
  const child = spawn(join(root, 'dist/bin/portolan'), ['proxy', '--origin', page, '--host', '127.0.0.1', '--insecure-allow-private'],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ALLOWED_PORTS: '*', MAX_STREAMS: '1000' } })
  for await (const line of createInterface(child.stdout!)) {
    const url = /http:\/\/\S+/.exec(line)?.[0]
    if (url) return { url, process: child }
  }
  throw new Error('portolan proxy has ended')
}

const subjects: Record<string, () => Promise<Subject>> = {
  'hand-written': () => workerd({ 'plain.mjs': 'bench/proxy/plain.mjs' }),
  portolan: () => workerd(Object.fromEntries(['worker.mjs', 'policy.mjs', 'dist/wasm_exec.js', 'dist/proxy.wasm'].map((name) => [name, `proxy-worker/${name}`]))),
  native,
  direct: async () => ({ url: '' }),
}

function send(subject: Subject, agent: Agent, path = '/mcp'): Promise<IncomingMessage> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}'
  return new Promise((resolve, reject) => {
    request(subject.url || server + path, { agent, method: 'POST', headers: {
      origin: page, 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'content-length': body.length,
      'mcp-session-id': 'a-session', 'mcp-protocol-version': '2025-11-25', authorization: 'Bearer abc', 'user-agent': 'bench', 'x-portolan-target': server + path,
    } }, resolve).on('error', reject).end(body)
  })
}

async function ask(subject: Subject, agent: Agent): Promise<void> {
  const res = await send(subject, agent)
  if (res.statusCode !== 200) throw new Error(`status ${res.statusCode} ${String(res.headers['x-proxy-error'])}`)
  let n = 0
  for await (const chunk of res) n += (chunk as Buffer).length
  if (n !== reply.length) throw new Error(`${n} bytes`)
}

/** Asks n times, so many at once; the result is each time taken, in ms. */
async function load(subject: Subject, n: number, atOnce: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const times: number[] = []
  let left = n
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (left-- > 0) {
      const begun = performance.now()
      await ask(subject, agent)
      times.push(performance.now() - begun)
    }
  }))
  agent.destroy()
  return times
}

/** CPU that a process has used, in ms, and memory that it has, in MB. */
async function usage(child: ChildProcess): Promise<{ cpu: number; memory: number }> {
  const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).replace(/.*\) /, '').split(' ')
  const memory = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))![1]
  return { cpu: 10 * (Number(fields[11]) + Number(fields[12])), memory: Number(memory) / 1024 }
}

const tables: Record<string, Table> = {}
const note = (what: string, subject: string, value: number) => ((tables[what] ??= {})[subject] ??= []).push(value)

for (let round = 0; round < rounds; round++) {
  for (const [name, start] of Object.entries(subjects)) {
    const subject = await start()
    const child = subject.process
    const once = new Agent({ keepAlive: true })
    try {
      const begun = performance.now()
      await ask(subject, once)
      note('first request, ms', name, performance.now() - begun)
      await load(subject, 1000, 4)
      note('p50, ms', name, median(await load(subject, 2000, 1)))
      const before = child && await usage(child)
      for (const atOnce of [1, 16, 64]) {
        const from = performance.now()
        await load(subject, 3000, atOnce)
        note(`requests/s, ${atOnce} at once`, name, 3e6 / (performance.now() - from))
      }
      if (!child || !before) continue
      const after = await usage(child)
      note('CPU per request, ms', name, (after.cpu - before.cpu) / 9000)
      note('growth in 9,000 requests, MB', name, after.memory - before.memory)
      const streams = new Agent({ keepAlive: true })
      await Promise.all(Array.from({ length: 100 }, async () => {
        const res = await send(subject, streams, '/idle')
        await new Promise<void>((resolve) => res.once('data', () => resolve()))
      }))
      note('100 event streams, MB', name, (await usage(child)).memory - after.memory)
      streams.destroy()
    } finally {
      once.destroy()
      child?.kill('SIGKILL') // on SIGTERM workerd waits for its streams
      if (child) await (child.exitCode ?? new Promise((resolve) => child.once('exit', resolve)))
    }
  }
}
upstream.closeAllConnections()
upstream.close()
print(tables, 'hand-written')
