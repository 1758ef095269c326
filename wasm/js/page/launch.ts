import { portChannel } from '../shared/channel.ts'
import { sourceOf } from './compile.ts'
import { ignore } from '../shared/download.ts'
import { fromWire } from '../shared/errors.ts'
import { RegistryError } from '../shared/registry-error.ts'
import {
  onReleased,
  workerName,
  type Ahead,
  type HostSettings,
  type Launch,
  type Launched,
  type Load,
  type Loaded as Ran,
  type Rehearsed,
  type StartedHost,
} from '../shared/launching.ts'
import { imported } from './imported.ts'
import type { Mode, RegistryOptions } from '../shared/types.ts'

/** The longest wait for the first message of a worker, in ms. */
const launchTimeout = 15_000

const canWork = () => typeof Worker === 'function' && typeof document !== 'undefined'

/** The place where the module should run: main, worker or shared. */
export function intended({ mode, wasm }: RegistryOptions): Mode {
  if (mode === 'main' || !canWork()) return 'main'
  // A compiled module cannot be posted to a shared worker.
  const canShare = typeof SharedWorker === 'function' && navigator.locks && !(wasm instanceof WebAssembly.Module)
  return mode === 'shared' && canShare ? 'shared' : 'worker'
}

/** A host whose module runs and waits for its options. */
interface Loaded {
  /** Resolves when the rehearsal has ended. There is none on the page's thread, which it would block. */
  rehearsed?: Promise<unknown>
  start(settings: HostSettings): Promise<StartedHost>
}

/** The hosts that preload loaded, by mode and module. The next registry takes one. */
const preloaded = new Map<string | undefined, Promise<Loaded>>()

type Compile = () => Promise<WebAssembly.Module>

/** Undefined for shared workers, and for modules without an address. */
const keyOf = (options: RegistryOptions): string | undefined => {
  const mode = intended(options), source = sourceOf(options.wasm)
  return mode === 'shared' || typeof source !== 'string' ? undefined : mode + source + options.integrity
}

/** Loads a host for the next registry with these options, or else only compiles. */
export async function loadAhead(options: RegistryOptions, compile: Compile): Promise<unknown> {
  const key = keyOf(options)
  if (!key || preloaded.has(key)) return compile()
  const loaded = load(options, compile)
  preloaded.set(key, loaded)
  return loaded.then((host) => host.rehearsed, (e: unknown) => {
    preloaded.delete(key)
    throw e
  })
}

/** Starts a host where the mode says: in a shared worker, in a worker by one of three ways, or on the main thread. */
export async function launch(
  options: RegistryOptions,
  compile: Compile,
  settings: HostSettings,
): Promise<StartedHost> {
  settings.catch(ignore) // not awaited if a worker fails early
  if (intended(options) === 'shared') {
    try {
      const { join } = await imported('shared.js', () => import('./shared.ts'))
      return await join(options, sourceOf(options.wasm) as string, settings)
    } catch (e) {
      if (!(e instanceof RegistryError && e.code === 'worker_failed')) throw e
    }
  }
  const key = keyOf(options)
  const ahead = preloaded.get(key)
  preloaded.delete(key)
  try {
    if (ahead) {
      await compile() // which reports the progress
      return await (await ahead).start(settings)
    }
  } catch (e) { // the module may have ended since
    if (!/_failed|crashed/.test((e as RegistryError).code)) throw e
  }
  return (await load(options, compile, settings)).start(settings)
}

/** Loads a host. A worker starts while the module is being compiled. It rehearses if there are no settings yet. */
async function load(
  { mode, host: given }: RegistryOptions,
  compile: Compile,
  settings?: HostSettings,
): Promise<Loaded> {
  const module = Promise.resolve().then(compile)
  module.catch(ignore) // not awaited if a worker fails early
  let why: unknown
  if (mode !== 'main' && canWork()) {
    const fallbacks = () => imported('worker-fallbacks.js', () => import('./worker-fallbacks.ts'))
    for (
      const start of [
        urlWorker,
        async () => (await fallbacks()).trustedWorker(),
        async () => (await fallbacks()).blobWorker(),
      ]
    ) {
      try {
        const worker = await start()
        settings?.then((ahead) => worker.postMessage(ahead satisfies Ahead), ignore)
        return await loadInWorker(worker, module.then((module) => ({ module, rehearses: !settings })))
      } catch (e) {
        if (e instanceof RegistryError && e.code !== 'worker_failed') throw e
        why = e
      }
    }
  }
  if (mode === 'worker') {
    throw new RegistryError(
      'worker_failed',
      `no worker started${why instanceof Error ? `: ${why.message}` : ''}`,
      {
        hint: "Serve worker.js beside the script and allow it in worker-src, or use mode 'auto'.",
        cause: why,
      },
    )
  }
  const Host = given as HostClass | undefined ?? await importHost()
  const host = await Host.load(await module)
  return {
    async start(settings) {
      await host.start(...await settings)
      return { channel: host.open(), mode: 'main', refused: host.refused }
    },
  }
}

type HostClass = typeof import('../host/worker.ts').Host

const importHost = async () => (await imported('worker.js', () => import('../host/worker.ts'))).Host

// Bundlers recognize exactly this expression.
const urlWorker = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: workerName })

async function loadInWorker(
  worker: Worker,
  message: Promise<Load>,
): Promise<Loaded> {
  await answerOf(worker, message)
  let end = () => {}
  const rehearsed = new Promise<void>((resolve) => {
    worker.onmessage = end = () => resolve()
  })
  return {
    rehearsed,
    async start(settings) {
      end()
      const launch = settings.then(([options, begin]) => ({ options, begin }) satisfies Launch)
      const { refused, lock } = await answerOf<Extract<Launched, { launched: true }>>(worker, launch)
      return {
        channel: portChannel(worker),
        mode: 'worker',
        refused,
        onDied: (died) => onReleased(lock, died),
      }
    },
  }
}

/** Sends a worker a message and returns its answer. Ends a worker that fails or refuses. */
function answerOf<A extends Ran | Launched>(worker: Worker, message: Promise<Load | Launch>): Promise<A> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer)
      worker.onerror = worker.onmessageerror = worker.onmessage = null
    }
    const fail = (e: unknown) => {
      settle()
      worker.terminate()
      reject(e)
    }
    const broken = (why: string) => fail(new RegistryError('worker_failed', why))
    const silent = () => broken('worker.js did not answer')
    let timer: ReturnType<typeof setTimeout> | undefined
    worker.onerror = (e) => {
      e.preventDefault()
      broken(e.message || 'worker.js did not load')
    }
    worker.onmessageerror = silent
    worker.onmessage = ({ data }: MessageEvent<Ran | Rehearsed | Launched>) => {
      if ('rehearsed' in data) return
      if (!('loaded' in data || 'launched' in data)) return fail(fromWire(data.refused))
      settle()
      resolve(data as A)
    }
    message.then((m) => {
      timer = setTimeout(silent, launchTimeout)
      worker.postMessage(m)
    }).catch(fail)
  })
}
