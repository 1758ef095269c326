import { portChannel } from '../shared/channel.ts'
import { ignore } from '../shared/download.ts'
import { fromWire } from '../shared/errors.ts'
import { RegistryError } from '../shared/registry-error.ts'
import {
  holdLock,
  onReleased,
  sharedName,
  type Join,
  type Joined,
  type SharedLaunch,
  type StartedHost,
  type HostSettings,
} from '../shared/launching.ts'
import type { RegistryOptions } from '../shared/types.ts'
import { version } from '../shared/version.ts'

/** The longest wait for the next message of a shared worker, in ms. The tab that provides the module waits longer. */
const joinTimeout = 15_000

const script = () => new URL('./worker.js', import.meta.url)
/** Tabs of another project have other servers, and so a worker of their own. */
const nameOf = ({ project = '' }: RegistryOptions, url: URL) =>
  `${sharedName}${version} ${encodeURIComponent(project)} ${url.href}`

/** Joins the shared worker of this origin and project, and starts its module if it has none. */
export async function join(
  registry: RegistryOptions,
  source: string | Response | BufferSource,
  settings: HostSettings,
): Promise<StartedHost> {
  const { integrity, onProgress: report } = registry
  const [options, begin] = await settings
  const leaves = new AbortController()
  const lock = await holdLock('portolan-tab ', leaves.signal)
  try {
    if (!lock) throw new RegistryError('worker_failed', 'there are no locks here')
    const worker = share(registry)
    const { port } = worker
    const launched = await new Promise<Extract<Joined, { launched: true }>>((resolve, reject) => {
      const broken = (why: string) => {
        port.onmessage = null // a worker that asks later gets no module from this tab: it asks another one by then
        reject(new RegistryError('worker_failed', why))
      }
      let timer: ReturnType<typeof setTimeout> | undefined
      const wait = () => {
        clearTimeout(timer)
        timer = setTimeout(() => broken('the shared worker did not answer'), joinTimeout)
      }
      wait()
      let isStarter = false
      worker.onerror = (e) => {
        e.preventDefault()
        broken('the shared worker could not be started')
      }
      port.onmessage = async ({ data }: MessageEvent<Joined>) => {
        if ('progress' in data) { // of a module that this or another tab has asked for
          if (!isStarter) wait()
          return report?.(data.progress)
        }
        clearTimeout(timer)
        if ('launched' in data) return resolve(data)
        if ('refused' in data) return reject(fromWire(data.refused))
        isStarter = true
        try {
          const bytes = source instanceof Response ? await source.arrayBuffer() : source
          port.postMessage({ source: bytes, integrity, options, begin } satisfies SharedLaunch)
        } catch (e) {
          reject(e)
        }
      }
      port.postMessage({ join: lock, begin, since: performance.timeOrigin } satisfies Join)
    })
    worker.onerror = port.onmessage = null
    // Deleting the data of a site replaces its locks. A worker from before has others than a new tab.
    if (launched.lock && !await isHeld(launched.lock))
      throw new RegistryError('worker_failed', 'the shared worker began before the data of this site was deleted')
    const channel = portChannel(port)
    const { close } = channel
    channel.close = () => {
      leaves.abort() // the worker learns of it by the lock
      close()
    }
    const onDied = (died: (isBack?: boolean) => void) => {
      const ends = new AbortController()
      // Safari releases the locks of a page in its back/forward cache, so the worker takes the tab for a closed one.
      const back = async ({ persisted }: PageTransitionEvent) => {
        if (persisted && !await isHeld(lock)) died(true)
      }
      addEventListener('pageshow', (e) => back(e).catch(ignore), ends)
      const unwatch = onReleased(launched.lock, died)
      return () => {
        ends.abort()
        unwatch()
      }
    }
    return { channel, mode: 'shared', refused: launched.refused, onDied }
  } catch (e) {
    leaves.abort()
    throw e
  }
}

/** Whether any realm of this origin holds the lock. */
const isHeld = async (lock: string) => (await navigator.locks.query()).held!.some(({ name }) => name === lock)

function share(registry: RegistryOptions): SharedWorker {
  try {
    // Bundlers recognize exactly this expression.
    return new SharedWorker(new URL('./worker.js', import.meta.url), {
      type: 'module',
      name: nameOf(registry, script()),
    })
  } catch (e) { // Trusted Types
    throw new RegistryError('worker_failed', 'the shared worker is not allowed', { cause: e })
  }
}

/** Calls back when the shared worker has a module, now or later. The returned function ends that. */
export function whenUp(registry: RegistryOptions, up: () => void): () => void {
  const name = nameOf(registry, script())
  const channel = new BroadcastChannel(name)
  channel.onmessage = up
  navigator.locks.query().then(({ held }) => {
    if (held?.some((l) => l.name?.startsWith(name))) up()
  }).catch(() => {})
  return () => channel.close()
}
