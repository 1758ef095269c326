import { ioWorkerName } from '../shared/launching.ts'
import { IoWorker, type MakeIoWorker } from '../fetch/io-worker.ts'
import { trustedUrl } from '../shared/trusted.ts'

interface WorkerScope {
  Worker?: typeof Worker
  location: { href: string; protocol: string }
  importScripts?(): void
}

/** What Host.start takes in a worker of ours. */
export const ioWorker: MakeIoWorker = (listener) => new IoWorker(another, listener)

/** A second worker that runs this worker's script, for serveIoWorker; undefined where there can be none. */
function another(): Worker | undefined {
  const scope = globalThis as unknown as WorkerScope
  if (typeof scope.Worker !== 'function') return undefined
  try {
    // The script's own address cannot be used again where it came as a blob that is gone.
    const url = scope.location.protocol === 'blob:' ? blobUrl() : scope.location.href
    const make = (url: string) =>
      new scope.Worker!(url, { type: isModule(scope) ? 'module' : 'classic', name: ioWorkerName })
    try {
      return make(url)
    } catch {
      return make(trustedUrl(url) as string)
    }
  } catch {
    return undefined
  }
}

function blobUrl(): string {
  const url = URL.createObjectURL(new Blob([`import ${JSON.stringify(import.meta.url)}`], { type: 'text/javascript' }))
  setTimeout(() => URL.revokeObjectURL(url), 15_000)
  return url
}

/** Only a classic worker has scripts to import. */
function isModule(scope: WorkerScope): boolean {
  try {
    scope.importScripts!()
    return false
  } catch {
    return true
  }
}
