import { channelPair, portChannel } from './channel.ts'
import { fromWire, RegistryError } from './errors.ts'
import { workerName, type Launch, type Launched } from './launching.ts'
import { notLoaded } from './parts.ts'
import type { StartOptions } from './protocol.ts'
import type { Channel, RegistryOptions } from './types.ts'

/** What a host is started with: both take a while. */
type Ready = Promise<[WebAssembly.Module, StartOptions]>

/** How long a worker's script may take to answer. */
const launchTimeout = 15_000

/**
 * Starts a host where the mode says: URL worker, blob worker, main thread. The
 * worker starts while the module is still being compiled.
 */
export async function launch({ mode, host: given }: RegistryOptions, ready: Ready): Promise<{ channel: Channel; mode: string }> {
  ready.catch(() => {}) // a rung that fails before it looks leaves this unhandled
  let why: unknown
  if (mode !== 'main' && typeof Worker === 'function' && typeof document !== 'undefined') {
    for (const rung of [urlWorker, blobWorker]) {
      try {
        return { channel: await inWorker(rung(), ready), mode: 'worker' }
      } catch (e) {
        if (e instanceof RegistryError && e.code !== 'worker_failed') throw e
        why = e
      }
    }
  }
  if (mode === 'worker') {
    throw new RegistryError('worker_failed', `no worker could be started${why instanceof Error ? `: ${why.message}` : ''}`, {
      hint: "Serve worker.js beside the script and allow it in worker-src, or use mode 'auto'.", cause: why,
    })
  }
  const [Host, start] = await Promise.all([given as HostClass | undefined ?? importHost(), ready])
  const host = await Host.start(...start)
  const [page, end] = channelPair()
  host.attach(end)
  return { channel: page, mode: 'main' }
}

type HostClass = typeof import('./worker.js').Host

async function importHost(): Promise<HostClass> {
  try {
    return (await import('./worker.js')).Host
  } catch (e) {
    throw notLoaded('worker.js', e)
  }
}

// Bundlers look for exactly this expression.
const urlWorker = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: workerName })

/** A worker's script must be of the page's origin; what it imports need not be. */
function blobWorker(): Worker {
  const shim = `import ${JSON.stringify(new URL('./worker.js', import.meta.url).href)}`
  const url = URL.createObjectURL(new Blob([shim], { type: 'text/javascript' }))
  const worker = new Worker(url, { type: 'module', name: workerName })
  setTimeout(() => URL.revokeObjectURL(url), launchTimeout)
  return worker
}

function inWorker(worker: Worker, ready: Ready): Promise<Channel> {
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
    worker.onerror = (e) => { e.preventDefault(); broken(e.message || 'the worker script could not be loaded') }
    worker.onmessageerror = () => broken('the module could not be handed to the worker')
    worker.onmessage = ({ data }: MessageEvent<Launched>) => {
      if ('refused' in data) return fail(fromWire(data.refused))
      settle()
      resolve(portChannel(worker))
    }
    ready.then(([module, options]) => {
      if (over) return
      timer = setTimeout(() => broken('the worker did not answer'), launchTimeout)
      worker.postMessage({ module, options } satisfies Launch)
    }).catch(fail)
  })
}
