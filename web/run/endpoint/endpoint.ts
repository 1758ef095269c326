import type { Run, RunEvent, RunRequest } from '../types.ts'
import type * as types from './types.ts'

const path = '/session/research'
const bodyBytes = 32 * 1024
const minute = 60_000
/** Addresses whose requests are counted at the same time. */
const addresses = 10_000

/** Where a request comes from. In Node the socket knows. */
type Client = { address: string }

/** The second argument of handlers: the variables of a Worker, the connection in Deno, or the server in Bun. */
type Platform = {
  remoteAddr?: { hostname?: string }
  requestIP?: (request: Request) => { address: string } | null
}

/** The address of the client. Its header is Cloudflare's own there, and anybody's elsewhere. */
const addressOf = (request: Request, platform: Platform = {}): string =>
  (globalThis.navigator?.userAgent === 'Cloudflare-Workers'
    ? request.headers.get('cf-connecting-ip')
    : platform.remoteAddr?.hostname ?? platform.requestIP?.(request)?.address) ?? ''

export const endpoint: typeof types.endpoint = (options) => {
  const serve = handler(options)
  return (request, env) => serve(request, { address: addressOf(request, env) }, env)
}

/** Throws a TypeError for a wrong option. A text in place of a list would let others in. */
function check(options: types.EndpointOptions): void {
  const { run, enabled, perMinute, log, ...lists } = Object(options) as types.EndpointOptions
  const is = (type: string, v: unknown) => v === undefined || typeof v === type
  const isList = (v: unknown) => v === undefined || Array.isArray(v) && v.every((text) => typeof text === 'string')
  const wrong = Object.entries({
    'run is not a function': typeof run === 'function',
    'enabled is not a boolean': is('boolean', enabled),
    'perMinute is not a number from 0': is('number', perMinute) && (perMinute ?? 0) >= 0,
    'log is not a function': is('function', log),
    'origins is not an array of strings': isList(lists.origins),
    'extensionIds is not an array of strings': isList(lists.extensionIds),
    'userAgents is not an array of strings': isList(lists.userAgents),
  }).find(([, fits]) => !fits)?.[0]
  if (wrong) throw new TypeError(`endpoint: ${wrong}`)
}

