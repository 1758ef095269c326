import { spawn, type ChildProcess } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { freePort, root } from '../rig/harness.ts'

export const binary = `${root}dist/bin/portolan`

/** The real `portolan bridge`, with its own configuration folder. */
export class TestBridge {
  readonly address: string
  /** Its configuration. */
  readonly folder: string
  private running: ChildProcess | undefined
  private readonly processes = new Set<ChildProcess>()
  private readonly clients: Client[] = []
  /** Its output, for messages of failed tests. */
  log = ''

  private constructor(address: string, folder: string) {
    this.address = address
    this.folder = folder
  }

  /** `like` is the configuration folder of another bridge, which is copied. Without `port`, a free one is used. */
  static async create(like?: string, port?: number): Promise<TestBridge> {
    const folder = await mkdtemp(join(tmpdir(), 'portolan-bridge-'))
    if (like) await cp(like, folder, { recursive: true })
    return new TestBridge(`127.0.0.1:${port ?? await freePort()}`, folder)
  }

  /** Flags that make a command use this bridge. */
  get flags(): string[] {
    return ['--listen', this.address, '--dir', this.folder, '--discovery', '-']
  }

  /** Where it writes bundles about chats that failed. */
  get debugFolder(): string {
    return join(this.folder, 'debug')
  }

  /** Starts it and waits until it listens. */
  async start(...args: string[]): Promise<void> {
    const child = this.running = this.spawn(['bridge', ...this.flags, '--debug-dir', this.debugFolder, ...args])
    for (let i = 0; !await this.listens(); i++) {
      if (child.exitCode !== null || i > 1000) throw new Error(`the bridge does not listen: ${this.log}`)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.running
    this.running = undefined
    if (child) await end(child, signal)
  }

  /** Runs `portolan bridge pair`, passes its digits to `digits`, and types `y`. */
  async pair(digits: (digits: string) => Promise<void>, answer = 'y'): Promise<string> {
    const child = this.spawn(['bridge', 'pair', ...this.flags], 'pipe')
    let text = ''
    let shown = 0
    let asked = false
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk
      const found = [...text.matchAll(/(\d{3}) (\d{3})/g)] // of each attempt
      for (const [, one, two] of found.slice(shown)) void digits(one! + two!)
      shown = found.length
      if (text.includes('[y/N]') && !asked) {
        asked = true
        child.stdin!.write(`${answer}\n`)
      }
    })
    await new Promise((resolve) => child.once('exit', resolve))
    return text
  }

  /** Resolves when the command of `pair` has reached the bridge, and a browser may begin. */
  async waitsForPairing(): Promise<void> {
    for (let i = 0; !this.log.includes('choose Pair'); i++) {
      if (i > 400) throw new Error(`the bridge does not wait for a pairing: ${this.log}`)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  /** Runs another of the bridge's commands, and returns its output. */
  async run(...args: string[]): Promise<string> {
    const child = this.spawn(['bridge', ...args.slice(0, 1), ...this.flags, ...args.slice(1)])
    let text = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk
    })
    await new Promise((resolve) => child.once('close', resolve))
    return text.trim()
  }

  /** Runs a command that uses this bridge, and returns its output and exit code. */
  async command(...args: string[]): Promise<{ text: string; code: number | null }> {
    const child = this.spawn([...args, ...this.flags])
    let text = ''
    for (const out of [child.stdout!, child.stderr!])
      out.on('data', (chunk: Buffer) => {
        text += chunk
      })
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { text, code }
  }

  /** Returns a desktop MCP client that starts the bridge itself. */
  stdioClient(name = 'desk', ...args: string[]): Promise<Client> {
    return this.attached(new Client({ name, version: '1' }, { capabilities: { elicitation: {} } }), args)
  }

  /** Returns a client over stdio that shows addresses to its user, too. */
  addressClient(name: string): Promise<Client> {
    return this.attached(
      new Client({ name, version: '1' }, { capabilities: { elicitation: { form: {}, url: {} } } }),
      [],
    )
  }

  /** Returns a client over stdio that cannot ask its user. */
  mutedClient(name: string): Promise<Client> {
    return this.attached(new Client({ name, version: '1' }), [])
  }

  /** Connects a client over stdio. */
  async attached(client: Client, args: string[] = []): Promise<Client> {
    await client.connect(
      new StdioClientTransport({
        command: binary,
        args: ['bridge', '--stdio', ...this.flags, ...args],
        stderr: 'ignore',
      }),
    )
    this.clients.push(client)
    return client
  }

  /** Returns a client over streamable HTTP to the running bridge. */
  async httpClient(name = 'desk-http'): Promise<Client> {
    const token = await this.run('token')
    const client = new Client({ name, version: '1' }, { capabilities: { elicitation: {} } })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`http://${this.address}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    )
    this.clients.push(client)
    return client
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((c) => c.close().catch(() => {})))
    await Promise.all([...this.processes].map((c) => end(c, 'SIGTERM')))
    await rm(this.folder, { recursive: true, force: true })
  }

  private spawn(args: string[], stdin: 'pipe' | 'ignore' = 'ignore'): ChildProcess {
    const child = spawn(binary, args, { stdio: [stdin, 'pipe', 'pipe'] })
    this.processes.add(child)
    child.once('exit', () => this.processes.delete(child))
    for (const out of [child.stdout!, child.stderr!])
      createInterface(out).on('line', (line) => {
        this.log += `${line}\n`
      })
    return child
  }

  private async listens(): Promise<boolean> {
    return fetch(`http://${this.address}/`, { signal: AbortSignal.timeout(5000) }).then(() => true, () => false)
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}
