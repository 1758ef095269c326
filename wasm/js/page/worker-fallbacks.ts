import { workerName } from '../shared/launching.ts'
import { trustedUrl } from '../shared/trusted.ts'

// Ways to a worker where the plain one is barred.

const kind = { type: 'module', name: workerName } as const
const script = () => new URL('./worker.js', import.meta.url).href

/** Where a page demands Trusted Types. Throws where there are none. */
export const trustedWorker = (): Worker => new Worker(trustedUrl(script()) as string, kind)

/** A worker's script must be of the page's origin; what it imports need not be. */
export function blobWorker(): Worker {
  const url = URL.createObjectURL(new Blob([`import ${JSON.stringify(script())}`], { type: 'text/javascript' }))
  const worker = new Worker(url, kind)
  setTimeout(() => URL.revokeObjectURL(url), 15_000)
  return worker
}
