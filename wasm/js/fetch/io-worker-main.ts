import { Flag, Kind } from './events.ts'
import type { FromIoWorker, ToIoWorker } from './io-worker.ts'
import type { Platform } from './platform.ts'
import { fingerprintOf } from './tables.ts'

/** The program of the IO worker. `scope` is the worker's own. */
export function serveIoWorker(
  scope: { onmessage: ((e: MessageEvent) => void) | null; postMessage(m: unknown): void },
  platform: Platform,
): void {
  const post = (m: FromIoWorker) => scope.postMessage(m)
  platform.deliver = (...event) => {
    const [, kind, flags, , table] = event
    const answer = kind === Kind.Output ? platform.tables.takeResult(table) : undefined
    const page = kind === Kind.Tools ? platform.tables.takePage(table) : undefined
    if (!page || !(flags & Flag.Last)) return post({ event, page, answer })
    fingerprintOf(page).catch(() => undefined).then((print) => post({ event, page: { ...page, print } }))
  }
  scope.onmessage = ({ data }: MessageEvent<ToIoWorker>) => {
    if ('start' in data) platform.begin(data.start)
    else if ('cancel' in data) platform.cancel(data.cancel)
    else platform.limit(data.bounds)
  }
  scope.postMessage('started')
}