/** A handler with a second argument: the address of the client. */
export function handler(options: types.EndpointOptions) {
  check(options)
  const { origins, extensionIds, userAgents, perMinute = 10 } = options
  const log = (line: types.EndpointLog) => {
    try {
      options.log?.(line)
    } catch (e) {
      console.error(e) // the log failed: the request is answered
    }
  }
  const counts = new Map<string, { minute: number; n: number }>()

  /** Whether the address has made too many requests in this minute. */
  const tooMany = (address: string): boolean => {
    const now = Math.floor(Date.now() / minute)
    const before = counts.get(address)
    const n = before?.minute === now ? before.n + 1 : 1
    counts.delete(address)
    counts.set(address, { minute: now, n })
    if (counts.size > addresses) counts.delete(counts.keys().next().value!)
    return n > perMinute
  }

  const isAllowed = (origin: string, request: Request): boolean => {
    if (origins) return origins.includes(origin)
    // Behind a proxy the scheme may be another one.
    return URL.canParse(origin) && new URL(origin).host === (request.headers.get('host') ?? new URL(request.url).host)
  }

  return async (request: Request, client: Client, env?: object): Promise<Response> => {
    if (!(options.enabled ?? variable('HOST_AGENT_ENABLED', env) === '1'))
      return new Response(null, { status: 404 })
    if (new URL(request.url).pathname !== path) return new Response(null, { status: 404 })
    const origin = request.headers.get('origin')
    const headers: Record<string, string> = { vary: 'origin' }
    const refuse = (
      status: number,
      refused: types.EndpointLog['refused'],
      error: string,
      more: Record<string, string> = {},
    ) => {
      log({ at: Date.now(), status, refused })
      return Response.json({ error }, { status, headers: { ...headers, ...more } })
    }
    if (origin !== null) {
      if (!isAllowed(origin, request)) return refuse(403, 'origin', 'This origin may not use the endpoint.')
      headers['access-control-allow-origin'] = origin
    } else if (origins && request.headers.get('sec-fetch-site') === 'cross-site')
      return refuse(403, 'origin', 'No origin.')
    if (request.method === 'OPTIONS') {
      log({ at: Date.now(), status: 204 })
      const allow = { 'access-control-allow-methods': 'POST', 'access-control-max-age': '600' }
      const allowed = { ...headers, ...allow, 'access-control-allow-headers': 'content-type, x-extension-id' }
      return new Response(null, { status: 204, headers: allowed })
    }
    if (request.method !== 'POST') return refuse(405, 'method', 'Use POST.', { allow: 'POST' })
    if (tooMany(client.address)) return refuse(429, 'rate', 'Too many requests.', { 'retry-after': '60' })
    const agent = request.headers.get('user-agent') ?? ''
    if (userAgents && !userAgents.some((text) => agent.includes(text)))
      return refuse(403, 'user_agent', 'This client may not use it.')
    const extensionId = request.headers.get('x-extension-id') ?? undefined
    if (extensionIds && !extensionIds.includes(extensionId ?? ''))
      return refuse(403, 'extension', 'This extension may not use it.')
    if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
      return refuse(415, 'type', 'Send JSON.')
    const body = await bounded(request)
    if (body === undefined) return refuse(413, 'size', 'The request is too long.')
    const asked = readRequest(body)
    if (!asked) return refuse(400, 'request', 'The request is no research request.')
    // A page that only uses remoteRun() does not load the engine.
    const { run, toSSE } = await import('../index.ts')
    let started: Run
    try {
      const setup = await options.run(asked, { ...client, ...(extensionId !== undefined && { extensionId }) })
      started = run({
        ...setup,
        prompt: asked.prompt,
        answered: asked.answered,
        timeoutMs: Math.min(setup.timeoutMs ?? minute, asked.timeoutMs ?? Infinity),
        preview: Math.min(setup.preview ?? 10, asked.preview ?? Infinity),
        signal: request.signal,
      })
    } catch (e) {
      console.error(e) // for the host; the client reads only that there is none
      return refuse(500, 'setup', 'The run cannot begin.')
    }
    const events = watched(started, (last) => {
      const outcome = !last ? 'left' : last.type === 'error' ? last.code : last.type as 'answer' | 'clarify'
      const remaining = last?.type === 'answer' ? last.remaining : undefined
      log({
        at: Date.now(),
        status: 200,
        outcome,
        ...(remaining !== undefined && { remaining }),
        metrics: started.metrics,
      })
    })
    const response = toSSE(events as Run)
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
    return response
  }
}

/** The events of a run, with a callback at its end. It gets the last one, or undefined if the client left before. */
function watched(run: Run, ended: (last: RunEvent | undefined) => void): AsyncIterable<RunEvent> {
  const events = run[Symbol.asyncIterator]()
  let last: RunEvent | undefined
  const watching: AsyncIterator<RunEvent> = {
    async next() {
      const step = await events.next()
      if (!step.done && !/^(progress|results_preview)$/.test(step.value.type)) last = step.value
      return step
    },
    async return() {
      const step = await events.return!()
      ended(last)
      return step
    },
  }
  return { [Symbol.asyncIterator]: () => watching }
}

type Variables = Record<string, unknown>

/** A variable of a Worker or of the process. */
const variable = (name: string, env?: object): unknown =>
  (env as Variables)?.[name] ?? (globalThis as { process?: { env?: Variables } }).process?.env?.[name]

/** The body as a text; undefined if it is too long. */
async function bounded(request: Request): Promise<string | undefined> {
  if (!request.body) return ''
  const decoder = new TextDecoder()
  let text = '', length = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > bodyBytes) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

/** The request in a body; undefined if it is none. Further members are ignored. */
function readRequest(body: string): RunRequest | undefined {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(body) as Record<string, unknown>
  } catch {
    return undefined
  }
  const { prompt, timeoutMs, preview, answered } = value ?? {}
  const isText = (v: unknown): v is string => typeof v === 'string' && !!v.trim() && v.length <= 4000
  const isCount = (v: unknown): v is number | undefined =>
    v === undefined || (typeof v === 'number' && v >= 1 && v < 2 ** 31)
  if (!isText(prompt) || !isCount(timeoutMs) || !isCount(preview)) return undefined
  const { question, reply } = (answered ?? {}) as Record<string, unknown>
  if (answered !== undefined && !(isText(question) && isText(reply))) return undefined
  return {
    prompt,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(preview !== undefined && { preview: Math.floor(preview) }),
    ...(answered !== undefined && { answered: { question: question as string, reply: reply as string } }),
  }
}
