import { channelPair, portChannel } from './channel.ts'
import { fromWire, RegistryError } from './errors.ts'
import { workerName, type Launch, type Launched } from './launching.ts'
import type { Channel, RegistryOptions } from './types.ts'

/** How long a worker's script may take to answer. */
const launchTimeout = 15_000

/** Starts a host where the mode says: URL worker, blob worker, main thread. */
export async function launch(mode: RegistryOptions['mode'], l: Launch): Promise<{ channel: Channel; mode: string }> {
  let why: unknown
  if (mode !== 'main' && typeof Worker === 'function' && typeof document !== 'undefined') {
    for (const rung of [urlWorker, blobWorker]) {
      try {
        return { channel: await inWorker(rung(), l), mode: 'worker' }
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
  const { Host } = await import('./worker.js')
  const host = await Host.start(l.module, l.options)
  const [page, end] = channelPair()
  host.attach(end)
  return { channel: page, mode: 'main' }
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

function inWorker(worker: Worker, l: Launch): Promise<Channel> {
  return new Promise((resolve, reject) => {
    const failed = (why: string) => settle(() => reject(new RegistryError('worker_failed', why)))
    const timer = setTimeout(() => failed('the worker did not answer'), launchTimeout)
    const settle = (then: () => void) => {
      clearTimeout(timer)
      worker.onerror = worker.onmessageerror = worker.onmessage = null
      then()
    }
    worker.onerror = (e) => { e.preventDefault(); worker.terminate(); failed(e.message || 'the worker script could not be loaded') }
    worker.onmessageerror = () => { worker.terminate(); failed('the module could not be handed to the worker') }
    worker.onmessage = ({ data }: MessageEvent<Launched>) => settle(() => {
      if ('launched' in data) return resolve(portChannel(worker))
      worker.terminate()
      reject(fromWire(data.refused))
    })
    worker.postMessage(l)
  })
}
