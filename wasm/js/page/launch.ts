import { channelPair, portChannel } from '../shared/channel.ts'
import { sourceOf } from './compile.ts'
import { ignore } from '../shared/download.ts'
import { fromWire } from '../shared/errors.ts'
import { RegistryError } from '../shared/registry-error.ts'
import {
  onReleased,
  workerName,
  type HostSettings,
  type Launch,
  type Launched,
  type StartedHost,
} from '../shared/launching.ts'
import { imported } from './parts.ts'
import type { Begin, StartOptions } from '../shared/protocol.ts'
import type { RegistryOptions } from '../shared/types.ts'

/** The longest wait for the first message of a worker, in ms. */
const launchTimeout = 15_000

const canWork = () => typeof Worker === 'function' && typeof document !== 'undefined'

/** The place where the module should run: main, worker or shared. */
export function intended({ mode, wasm }: RegistryOptions): string {
  if (mode === 'main' || !canWork()) return 'main'
  // A compiled module cannot be posted to a shared worker.
  const canShare = typeof SharedWorker === 'function' && navigator.locks && !(wasm instanceof WebAssembly.Module)
  return mode === 'shared' && canShare ? 'shared' : 'worker'
}

/**
 * Starts a host where the mode says: in a shared worker, in a worker by one of three ways, or on the main thread.
 * The worker starts while the module is being compiled.
 */
export async function launch(
  options: RegistryOptions,
  compile: () => Promise<WebAssembly.Module>,
  settings: HostSettings,
): Promise<StartedHost> {
  const { mode, host: given } = options
  if (intended(options) === 'shared') {
    try {
      const { join } = await imported('shared.js', () => import('./shared.ts'))
      return await join(sourceOf(options.wasm) as string, options.integrity, options.onProgress ?? ignore, settings)
    } catch (e) {
      if (!(e instanceof RegistryError && e.code === 'worker_failed')) throw e
    }
  }
  const ready = Promise.all([Promise.resolve().then(compile), settings])
  ready.catch(ignore) // not awaited if a worker fails early
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
        return await inWorker(await start(), ready)
      } catch (e) {
        if (e instanceof RegistryError && e.code !== 'worker_failed') throw e
        why = e
      }
    }
  }
  if (mode === 'worker') {
    throw new RegistryError(
      'worker_failed',
      `no worker could be started${why instanceof Error ? `: ${why.message}` : ''}`,
      {
        hint: "Serve worker.js beside the script and allow it in worker-src, or use mode 'auto'.",
        cause: why,
      },
    )
  }
  const [Host, [module, [start, begin]]] = await Promise.all([given as HostClass | undefined ?? importHost(), ready])
  const host = await Host.start(module, start, begin)
  const [page, end] = channelPair()
  host.attach(end)
  return { channel: page, mode: 'main', refused: host.refused }
}

type HostClass = typeof import('../host/worker.ts').Host

const importHost = async () => (await imported('worker.js', () => import('../host/worker.ts'))).Host

// Bundlers recognize exactly this expression.
const urlWorker = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: workerName })

function inWorker(worker: Worker, ready: Promise<[WebAssembly.Module, [StartOptions, Begin]]>): Promise<StartedHost> {
  return new Promise((resolve, reject) => {
    let over = false
    const settle = () => {
      over = true
      clearTimeout(timer)
      worker.onerror = worker.onmessageerror = worker.onmessage = null
    }
    const fail = (e: unknown) => {
      settle()
      worker.terminate()
      reject(e)
    }
    const broken = (why: string) => fail(new RegistryError('worker_failed', why))
    let timer: ReturnType<typeof setTimeout> | undefined
    worker.onerror = (e) => {
      e.preventDefault()
      broken(e.message || 'the worker script could not be loaded')
    }
    worker.onmessageerror = () => broken('the module could not be handed to the worker')
    worker.onmessage = ({ data }: MessageEvent<Launched>) => {
      if (!('launched' in data)) return fail(fromWire(data.refused))
      settle()
      resolve({
        channel: portChannel(worker),
        mode: 'worker',
        refused: data.refused,
        onDied: (died) => onReleased(data.lock, died),
      })
    }
    ready.then(([module, [options, begin]]) => {
      if (over) return
      timer = setTimeout(() => broken('the worker did not answer'), launchTimeout)
      worker.postMessage({ module, options, begin } satisfies Launch)
    }).catch(fail)
  })
}
