import { handler } from './endpoint.ts'
import type * as types from './types.ts'

export const nodeEndpoint: typeof types.nodeEndpoint = (options) => {
  const serve = handler(options)
  return (request, response) => {
    void forward(serve, request, response).catch(() => {
      // The answer does not say what went wrong here.
      try {
        response.writeHead(500, {})
      } catch { /* the response has begun */ }
      response.end()
    })
  }
}

async function forward(
  serve: ReturnType<typeof handler>,
  request: types.NodeRequest,
  response: types.NodeResponse,
): Promise<void> {
  const left = new AbortController()
  response.once('close', () => left.abort())
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !name.startsWith(':')) headers.set(name, String(value))
  const { method = 'GET', url = '/' } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const host = headers.get('host') ?? 'localhost'
  const asked = new Request(new URL(url, URL.canParse(`http://${host}`) ? `http://${host}` : 'http://localhost'), {
    method,
    headers,
    signal: left.signal,
    ...(hasBody && { body: streamOf(request), duplex: 'half' }),
  } as RequestInit)
  const answer = await serve(asked, { address: request.socket.remoteAddress ?? '' })
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  const reader = answer.body?.getReader()
  for (;;) {
    const { value, done } = await (reader?.read() ?? { value: undefined, done: true })
    if (done || left.signal.aborted) break
    if (!response.write(value!)) {
      await new Promise<void>((resolve) => {
        response.once('drain', resolve)
        response.once('close', resolve)
      })
    }
  }
  if (left.signal.aborted) await reader?.cancel()
  response.end()
}

const streamOf = (request: types.NodeRequest): ReadableStream<Uint8Array> => {
  const chunks = request[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}
