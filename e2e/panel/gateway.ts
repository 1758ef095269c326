import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, root } from '../rig/harness.ts'

const modules = join(root, 'e2e/servers/node_modules')
const node = join(root, 'node_modules/.bin/node')

/** A `portolan gateway` that a test has started, and its terminal. */
export interface TestGateway {
  address: string
  /** A folder with hello.txt, which the server files offers. */
  folder: string
  /** Configured servers, as in mcp.json. */
  config: string
  /** The text of the terminal so far. */
  output(): string
  /** Waits until the terminal shows a text that matches, after the first `from` characters. */
  shows(pattern: RegExp, from?: number): Promise<RegExpMatchArray>
  type(line: string): void
  /** Runs a subcommand with the gateway's folder. */
  run(...args: string[]): Promise<string>
  /** Ends it with SIGTERM, and resolves to its exit code. */
  stop(): Promise<number | null>
}

/** Starts the gateway with five programs of several makers. `args` are further arguments. */
export async function startGateway(...args: string[]): Promise<TestGateway> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-gateway-'))
  const port = await freePort()
  await writeFile(join(dir, 'hello.txt'), 'ahoy from a file')
  // go-sdk's own server with everything, which speaks 2026-07-28.
  const modern = join(dir, 'everything-server')
  const source = 'github.com/modelcontextprotocol/go-sdk/conformance/everything-server'
  await promisify(execFile)('go', ['build', '-o', modern, source], { cwd: root })
  const own = (path: string) => join(modules, '@modelcontextprotocol', path)
  const config = JSON.stringify(
    {
      mcpServers: {
        files: { command: node, args: [own('server-filesystem/dist/index.js'), dir] },
        memory: {
          command: node,
          args: [own('server-memory/dist/index.js')],
          env: { MEMORY_FILE_PATH: join(dir, 'm.json') },
        },
        everything: { command: node, args: [own('server-everything/dist/index.js'), 'stdio'] },
        modern: { command: modern },
        // The bridge, while no browser is paired.
        go: {
          command: join(root, 'dist/bin/portolan'),
          args: ['bridge', '--stdio', '--listen', '127.0.0.1:0', '--discovery', '-', '--dir', join(dir, 'bridge')],
        },
        remote: { url: 'https://remote.example/mcp' },
      },
    },
    null,
    2,
  )
  await writeFile(join(dir, 'mcp.json'), config)
  const address = `127.0.0.1:${port}`
  const binary = join(root, 'dist/bin/portolan')
  const child = spawn(binary, [
    'gateway',
    '--config',
    join(dir, 'mcp.json'),
    '--listen',
    address,
    '--dir',
    dir,
    ...args,
  ])
  let output = ''
  const heard = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
      heard.forEach((hear) => hear())
    })
  }
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const shows = (pattern: RegExp, from = 0) =>
    new Promise<RegExpMatchArray>((resolve, reject) => {
      const hear = () => {
        const found = pattern.exec(output.slice(from))
        if (!found) return
        heard.delete(hear)
        resolve(found)
      }
      heard.add(hear)
      void exited.then((code) => reject(new Error(`the gateway ended with ${code}:\n${output}`)))
      hear()
    })
  await shows(/choose "Find a running gateway"/)
  return {
    address,
    folder: dir,
    config,
    output: () => output,
    shows,
    type: (line) => void child.stdin.write(`${line}\n`),
    run: (...words) =>
      new Promise((resolve) => {
        const other = spawn(binary, ['gateway', ...words, '--dir', dir])
        let text = ''
        for (const stream of [other.stdout, other.stderr]) stream.on('data', (t) => (text += t))
        other.on('close', () => resolve(text))
      }),
    stop: async () => {
      child.kill('SIGTERM')
      const code = await exited
      await rm(dir, { recursive: true, force: true })
      return code
    },
  }
}
