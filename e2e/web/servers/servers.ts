import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quickChromium } from '../../rig/flags.ts'
import { answering, freePort, launch, root, type Running } from '../../rig/harness.ts'

/** A real MCP server, written by others, that a test runs. */
export interface RealServer {
  name: string
  url: string
  headers?: Record<string, string>
  /** Whether a page can reach it without a proxy. */
  cors: boolean
  transport: 'streamable-http' | 'sse'
  /** A call that proves that the tools work, and what its text must match. */
  call: { tool: string; args: Record<string, unknown>; want: RegExp }
}

const modules = join(root, 'e2e/servers/node_modules')
const bin = (name: string) => join(modules, '.bin', name)
const node = join(root, 'node_modules/.bin/node')

/** The arguments with which Node serves a stdio program as streamable HTTP, with a process for each session. */
export const stdio = (command: string, port: number): string[] => [
  bin('supergateway'),
  '--stdio',
  command,
  '--outputTransport',
  'streamableHttp',
  '--stateful',
  '--port',
  String(port),
]

/** Starts servers of several makers and kinds; stop ends them all. */
export async function startServers(): Promise<{ servers: RealServer[]; stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-e2e-'))
  await writeFile(join(dir, 'hello.txt'), 'ahoy from a file')
  const running: Running[] = []
  const local = (port: number, path: string) => `http://127.0.0.1:${port}${path}`
  const run = async (command: string, args: string[], url: string, env: Record<string, string> = {}) => {
    const r = launch(command, args, {
      NODE_OPTIONS: `--import=${new URL('../../rig/loopback.mjs', import.meta.url)}`,
      ...env,
    })
    running.push(r)
    await answering(url, r)
  }
  const everything = join(modules, '@modelcontextprotocol/server-everything/dist/index.js')
  const echo = { tool: 'echo', args: { message: 'ahoy' }, want: /ahoy/ }
  const readFile = { tool: 'read_text_file', args: { path: join(dir, 'hello.txt') }, want: /ahoy from a file/ }
  const files = `${node} ${bin('mcp-server-filesystem')} ${dir}`

  const makers: (() => Promise<RealServer>)[] = [
    async () => {
      const port = await freePort()
      await run(node, [everything, 'streamableHttp'], local(port, '/mcp'), { PORT: String(port) })
      return { name: 'everything', url: local(port, '/mcp'), cors: true, transport: 'streamable-http', call: echo }
    },
    async () => {
      const port = await freePort()
      await run(node, [everything, 'sse'], local(port, '/sse'), { PORT: String(port) })
      return { name: 'everything-sse', url: local(port, '/sse'), cors: true, transport: 'sse', call: echo }
    },
    async () => {
      const port = await freePort()
      await run(node, [
        bin('supergateway'),
        '--stdio',
        files,
        '--outputTransport',
        'streamableHttp',
        '--port',
        String(port),
      ], local(port, '/mcp'))
      return { name: 'files', url: local(port, '/mcp'), cors: false, transport: 'streamable-http', call: readFile }
    },
    async () => {
      const port = await freePort()
      await run(node, [
        bin('supergateway'),
        '--stdio',
        files,
        '--outputTransport',
        'sse',
        '--cors',
        '--port',
        String(port),
      ], local(port, '/sse'))
      return { name: 'files-sse', url: local(port, '/sse'), cors: true, transport: 'sse', call: readFile }
    },
    async () => {
      const port = await freePort()
      await run(node, [
        bin('playwright-mcp'),
        '--port',
        String(port),
        '--host',
        '127.0.0.1',
        '--allowed-hosts',
        '*',
        '--headless',
        '--isolated',
        '--no-sandbox',
        '--executable-path',
        quickChromium,
      ], local(port, '/mcp'))
      return {
        name: 'playwright',
        url: local(port, '/mcp'),
        cors: false,
        transport: 'streamable-http',
        call: { tool: 'browser_tabs', args: { action: 'list' }, want: /./ },
      }
    },
    async () => {
      const port = await freePort()
      await run(
        node,
        [bin('notion-mcp-server'), '--transport', 'http', '--port', String(port), '--auth-token', 'e2e-token'],
        local(port, '/mcp'),
        { NOTION_TOKEN: 'ntn_none' },
      )
      return {
        name: 'notion',
        url: local(port, '/mcp'),
        headers: { Authorization: 'Bearer e2e-token' },
        cors: false,
        transport: 'streamable-http',
        // Its backend is out of reach here: the error is its own answer.
        call: { tool: 'API-get-self', args: {}, want: /^server_error: / },
      }
    },
    async () => {
      const port = await freePort()
      await run('go', [
        'run',
        'github.com/modelcontextprotocol/go-sdk/examples/http',
        '-host',
        '127.0.0.1',
        '-port',
        String(port),
        'server',
      ], local(port, '/'))
      return {
        name: 'go-sdk',
        url: local(port, '/'),
        cors: false,
        transport: 'streamable-http',
        call: { tool: 'cityTime', args: { city: 'nyc' }, want: /New York|time/i },
      }
    },
    async () => {
      const port = await freePort()
      await run('go', ['run', 'github.com/mark3labs/mcp-go/examples/conformance@v1.2.1'], local(port, '/mcp'), {
        CONFORMANCE_ADDR: `127.0.0.1:${port}`,
      })
      return {
        name: 'mcp-go',
        url: local(port, '/mcp'),
        cors: false,
        transport: 'streamable-http',
        call: { tool: 'test_simple_text', args: {}, want: /simple text response/ },
      }
    },
    async () => {
      const port = await freePort()
      await run(
        node,
        [
          bin('supergateway'),
          '--stdio',
          `${node} ${bin('mcp-server-memory')}`,
          '--outputTransport',
          'streamableHttp',
          '--port',
          String(port),
        ],
        local(port, '/mcp'),
        { MEMORY_FILE_PATH: join(dir, 'memory.json') },
      )
      const entities = [{ name: 'Oslo', entityType: 'port', observations: ['ahoy'] }]
      return {
        name: 'memory',
        url: local(port, '/mcp'),
        cors: false,
        transport: 'streamable-http',
        call: { tool: 'create_entities', args: { entities }, want: /Oslo|\[\]/ },
      }
    },
    async () => {
      const port = await freePort()
      await run(
        node,
        [bin('mcp-server-chart'), '--transport', 'streamable', '--host', '127.0.0.1', '--port', String(port)],
        local(port, '/mcp'),
        { VIS_REQUEST_SERVER: local(port, '/none') },
      )
      return {
        name: 'chart',
        url: local(port, '/mcp'),
        cors: true,
        transport: 'streamable-http',
        // The service that draws is out of reach here: the error is the server's own answer.
        call: {
          tool: 'generate_pie_chart',
          args: { data: [{ category: 'a', value: 1 }] },
          want: /^server_error: /,
        },
      }
    },
  ]
  const servers: RealServer[] = []
  const stop = async () => {
    await Promise.all(running.map((r) => r.stop()))
    await rm(dir, { recursive: true, force: true })
  }
  try {
    for (const make of makers) servers.push(await make())
  } catch (e) {
    await stop()
    throw e
  }
  return { servers, stop }
}
