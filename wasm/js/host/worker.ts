import { ioWorker } from './io-worker.ts'
import { portChannel } from '../shared/channel.ts'
import { toWire } from '../shared/errors.ts'
import { Host } from './host.ts'
import { holdLock, ioWorkerName, sharedName, workerName, type Launch, type Launched } from '../shared/launching.ts'
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
  scope.onmessage = async ({ data }: MessageEvent<Launch>) => {
    scope.onmessage = null
    let answer: Launched
    try {
      const [host, lock] = await Promise.all([
        Host.start(data.module, data.options, data.begin, ioWorker),
        holdLock('portolan '),
      ])
      host.attach(portChannel(scope))
      answer = { launched: true, lock, refused: host.refused }
    } catch (e) {
      answer = { refused: toWire(e) }
    }
    scope.postMessage(answer)
  }
}
