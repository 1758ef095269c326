import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answering, freePort, launch, start, type Engine, type EnginePage } from './harness.ts'

/** A page of Debian's WebKitGTK, driven over WebDriver. Its scripts run one after another. */
export interface WebKitPage extends EnginePage {
  /** Clicks an element with the mouse, as a person does. `expression` has the element. */
  click(expression: string): Promise<void>
}

export interface WebKit extends Engine {
  open(url: string): Promise<WebKitPage>
}

/** Finds the first frame of a document, also in shadow trees. */
const firstFrame = `const within = (root) => root.querySelector('iframe') ??
  [...root.querySelectorAll('*')].reduce((frame, e) => frame ?? (e.shadowRoot && within(e.shadowRoot)), null)
return within(document)`

type Command = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** Starts a screen that nobody sees, the driver and its browser. `ends` gets what stops them, the last first. */
async function startSession(ends: (() => Promise<unknown>)[]): Promise<{ command: Command; session: string }> {
  const home = await mkdtemp(join(tmpdir(), 'portolan-webkit-'))
  ends.unshift(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const screen = await start(process.env.XVFB ?? 'Xvfb', ['-displayfd', '1', '-nolisten', 'tcp'], /^(\d+)$/m)
  ends.unshift(() => screen.stop())
  const port = await freePort()
  const driver = launch(process.env.WEBKIT ?? 'WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], {
    DISPLAY: `:${screen.ready[1]}`,
    HOME: home,
    // Layers that the processor would draw as a graphics card does take 40 % of its time.
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
  })
  ends.unshift(() => driver.stop())
  await answering(`http://127.0.0.1:${port}/status`, driver)
  const command: Command = async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: JSON.stringify(body) })
    const { value } = await response.json() as { value: T & { error?: string; message?: string } }
    if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`)
    return value
  }
  const { sessionId } = await command<{ sessionId: string }>('POST', '/session', {
    capabilities: { alwaysMatch: { acceptInsecureCerts: true, timeouts: { script: 60_000 } } },
  })
  const session = `/session/${sessionId}`
  ends.unshift(() => command('DELETE', session).catch(() => {})) // its browser has ended already
  return { command, session }
}

/** Starts WebKitGTK's own small browser. Safari has the same engine. */
export async function launchWebKit(): Promise<WebKit> {
  const ends: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of ends.splice(0)) await end()
  }
  const { command, session } = await startSession(ends).catch(async (e: unknown) => {
    await close()
    throw e
  })
  let last: Promise<unknown> = Promise.resolve()
  /** Runs commands in a window once those before have ended. */
  const within = <T>(handle: string, work: () => Promise<T>): Promise<T> => {
    const done = last.then(async () => {
      await command('POST', `${session}/window`, { handle })
      return work()
    })
    last = done.catch(() => {})
    return done
  }
  const evaluate = async <T>(expression: string): Promise<T> => {
    const text = await command<string>('POST', `${session}/execute/async`, {
      script: `Promise.resolve().then(() => (${expression}\n))
        .then((value) => arguments[0](JSON.stringify({ value: value ?? null })), (e) => arguments[0](JSON.stringify({ error: String(e?.stack ? e + '\\n' + e.stack : e) })))`,
      args: [],
    })
    const { value, error } = JSON.parse(text) as { value: T; error?: string }
    if (error) throw new Error(error)
    return value
  }
  return {
    async open(url) {
      const { handle } = await command<{ handle: string }>('POST', `${session}/window/new`, { type: 'window' })
      await within(handle, () => command('POST', `${session}/url`, { url }))
      return {
        evaluate: (expression) => within(handle, () => evaluate(expression)),
        inside: (expression) =>
          within(handle, async () => {
            for (;;) {
              const id = await command<object | null>('POST', `${session}/execute/sync`, {
                script: firstFrame,
                args: [],
              })
              if (!id) return evaluate(expression)
              await command('POST', `${session}/frame`, { id })
            }
          }),
        click: (expression) =>
          within(handle, async () => {
            const [x, y] = await evaluate<number[]>(`(() => {
              const element = ${expression}
              element.scrollIntoView({ block: 'center' })
              const { x, y, width, height } = element.getBoundingClientRect()
              return [Math.round(x + width / 2), Math.round(y + height / 2)]
            })()`)
            const actions = [
              { type: 'pointerMove', x, y },
              { type: 'pointerDown', button: 0 },
              { type: 'pointerUp', button: 0 },
            ]
            await command('POST', `${session}/actions`, { actions: [{ type: 'pointer', id: 'mouse', actions }] })
          }),
      }
    },
    close,
  }
}
