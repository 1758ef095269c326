import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { CDPSession, Page } from 'playwright-core'

const root = fileURLToPath(new URL('../', import.meta.url))

/** A profile as V8 gives it (Chrome DevTools Protocol, Profiler.Profile), in microseconds. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

/** Processor time by function, in ms: of the page, and of its workers. */
export type Times = Record<'page' | 'workers', Map<string, number>>

/** An esbuild plugin: the package's first script with its sources, whose names a profile can show. */
export const fromSource: Plugin = {
  name: 'the package from source',
  setup({ onResolve }) {
    onResolve({ filter: /dist\/npm\/index\.js$/ }, () => ({ path: join(root, 'wasm/js/page/index.ts') }))
  },
}

/** Builds module and worker with the names of their functions, which the published ones lack. */
export async function namedParts(dir: string): Promise<void> {
  const modules = join(root, 'internal/build/modules.mjs')
  execFileSync(process.execPath, [modules, '--symbols', dir, 'portolan.wasm'], { stdio: 'inherit' })
  await build({
    entryPoints: [join(root, 'wasm/js/host/worker.ts')],
    outdir: dir,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  })
}

/** Begins to watch a page and its workers. Returns what ends that. */
export async function startProfile(page: Page): Promise<() => Promise<Times>> {
  const session = await page.context().newCDPSession(page)
  const workers: Messenger[] = []
  session.on('Target.attachedToTarget', ({ sessionId }) => workers.push(new Messenger(session, sessionId)))
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false })
  const all: Pick<Messenger, 'send'>[] = [{ send: (method, params) => session.send(method as never, params as never) }]
  all.push(...workers)
  for (const thread of all) {
    await thread.send('Profiler.enable')
    await thread.send('Profiler.setSamplingInterval', { interval: 200 })
    await thread.send('Profiler.start')
  }
  return async () => {
    const profiles = await Promise.all(
      all.map(async (thread) => (await thread.send('Profiler.stop') as { profile: Profile }).profile),
    )
    await session.detach()
    const times: Times = { page: new Map(), workers: new Map() }
    for (const [i, profile] of profiles.entries()) add(times[i ? 'workers' : 'page'], profile)
    return times
  }
}

/** The protocol of a worker, which the page's session carries. */
class Messenger {
  readonly #session: CDPSession
  readonly #id: string
  #last = 0

  constructor(session: CDPSession, id: string) {
    this.#session = session
    this.#id = id
  }

  async send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#last
    const reply = this.#replyTo(id)
    await this.#session.send('Target.sendMessageToTarget', {
      sessionId: this.#id,
      message: JSON.stringify({ id, method, params }),
    })
    return reply
  }

  #replyTo(id: number): Promise<unknown> {
    return new Promise((resolve) => {
      const take = ({ sessionId, message }: { sessionId: string; message: string }) => {
        const reply = JSON.parse(message) as { id?: number; result?: unknown }
        if (sessionId !== this.#id || reply.id !== id) return
        this.#session.off('Target.receivedMessageFromTarget', take)
        resolve(reply.result)
      }
      this.#session.on('Target.receivedMessageFromTarget', take)
    })
  }
}

/** Adds each function's own time. The time without work is left out. */
function add(times: Map<string, number>, { nodes, samples, timeDeltas }: Profile): void {
  const names = new Map(nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
    const isModule = /^wasm:|\.wasm$/.test(url)
    const place = isModule || !url ? '' : ` ${url.slice(url.lastIndexOf('/') + 1)}:${lineNumber + 1}`
    return [id, `${isModule ? 'Go: ' : ''}${functionName || '(no name)'}${place}`]
  }))
  for (const [i, sample] of samples.entries()) {
    const name = names.get(sample)!
    if (name !== '(idle)') times.set(name, (times.get(name) ?? 0) + timeDeltas[i]! / 1000)
  }
}

function kindOf(name: string): string {
  if (/^Go: (runtime|internal_runtime|gcWriteBarrier|wasm_)/.test(name)) return 'Go runtime'
  if (/^Go: /.test(name)) return 'Go'
  if (name === '(garbage collector)') return 'garbage collector'
  return /\.js:\d+$/.test(name) ? 'JavaScript' : 'browser'
}

/** Prints the functions with most time of their own. */
export function printProfile(title: string, times: Times[]): void {
  console.log(`\n${title}: processor time by function, ms, means of ${times.length}\n`)
  for (const thread of ['page', 'workers'] as const) {
    const sum = new Map<string, number>()
    for (const one of times)
      for (const [name, ms] of one[thread]) sum.set(name, (sum.get(name) ?? 0) + ms / times.length)
    if (!sum.size) continue
    const all = [...sum.values()].reduce((a, b) => a + b)
    const kinds = new Map<string, number>()
    for (const [name, ms] of sum) kinds.set(kindOf(name), (kinds.get(kindOf(name)) ?? 0) + ms)
    const shares = [...kinds].map(([kind, ms]) => `${kind} ${ms.toFixed(1)}`)
    console.log(`${thread}: ${all.toFixed(1)} (${shares.join(', ')})`)
    for (const [name, ms] of [...sum].sort((a, b) => b[1] - a[1]).slice(0, 12))
      if (ms > all / 200) console.log(`${ms.toFixed(1).padStart(8)}  ${name}`)
  }
}
