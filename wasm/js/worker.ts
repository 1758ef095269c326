import { portChannel } from './channel.ts'
import { toWire } from './errors.ts'
import { Host } from './host.ts'
import type { Parts } from './parts.ts'
import * as secrets from './secrets.ts'
import * as validate from './validate.ts'
import { workerName, type Launch, type Launched } from './launching.ts'

export { Host }

const parts: Parts = { validate, secrets }
Host.parts = parts

// In a worker that launch.ts has made, this script is the program; elsewhere it
// is only the module that exports Host.
const scope = globalThis as unknown as DedicatedWorkerGlobalScope & { document?: unknown }
if (scope.name === workerName && scope.document === undefined) {
  scope.onmessage = async ({ data }: MessageEvent<Launch>) => {
    scope.onmessage = null
    let answer: Launched
    try {
      const host = await Host.start(data.module, data.options)
      host.attach(portChannel(scope))
      answer = { launched: true }
    } catch (e) {
      answer = { refused: toWire(e) }
    }
    scope.postMessage(answer)
  }
}

interface DedicatedWorkerGlobalScope {
  name: string
  onmessage: ((e: MessageEvent) => void) | null
  postMessage(message: unknown, transfer?: Transferable[]): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  removeEventListener(type: 'message', listener: (event: MessageEvent) => void): void
}
