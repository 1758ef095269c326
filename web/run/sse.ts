import { RegistryError } from '../../wasm/js/page/index.ts'
import type * as types from './types.ts'

/** The time between two comments that keep the connection open, in ms. */
const beat = 15_000

export const toSSE: typeof types.toSSE = (run) => {
  if (typeof run?.[Symbol.asyncIterator] !== 'function')
    throw new RegistryError('invalid_option', 'toSSE() takes what run() returns', { hint: 'Pass toSSE(run({ … })).' })
  const events = run[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval>
  const stop = async () => {
    clearInterval(timer)
    await events.return?.()
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(encoder.encode(': \n\n')), beat)
    },
    async pull(controller) {
      const { value } = await events.next().catch((e: unknown) => {
        void stop()
        throw e
      })
      if (!value) { // the client has left, or the run was read before
        clearInterval(timer)
        return controller.close()
      }
      const { type, ...data } = value
      controller.enqueue(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`))
      if (type === 'progress' || type === 'results_preview') return
      void stop()
      controller.close()
    },
    cancel: stop,
  })
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}
