import { another, ioWorker } from './io-worker.ts'
import { portChannel } from '../shared/channel.ts'
import { toWire } from '../shared/errors.ts'
import { Host } from './host.ts'
import { rehearse } from './rehearsal.ts'
import {
  holdLock,
  ioWorkerName,
  rehearsalName,
  sharedName,
  workerName,
  type Ahead,
  type Launch,
  type Launched,
  type Load,
  type Loaded,
  type Rehearsed,
} from '../shared/launching.ts'
import { Early } from '../fetch/early.ts'
import { Platform } from '../fetch/platform.ts'
import { serveIoWorker } from '../fetch/io-worker-main.ts'
import { serveTabs, type SharedScope } from './tabs.ts'

export { Host }

// In a worker that launch.ts or shared.ts made, this script is the program. Elsewhere it only exports Host.
const scope = globalThis as unknown as DedicatedWorkerGlobalScope & SharedScope & { document?: unknown }
if (scope.document === undefined) {
  if (scope.name === workerName) serveOne(scope)
  else if (scope.name === ioWorkerName) serveIoWorker(scope, new Platform())
  else if (scope.name === rehearsalName) serveRehearsal(scope)
  else if (scope.name?.startsWith(sharedName)) serveTabs(scope)
}

interface DedicatedWorkerGlobalScope {
  name: string
  onmessage: ((e: MessageEvent) => void) | null
  postMessage(message: unknown): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  removeEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}

function serveOne(scope: DedicatedWorkerGlobalScope): void {
  const refuse = (e: unknown) => scope.postMessage({ refused: toWire(e) } satisfies Launched)
  let early: Early | undefined
  scope.onmessage = async ({ data }: MessageEvent<Ahead | Load>) => {
    if (Array.isArray(data)) return void (early = new Early(...data))
    scope.onmessage = null
    try {
      const [host, lock] = await Promise.all([Host.load(data.module, ioWorker, early), holdLock('portolan ')])
      let rehearsal: Worker | undefined
      scope.onmessage = async ({ data }: MessageEvent<Ahead | Launch>) => {
        if (Array.isArray(data)) return // too late
        scope.onmessage = null
        rehearsal?.terminate()
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
      const end = () => {
        rehearsal?.terminate()
        scope.postMessage({ rehearsed: true } satisfies Rehearsed)
      }
      rehearsal = another(rehearsalName)
      if (!rehearsal) return end()
      rehearsal.onmessage = rehearsal.onerror = end
      rehearsal.postMessage({ module: data.module })
    } catch (e) {
      refuse(e)
    }
  }
}

function serveRehearsal(scope: DedicatedWorkerGlobalScope): void {
  scope.onmessage = async ({ data }: MessageEvent<Pick<Load, 'module'>>) => {
    await rehearse(data.module).catch(() => {})
    scope.postMessage(null)
  }
}
