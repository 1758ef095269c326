import { readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { root } from '../e2e/rig/harness.ts'
import { median, print, type Table } from './report.ts'

/**
 * The cost of the gateway: a call of a stdio program, and 50 programs at once. The official TypeScript client calls the
 * same programs over stdio and through the gateway, in turns. Asserts nothing.
 *
 *   ./build.sh bench gateway [--calls 500]
 */
const at = process.argv.indexOf('--calls')
const calls = at < 0 ? 500 : Number(process.argv[at + 1])
const p = (samples: number[], q: number) => [...samples].sort((a, b) => a - b)[Math.floor(samples.length * q)]!

const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-'))
const binary = join(root, 'dist/bin/portolan')
const node = join(root, 'node_modules/.bin/node')
const modules = join(root, 'e2e/servers/node_modules/@modelcontextprotocol')
interface Program {
  command: string
  args: string[]
}
const everything: Program = { command: node, args: [join(modules, 'server-everything/dist/index.js'), 'stdio'] }
const files: Program = { command: node, args: [join(modules, 'server-filesystem/dist/index.js'), dir] }
// A Go server: the bridge, while no browser is paired.
const go = (n: number): Program => ({
  command: binary,
  args: ['bridge', '--stdio', '--listen', '127.0.0.1:0', '--discovery', '-', '--dir', join(dir, `bridge-${n}`)],
})
const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`go-${n}`, go(n)]))
await writeFile(join(dir, 'large.txt'), 'x'.repeat(1 << 20))
await writeFile(join(dir, 'mcp.json'), JSON.stringify({ mcpServers: { everything, files, go: go(100), ...many } }))

const origin = 'https://bench.example'
const gateway = spawn(binary, [
  'gateway',
  '--config',
  join(dir, 'mcp.json'),
  '--listen',
  '127.0.0.1:0',
  '--dir',
  dir,
  '--allow',
  origin,
])
let output = ''
await new Promise<void>((resolve, reject) => {
  gateway.stdout.on('data', (text) => {
    output += text
    if (output.includes('Find a running gateway')) resolve()
  })
  gateway.on('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
})
const base = /http:\/\/\S+/.exec(output)![0]
const token = /for this run: (\S+)/.exec(output)![1]!

async function through(name: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  const requestInit = { headers: { Authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/s/${name}/mcp`), { requestInit }))
  return client
}
async function direct(program: Program): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(new StdioClientTransport({ ...program, stderr: 'ignore' }))
  return client
}
/** Memory of a process, in MB: its share of what it has in common with others counts in part. */
const memory = (pid: number) =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) / 1024

const rows: [
  name: string,
  server: string,
  program: Program,
  tool: string,
  args: Record<string, unknown>,
  part: number,
][] = [
  ['echo, Node program', 'everything', everything, 'echo', { message: 'ahoy' }, 1],
  ['small call, Go program', 'go', go(101), 'portolan_pair', {}, 1],
  ['1 MiB result, Node program', 'files', files, 'read_text_file', { path: join(dir, 'large.txt') }, 0.2],
]
const tables: Record<string, Table> = {}
try {
  for (const [name, server, program, tool, args, part] of rows) {
    const clients = { stdio: await direct(program), gateway: await through(server) }
    const table: Table = tables[`${name}, ms`] = { stdio: [], gateway: [] }
    for (let i = -20; i < calls * part; i++) {
      for (const [way, client] of Object.entries(clients)) {
        const begun = performance.now()
        await client.callTool({ name: tool, arguments: args })
        if (i >= 0) table[way]!.push(performance.now() - begun)
      }
    }
    await Promise.all(Object.values(clients).map((c) => c.close()))
  }
  print(tables, 'stdio')
  for (const [name, { stdio, gateway }] of Object.entries(tables)) {
    const more = (q: number) => (p(gateway!, q) - p(stdio!, q)).toFixed(2)
    console.log(`${name}: the gateway adds ${more(0.5)} at p50, ${more(0.95)} at p95`)
  }
  console.log(`goal: at most 1.5 ms more at p50 for small calls`)

  const before = memory(gateway.pid!)
  const begun = performance.now()
  const starts: number[] = []
  const clients = await Promise.all(
    Object.keys(many).map(async (name) => {
      const from = performance.now()
      const client = await through(name)
      await client.listTools()
      starts.push(performance.now() - from)
      return client
    }),
  )
  const all = performance.now() - begun
  console.log(
    `\n50 Go programs at once: all listed after ${all.toFixed(0)} ms; one: median ${median(starts).toFixed(0)} ms`,
  )
  console.log(
    `the gateway's memory: ${before.toFixed(1)} MB before, ${memory(gateway.pid!).toFixed(1)} MB with 50 programs`,
  )
  const took: number[] = []
  for (let i = 0; i < calls; i++) {
    const from = performance.now()
    await clients[i % 50]!.callTool({ name: 'portolan_pair', arguments: {} })
    took.push(performance.now() - from)
  }
  console.log(`a small call beside 50 programs: p50 ${median(took).toFixed(2)} ms, p95 ${p(took, 0.95).toFixed(2)} ms`)
  const ending = performance.now()
  gateway.removeAllListeners('exit')
  const ended = new Promise((resolve) => gateway.on('exit', resolve))
  gateway.kill('SIGTERM')
  await ended
  console.log(`SIGTERM → the gateway and its programs have ended: ${(performance.now() - ending).toFixed(0)} ms`)
} finally {
  gateway.kill('SIGKILL')
  await rm(dir, { recursive: true, force: true })
}
process.exit(0)
