import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSocket, type AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { afterEach } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { chromiumFlags, quickChromium } from './flags.ts'
import type { StorageAdapter } from '../../wasm/js/shared/types.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** A page of any browser. Each driver has more for its own. */
export interface EnginePage {
  /** Evaluates an expression, awaits it, and returns its value by JSON. */
  evaluate<T>(expression: string): Promise<T>
  /** Evaluates an expression in the innermost frame of the page, as `evaluate` does. */
  inside<T>(expression: string): Promise<T>
}

export interface Engine {
  open(url: string): Promise<EnginePage>
  close(): Promise<void>
}

/** Starts a browser of the file's own, with flags beside the usual ones. */
export function startChromium(extra: string[] = [], executablePath = quickChromium): Promise<Browser> {
  return chromium.launch({ executablePath, args: [...chromiumFlags, ...extra] })
}

/** The run's browser, which tests share. A file that runs by itself has one of its own. */
export function launchChromium(): Promise<Browser> {
  const shared = process.env.PORTOLAN_CHROMIUM
  return shared ? chromium.connect(shared) : startChromium()
}

/** The open pages of openPage. */
const pages = new Set<Page & { faults: string[] }>()

/** Prints what the open pages show and what went wrong in them, if the test has failed. */
async function report(t: { name: string; passed?: boolean }): Promise<void> {
  if (t.passed) return
  for (const page of pages) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch((e: Error) => e.message)
    console.log([`${t.name}: ${page.url()}`, ...page.faults, shown].join('\n'))
  }
}

// Programs that are no tests have no hooks.
if (process.env.PORTOLAN_TEST_RUN) afterEach((t) => report(t))

/** A page that fails the test when anything in it goes wrong unnoticed. */
export async function openPage(browser: Browser, url: string, allow?: RegExp): Promise<Page & { faults: string[] }> {
  const page = await browser.newPage() as Page & { faults: string[] }
  page.faults = []
  pages.add(page)
  page.on('close', () => pages.delete(page))
  page.on('crash', () => page.faults.push('the page crashed'))
  page.on('pageerror', (e) => page.faults.push(`page error: ${e.message}`))
  page.on('console', (m) => {
    if (m.type() === 'error' && !allow?.test(m.text())) page.faults.push(`console: ${m.text()}`)
  })
  await page.goto(url)
  return page
}

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
}

export interface Listening {
  url: string
  close(): Promise<void>
}

export async function listen(handler: (req: IncomingMessage, res: ServerResponse) => unknown): Promise<Listening> {
  const server: Server = createServer(async (req, res) => {
    try {
      await handler(req, res)
    } catch (e) {
      // A client may leave before its body was read, as after the end of a call.
      if ((e as NodeJS.ErrnoException).code !== 'ECONNRESET') throw e
    }
  })
  server.keepAliveTimeout = 0 // a client may be in this process, and busy for longer than any such time
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Serves a folder's files. */
export function serveFolder(dir: string, headers: Record<string, string> = {}): Promise<Listening> {
  return listen((req, res) => sendFile(dir, new URL(req.url!, 'http://x').pathname, res, headers))
}

/** Answers a request with the file of a folder at `url`, a path. */
export async function sendFile(
  dir: string,
  url: string,
  res: ServerResponse,
  headers: Record<string, string> = {},
): Promise<void> {
  const path = normalize(url)
  const file = join(dir, path.endsWith('/') ? `${path}index.html` : path)
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile() || !file.startsWith(dir)) return void res.writeHead(404).end()
  res.writeHead(200, {
    'content-type': types[extname(file)] ?? 'application/octet-stream',
    'content-length': found.size,
    ...headers,
  })
  createReadStream(file).pipe(res)
}

/** Serves a page and its files by their paths, with headers of the page, and the built package at /npm/. */
export function servePage(files: Record<string, string>, headers: Record<string, string>): Promise<Listening> {
  return listen((req, res) => {
    const { pathname: path } = new URL(req.url!, 'http://x')
    if (files[path] === undefined) return sendFile(`${root}dist`, path, res)
    res.writeHead(200, { 'content-type': types[extname(path) || '.html']!, ...(path === '/' && headers) }).end(
      files[path],
    )
  })
}

