import { ioWorker } from './io-worker.ts'
import { portChannel } from '../shared/channel.ts'
import { download, ignore } from '../shared/download.ts'
import { toWire, type WireError } from '../shared/errors.ts'
import { explainWasm } from '../shared/explain.ts'
import { Host } from './host.ts'
import { mismatch } from '../shared/integrity.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { holdLock, type Join, type Joined, type SharedLaunch } from '../shared/launching.ts'

export interface SharedScope {
  name: string
  onconnect: ((e: MessageEvent) => void) | null
}

/**
 * The program of a shared worker: one host for all tabs. The first tab provides the module. The module ends with the
 * last tab.
 */
export function serveTabs(scope: SharedScope): void {
  let host: Host | undefined
  let up = new AbortController()
  let lock: string | undefined
  /** The tab that was asked for a module, and whether its reply has arrived. */
  let starter: MessagePort | undefined, launching = false
  const waiting = new Map<MessagePort, Join>()
  const attached = new Map<MessagePort, () => void>()
  const announcements = new BroadcastChannel(scope.name)
  const post = (port: MessagePort, m: Joined) => port.postMessage(m)

  scope.onconnect = ({ ports: [port] }) => {
    port!.onmessage = ({ data }: MessageEvent<Join | SharedLaunch>) => {
      if ('join' in data) joined(port!, data)
      else void launch(port!, data)
    }
  }

  function joined(port: MessagePort, join: Join): void {
    navigator.locks.request(join.join, () => left(port)).catch(ignore)
    waiting.set(port, join)
    if (host) void adopt(port, join)
    else next()
  }

  /** Asks a waiting tab for a module. */
  function next(): void {
    if (host || starter) return
    for (const port of waiting.keys()) {
      starter = port
      return post(port, { wanted: true })
    }
  }

  async function launch(port: MessagePort, m: SharedLaunch): Promise<void> {
    launching = true
    try {
      const module = await download(
        m.source,
        m.integrity,
        async () => mismatch,
        (progress) => waiting.forEach((_, other) => post(other, { progress })),
      )
        .catch((e: unknown) => {
          throw explainWasm(e)
        })
      const started = await Host.load(module, ioWorker)
      await started.start(m.options, m.begin)
      up = new AbortController()
      lock = await holdLock(scope.name + ' ', up.signal)
      host = started
    } catch (e) {
      waiting.delete(port)
      post(port, { refused: toWire(e) })
    }
    starter = undefined
    launching = false
    if (!host) return next()
    if (waiting.has(port)) attach(port, host.refused)
    for (const [other, join] of [...waiting]) void adopt(other, join)
    announcements.postMessage('up')
    endIfUnused()
  }

  async function adopt(port: MessagePort, { begin, since }: Join): Promise<void> {
    const refused = await host!.adopt(begin, since)
    if (waiting.has(port)) attach(port, refused)
  }

  function attach(port: MessagePort, refused: Record<string, WireError>): void {
    waiting.delete(port)
    port.onmessage = null
    attached.set(port, host!.attach(portChannel(port)))
    post(port, { launched: true, lock, refused })
  }

  function left(port: MessagePort): void {
    // A tab that is still there has other locks; see shared.ts.
    if (waiting.delete(port)) post(port, { refused: toWire(new RegistryError('worker_failed', 'other locks')) })
    attached.get(port)?.()
    attached.delete(port)
    if (starter === port && !launching) {
      starter = undefined
      next()
    }
    endIfUnused()
  }

  function endIfUnused(): void {
    if (!host || attached.size || waiting.size) return
    host.exit()
    host = undefined
    up.abort()
  }
}
