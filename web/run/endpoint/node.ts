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
  const { method = 'GET', url = '/', body } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const host = headers.get('host') ?? 'localhost'
  const asked = new Request(new URL(url, URL.canParse(`http://${host}`) ? `http://${host}` : 'http://localhost'), {
    method,
    headers,
    signal: left.signal,
    // The stream of a body that a framework has read is empty.
    ...(hasBody && { body: body === undefined ? streamOf(request) : JSON.stringify(body), duplex: 'half' }),
  } as RequestInit)
  const answer = await serve(asked, { address: request.socket.remoteAddress ?? '' })
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    if (left.signal.aborted) break // which cancels the body
    if (!response.write(chunk)) {
      await new Promise<void>((resolve) => {
        response.once('drain', resolve)
        response.once('close', resolve)
      })
    }
  }
  response.end()
}

/** The body of a request. Node drops one that nobody reads. */
const streamOf = (request: types.NodeRequest): ReadableStream<Uint8Array> => {
  const chunks = request[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
    cancel() {
      drop(chunks).catch(() => {}) // the client has left
    },
  }, { highWaterMark: 0 })
}

/** Reads to the end, because an iteration that is ended before takes the connection with it, and the answer. */
async function drop(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await chunks.next()).done);
}
