import { ioWorker } from './io-worker.ts'
import { portChannel } from '../shared/channel.ts'
import { toWire } from '../shared/errors.ts'
import { Host } from './host.ts'
import { rehearse } from './rehearsal.ts'
import {
  holdLock,
  ioWorkerName,
  sharedName,
  workerName,
  type Launch,
  type Launched,
  type Load,
  type Loaded,
  type Rehearsed,
} from '../shared/launching.ts'
import { Platform } from '../fetch/platform.ts'
import { serveIoWorker } from '../fetch/io-worker-main.ts'
import { serveTabs, type SharedScope } from './tabs.ts'

export { Host }

// In a worker that launch.ts or shared.ts made, this script is the program. Elsewhere it only exports Host.
const scope = globalThis as unknown as DedicatedWorkerGlobalScope & SharedScope & { document?: unknown }
if (scope.document === undefined) {
  if (scope.name === workerName) serveOne(scope)
  else if (scope.name === ioWorkerName) serveIoWorker(scope, new Platform())
  else if (scope.name?.startsWith(sharedName)) serveTabs(scope)
}

interface DedicatedWorkerGlobalScope {
  name: string
  onmessage: ((e: MessageEvent) => void) | null
  postMessage(message: unknown, transfer?: Transferable[]): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  removeEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}

function serveOne(scope: DedicatedWorkerGlobalScope): void {
  const refuse = (e: unknown) => scope.postMessage({ refused: toWire(e) } satisfies Launched)
  scope.onmessage = async ({ data }: MessageEvent<Load>) => {
    scope.onmessage = null
    try {
      const [host, lock] = await Promise.all([Host.load(data.module, ioWorker), holdLock('portolan ')])
      const rehearsal = new AbortController()
      scope.onmessage = async ({ data }: MessageEvent<Launch>) => {
        scope.onmessage = null
        rehearsal.abort()
        try {
          await host.start(data.options, data.begin)
          host.attach(portChannel(scope))
          scope.postMessage({ launched: true, lock, refused: host.refused } satisfies Launched)
        } catch (e) {
          refuse(e)
        }
      }
      scope.postMessage({ loaded: true } satisfies Loaded)
      if (!data.rehearses) return
      await rehearse(data.module, rehearsal.signal).catch(() => {})
      if (!rehearsal.signal.aborted) scope.postMessage({ rehearsed: true } satisfies Rehearsed)
    } catch (e) {
      refuse(e)
    }
  }
}