/** Serves the package's files, and an empty page with these headers at all other addresses. */
export function servePackage(headers: Record<string, string> = {}): Promise<Listening> {
  return listen(async (req, res) => {
    const [, file, type] = req.url!.match(/^\/([a-z-]+\.(js|wasm))$/) ?? []
    if (!file)
      return void res.writeHead(200, { 'content-type': 'text/html', ...headers }).end(
        '<!doctype html><title>tab</title><link rel="icon" href="data:,">',
      )
    res.writeHead(200, { 'content-type': type === 'wasm' ? 'application/wasm' : 'text/javascript' }).end(
      await readFile(`${root}dist/npm/${file}`),
    )
  })
}

/** Each test file of a run has 200 ports of its own, below those that the system gives to connections. */
const ports = Number(process.env.PORTOLAN_TEST_RUN?.split('-')[1] ?? Math.floor(Math.random() * 100))
let taken = 0

/** Returns a port for a program that is started, or started again, later. No other file that runs gets the same one. */
export async function freePort(): Promise<number> {
  const port = 11_000 + (ports % 100) * 200 + taken++ % 200
  const socket = createSocket()
  const free = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!free) return freePort()
  await new Promise((resolve) => socket.close(resolve))
  return port
}

/** A program that a test has started and stops. */
export interface Running {
  pid: number
  output(): string
  exited: Promise<number | null>
  stop(signal?: NodeJS.Signals): Promise<void>
}

export function launch(command: string, args: string[], env: Record<string, string> = {}): Running {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const exited = new Promise<number | null>((resolve) => {
    child.on('exit', resolve)
    child.on('error', (e) => {
      output += e.message
      resolve(-1)
    })
  })
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, name)
    } catch { /* gone already */ }
  }
  return {
    pid: child.pid!,
    output: () => output,
    exited,
    async stop(first = 'SIGTERM') {
      signal(first)
      const late = setTimeout(() => signal('SIGKILL'), 3000)
      await exited
      clearTimeout(late)
      signal('SIGKILL') // what it left behind in its group
    },
  }
}

/** Starts a program and waits until its output matches. */
export async function start(
  command: string,
  args: string[],
  ready: RegExp,
  env: Record<string, string> = {},
): Promise<Running & { ready: RegExpMatchArray }> {
  const running = launch(command, args, env)
  let code: number | null | undefined
  running.exited.then((c) => {
    code = c
  })
  for (let i = 0; i < 600; i++) {
    const m = running.output().match(ready)
    if (m) return { ...running, ready: m }
    if (code !== undefined) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await running.stop()
  throw new Error(`${command} ${args.join(' ')} ended with ${code} or was not ready in time:\n${running.output()}`)
}

/** Waits for what happens soon, and returns it. Fails if it has not happened after 30 s. */
export async function happens<T>(look: () => T | Promise<T>): Promise<T> {
  for (const end = Date.now() + 30_000;;) {
    const seen = await look()
    if (seen) return seen
    if (Date.now() > end) throw new Error(`has not happened in 30 s: ${look}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Waits until a program's address answers anything at all. */
export async function answering(url: string, running: Running): Promise<void> {
  let ended = false
  running.exited.then(() => (ended = true))
  for (let i = 0; i < 300 && !ended; i++) {
    try {
      await fetch(url, { signal: AbortSignal.timeout(1000) }).then((r) => r.body?.cancel())
      return
    } catch (e) {
      if ((e as Error).name === 'TimeoutError') return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  throw new Error(`${url} does not answer${ended ? ': its program has ended' : ''}\n${running.output()}`)
}

/** Starts `portolan proxy` for pages of an origin and servers on this machine. */
export async function startProxy(
  origin: string,
  ...args: string[]
): Promise<Running & { url: string; template: string }> {
  const hosts = args.length ? args : ['--host', '127.0.0.1']
  const running = await start(`${root}dist/bin/portolan`, [
    'proxy',
    '--origin',
    origin,
    '--insecure-allow-private',
    ...hosts,
  ], /proxy is at (http:\S+)/)
  return { ...running, url: running.ready[1]!, template: `${running.ready[1]}?url={href}` }
}

/** A storage for options of createRegistry that several registries of a test share. */
export function mapStorage(): StorageAdapter {
  const stored = new Map<string, string>()
  return {
    get: (key) => stored.get(key),
    set: (key, value) => void stored.set(key, value),
    remove: (key) => void stored.delete(key),
  }
}
