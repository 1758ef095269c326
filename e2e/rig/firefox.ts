import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start, type Engine, type EnginePage } from './harness.ts'

/** Debian's Firefox ESR, driven over WebDriver BiDi. */
export interface Firefox extends Engine {
  /** Returns the page of a browsing context. */
  page(context: string): EnginePage
  /** Sends a command of WebDriver BiDi. */
  send<T>(method: string, params: unknown): Promise<T>
}

interface Frame {
  context: string
  children: Frame[]
}

type Answer = { id?: number; type: string; result?: unknown; error?: string; message?: string }

/** `prefs` are preferences beside the usual ones, and `args` further arguments. Certificates of tests are accepted. */
export async function launchFirefox(
  { prefs = {}, args = [] }: { prefs?: Record<string, string | number | boolean>; args?: string[] } = {},
): Promise<Firefox> {
  const profile = await mkdtemp(join(tmpdir(), 'portolan-firefox-'))
  await writeFile(
    join(profile, 'user.js'),
    [
      'app.update.enabled',
      'app.normandy.enabled',
      'datareporting.policy.dataSubmissionEnabled',
      'browser.shell.checkDefaultBrowser',
      'network.captive-portal-service.enabled',
      'network.connectivity-service.enabled',
      'extensions.getAddons.cache.enabled',
    ].map((name) => `user_pref("${name}", false);\n`).concat(
      Object.entries(prefs).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`),
    ).join(''),
  )
  const running = await start(
    process.env.FIREFOX ?? 'firefox-esr',
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', ...args],
    /WebDriver BiDi listening on (ws:\S+)/,
    { HOME: profile },
  )
  const socket = new WebSocket(`${running.ready[1]}/session`)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('Firefox does not take the connection'))
  })
  let last = 0
  const asked = new Map<number, (a: Answer) => void>()
  socket.onmessage = ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    if (answer.id !== undefined) asked.get(answer.id)?.(answer)
  }
  const send = async <T>(method: string, params: unknown): Promise<T> => {
    const id = ++last
    const answer = new Promise<Answer>((resolve) => asked.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { type, result, error, message } = await answer
    if (type === 'error') throw new Error(`${method}: ${error}: ${message}`)
    return result as T
  }
  await send('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
  const evaluate = async <T>(context: string, expression: string): Promise<T> => {
    const outcome = await send<{ type: string; result: { value: string }; exceptionDetails?: { text: string } }>(
      'script.evaluate',
      {
        expression: `Promise.resolve(${expression}).then((v) => JSON.stringify(v ?? null))`,
        target: { context },
        awaitPromise: true,
      },
    )
    if (outcome.type === 'exception') throw new Error(outcome.exceptionDetails!.text)
    return JSON.parse(outcome.result.value) as T
  }
  const page = (context: string): EnginePage => ({
    evaluate: (expression) => evaluate(context, expression),
    async inside(expression) {
      let { contexts: [frame] } = await send<{ contexts: Frame[] }>('browsingContext.getTree', { root: context })
      while (frame!.children[0]) frame = frame!.children[0]
      return evaluate(frame!.context, expression)
    },
  })
  return {
    send,
    page,
    async open(url) {
      const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })
      await send('browsingContext.navigate', { context, url, wait: 'complete' })
      return page(context)
    },
    async close() {
      socket.close()
      await running.stop()
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
