import { ioWorkerName } from '../shared/launching.ts'
import { IoWorker, type MakeIoWorker } from '../fetch/io-worker.ts'
import { trusted } from '../shared/trusted.ts'

/** Makes the IO worker. Host.load takes it in a dedicated or shared worker. */
export const ioWorker: MakeIoWorker = (listener) => new IoWorker(() => another(ioWorkerName), listener)

/** Starts a second worker with this worker's script. Undefined if no worker can be started. */
export function another(name: string): Worker | undefined {
  try {
    // The URL of a script that came as a blob is revoked by now.
    const url = location.protocol === 'blob:' ? blobUrl() : location.href
    const make = (url: string) => new Worker(url, { type: isModule() ? 'module' : 'classic', name })
    try {
      return make(url)
    } catch {
      return make(trusted('createScriptURL', url))
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

/** Only a classic worker has importScripts. In a module, Firefox throws only with a URL. This one is always invalid. */
function isModule(): boolean {
  try {
    ;(globalThis as never as { importScripts(url: string): void }).importScripts('//[')
    return false
  } catch (e) {
    return e instanceof TypeError
  }
}
