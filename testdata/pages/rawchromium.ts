import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Chromium without Playwright, which would take every tab for visible and focused. */
export class RawChromium {
  #process: ChildProcess
  #profile: string
  #url: string

  private constructor(process: ChildProcess, profile: string, url: string) {
    this.#process = process
    this.#profile = profile
    this.#url = url
  }

  static async start(flags: string[]): Promise<RawChromium> {
    const profile = await mkdtemp(join(tmpdir(), 'pages-'))
    const started = spawn(process.env.CHROMIUM ?? '/usr/bin/chromium', ['--headless=new', '--no-sandbox', '--no-first-run', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--window-size=1280,800', ...flags, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
    let said = ''
    const port = await new Promise<string>((resolve, reject) => {
      started.stderr!.on('data', (chunk) => {
        said += chunk
        const found = /DevTools listening on ws:\/\/([^/]+)/.exec(said)?.[1]
        if (found) resolve(found)
      })
      started.on('exit', () => { reject(new Error(`chromium ended: ${said}`)) })
    })
    return new RawChromium(started, profile, `http://${port}`)
  }

  /** A tab in front of the others. */
  async open(url: string): Promise<RawTab> {
    const target = await (await fetch(`${this.#url}/json/new?${url}`, { method: 'PUT' })).json() as { id: string; webSocketDebuggerUrl: string }
    const socket = new WebSocket(target.webSocketDebuggerUrl)
    await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject })
    return new RawTab(target.id, socket)
  }

  async activate(tab: RawTab): Promise<void> { await fetch(`${this.#url}/json/activate/${tab.id}`) }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    // Its own process group: nobody else's browser.
    process.kill(-this.#process.pid!, 'SIGKILL')
    await ended
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

export class RawTab {
  readonly id: string
  #socket: WebSocket
  #answers = new Map<number, (message: { result?: { result: { value: unknown }; exceptionDetails?: unknown } }) => void>()
  #asked = 0

  constructor(id: string, socket: WebSocket) {
    this.id = id
    this.#socket = socket
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data))
      this.#answers.get(message.id)?.(message)
      this.#answers.delete(message.id)
    }
  }

  async evaluate(expression: string): Promise<unknown> {
    const id = ++this.#asked
    const answer = await new Promise<{ result?: { result: { value: unknown }; exceptionDetails?: unknown } }>((resolve) => {
      this.#answers.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression, returnByValue: true } }))
    })
    if (!answer.result || answer.result.exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(answer)}`)
    return answer.result.result.value
  }

  /** Waits until an expression is true in the page. */
  async until(expression: string): Promise<void> {
    const deadline = Date.now() + 8000
    while (!await this.evaluate(`!!(${expression})`).catch(() => false)) {
      if (Date.now() > deadline) throw new Error(`never true: ${expression}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  close(): void { this.#socket.close() }
}
