import { workerName } from '../shared/launching.ts'
import { trusted } from '../shared/trusted.ts'

// Ways to start a worker if `new Worker(url)` fails.

const kind = { type: 'module', name: workerName } as const
const script = () => new URL('./worker.js', import.meta.url).href

/**
 * For pages that require Trusted Types. Throws without that API. A prerendered page gets here, too: its workers start
 * once it is shown, which may be minutes later.
 */
export async function trustedWorker(): Promise<Worker> {
  if ((document as { prerendering?: boolean }).prerendering)
    await new Promise((shown) => document.addEventListener('prerenderingchange', shown))
  return new Worker(trusted('createScriptURL', script()), kind)
}

/** For scripts of another origin. A worker's script needs the page's origin, but its imports do not. */
export function blobWorker(): Worker {
  const url = URL.createObjectURL(new Blob([`import ${JSON.stringify(script())}`], { type: 'text/javascript' }))
  const worker = new Worker(url, kind)
  setTimeout(() => URL.revokeObjectURL(url), 15_000)
  return worker
}
