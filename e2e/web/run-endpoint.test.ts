import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { globSync } from 'node:fs'
import { after, afterEach, before, test, type TestContext } from 'node:test'
import { basename } from 'node:path'
import type { EndpointLog, EndpointOptions } from '../../web/run/endpoint/types.ts'
import type { ModelMessage } from '../../web/loop/types.ts'
import type { RunEvent } from '../../web/run/types.ts'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { happens, root, type Running } from '../rig/harness.ts'
import { caseUrl, lawServer, type LawServer } from './servers/lawserver.ts'
import { workerd } from '../rig/workerd.ts'

// The endpoint /session/research of the built package: in Node over real HTTP, and as a Worker in workerd.

const { createRegistry } = await import(`${root}dist/npm/index.js`) as {
  createRegistry(o: RegistryOptions): Promise<Registry>
}
const { endpoint, nodeEndpoint, remoteRun } = await import(
  `${root}dist/npm/run-endpoint.js`
) as typeof import('../../web/run/endpoint/types.ts')

let law: LawServer, registry: Registry, worker: (Running & { url: string }) | undefined, off: typeof worker
before(async () => {
  law = await lawServer()
  registry = await createRegistry({ storage: 'memory', servers: { law: { url: law.url } } })
  await registry.discover()
  const modules = {
    'worker.mjs': 'e2e/web/run-worker.mjs',
    ...Object.fromEntries(
      globSync(`${root}dist/npm/*.{js,wasm}`).map((file) => [basename(file), `dist/npm/${basename(file)}`]),
    ),
  }
  worker = await workerd(modules, { HOST_AGENT_ENABLED: '1', LAW: law.url })
  off = await workerd(modules, { LAW: law.url })
})
after(async () => {
  await registry?.close()
  await Promise.all(
    [law, worker && { close: () => worker!.stop() }, off && { close: () => off!.stop() }].map((s) => s?.close()),
  )
})
afterEach(() => law.reset())

const plan = JSON.stringify({ query: 'carrier liability', databases: ['au/cases/cth/HCA'] })
const roles = { list: 'list_databases', search: ['search_with_progress', 'search'], link: 'build_search_url' }

/** The same model as the Worker has. */
const model = (messages: readonly ModelMessage[], { json, signal }: { json?: boolean; signal: AbortSignal }) => {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  if (said[0] === 'hang')
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  if (json) return said.join() === 'ambiguous' ? '{"clarify": "By sea or by air?"}' : plan
  return '## Summary\nCarriers are liable.'
}

/** Serves the endpoint in Node, until the test ends. */
async function node(
  t: TestContext,
  options: Partial<EndpointOptions> = {},
): Promise<{ url: string; log: EndpointLog[] }> {
  const log: EndpointLog[] = []
  const handler = nodeEndpoint({
    enabled: true,
    origins: ['https://app.example'],
    perMinute: 1000,
    log: (line) => log.push(line),
    run: () => ({ registry, model, roles, cache: false }),
    ...options,
  })
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, log }
}

const json = { 'content-type': 'application/json' }
const ask = (url: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${url}session/research`, {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  })

/** The names of the events in a response, and their data. */
async function eventsIn(response: Response): Promise<[name: string, data: Record<string, unknown>][]> {
  return [...(await response.text()).matchAll(/^event: (.*)\ndata: (.*)$/gm)].map((
    [, name, data],
  ) => [name!, JSON.parse(data!) as Record<string, unknown>])
}

/** The last event of a run, and all of them. */
async function all(run: AsyncIterable<RunEvent> & { reply(text: string): boolean }, reply?: string) {
  const events: RunEvent[] = []
  for await (const event of run) {
    events.push(event)
    if (event.type === 'clarify' && reply) run.reply(reply)
  }
  return events
}

/** The endpoint in each of its realms. */
const realms: Record<string, (t: TestContext) => Promise<string>> = {
  Node: async (t) => (await node(t)).url,
  workerd: async () => worker!.url,
}

test('O3: a request that is much too long gets its answer in Node, and not the end of its connection', async (t) => {
  const { url, log } = await node(t)
  const refused = async (body: object, headers: Record<string, string>) => {
    const response = await ask(url, body, headers)
    return [response.status, (await response.json() as { error: string }).error]
  }
  for (const length of [1 << 20, 16 << 20]) {
    const body = { prompt: 'x'.repeat(length) }
    assert.deepEqual(await refused(body, { origin: 'https://app.example' }), [413, 'The request is too long.'])
    assert.deepEqual(await refused(body, { origin: 'https://other.example' }), [
      403,
      'This origin may not use the endpoint.',
    ])
  }
  assert.deepEqual(log.map((line) => line.refused), ['size', 'origin', 'size', 'origin'])
})

test('O3: a framework may have read the body of a request in Node, as express.json() does', async (t) => {
  const handler = nodeEndpoint({ enabled: true, run: () => ({ registry, model, roles, cache: false }) })
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    handler(Object.assign(request, { body: JSON.parse(text) as unknown }), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const response = await ask(url, { prompt: 'Liability of carriers' })
  assert.equal(response.status, 200)
  assert.equal((await eventsIn(response)).at(-1)![0], 'answer')
})

for (const [realm, start] of Object.entries(realms)) {
  test(`O3: one stream of events at /session/research (${realm})`, async (t) => {
    const url = await start(t)
    const response = await ask(url, { prompt: 'Liability of carriers', preview: 3 }, { origin: 'https://app.example' })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('access-control-allow-origin'), 'https://app.example')
    const events = await eventsIn(response)
    const names = events.map(([name]) => name)
    assert.deepEqual([...new Set(names)], ['progress', 'results_preview', 'answer'])
    const stages = events.filter(([name]) => name === 'progress').map(([, { stage }]) => stage)
    assert.deepEqual([...new Set(stages)], ['health', 'plan', 'search', 'summarise'])
    assert.ok(events.some(([, { pct, stage }]) => stage === 'search' && pct === 100))
    const preview = events.find(([name]) => name === 'results_preview')![1]
    assert.equal((preview['items'] as unknown[]).length, 3)
    assert.equal(preview['total'], 240)
    const answer = events.at(-1)![1]
    assert.equal(answer['url'], 'https://law.example/search?q=carrier%20liability')
    assert.ok((answer['markdown'] as string).includes(caseUrl(1)))
    assert.ok(events.every(([, data]) => !('type' in data)))
  })

  test(`O3, O5: a question ends the stream, and the reply is a further request (${realm})`, async (t) => {
    const url = await start(t)
    const response = await ask(url, { prompt: 'ambiguous' })
    assert.deepEqual((await eventsIn(response)).at(-1), ['clarify', { question: 'By sea or by air?' }])
    const answered = { question: 'By sea or by air?', reply: 'By sea' }
    assert.equal((await eventsIn(await ask(url, { prompt: 'ambiguous', answered }))).at(-1)![0], 'answer')
    const run = remoteRun(`${url}session/research`, { prompt: 'ambiguous' })
    assert.equal(run.reply('too early'), false)
    const events = await all(run, 'By sea')
    assert.deepEqual([events.filter(({ type }) => type === 'clarify').length, events.at(-1)!.type], [1, 'answer'])
  })

  test(`O12: other origins, long bodies and what is no request are refused (${realm})`, async (t) => {
    const url = await start(t)
    const status = async (...args: Parameters<typeof ask> extends [string, ...infer Rest] ? Rest : never) => {
      const response = await ask(url, ...args)
      await response.body?.cancel()
      return response.status
    }
    assert.equal(await status({ prompt: 'x' }, { origin: 'https://evil.example' }), 403)
    assert.equal(await status({ prompt: 'x' }, { origin: 'null' }), 403)
    assert.equal(await status({ prompt: 'x' }, { 'content-type': 'text/plain' }), 415)
    assert.equal(await status('x'.repeat(40_000)), 413)
    for (
      const body of ['', '{', 'null', '[]', {}, { prompt: '' }, { prompt: 7 }, { prompt: 'x'.repeat(4001) }, {
        prompt: 'x',
        preview: -1,
      }, { prompt: 'x', answered: {} }]
    ) assert.equal(await status(body), 400, JSON.stringify(body).slice(0, 50))
    const other = await fetch(`${url}session/other`, { method: 'POST', body: '{}', headers: json })
    assert.equal(other.status, 404)
    const get = await fetch(`${url}session/research`)
    assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST'])
    const preflight = await fetch(`${url}session/research`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example' },
    })
    assert.equal(preflight.status, 204)
    assert.match(preflight.headers.get('access-control-allow-headers')!, /x-extension-id/)
    assert.deepEqual(law.calls, [])
  })
}

test('O13: it is off without HOST_AGENT_ENABLED=1, in Node and in workerd', async (t) => {
  assert.equal((await ask(off!.url, { prompt: 'x' })).status, 404)
  const { url } = await node(t, { enabled: undefined })
  assert.equal((await ask(url, { prompt: 'x' })).status, 404)
  process.env['HOST_AGENT_ENABLED'] = '0'
  t.after(() => delete process.env['HOST_AGENT_ENABLED'])
  assert.equal((await ask(url, { prompt: 'x' })).status, 404)
  process.env['HOST_AGENT_ENABLED'] = '1'
  assert.equal((await eventsIn(await ask(url, { prompt: 'x' }))).at(-1)![0], 'answer')
})

test('O12: extensions may be named, and an address has so many requests in a minute', async (t) => {
  let seen: unknown
  const { url, log } = await node(t, {
    extensionIds: ['abc'],
    perMinute: 3,
    run: (_, client) => {
      seen = client
      return { registry, model, roles }
    },
  })
  assert.equal((await ask(url, { prompt: 'x' })).status, 403)
  assert.equal((await ask(url, { prompt: 'x' }, { 'x-extension-id': 'abd' })).status, 403)
  assert.equal((await eventsIn(await ask(url, { prompt: 'x' }, { 'x-extension-id': 'abc' }))).at(-1)![0], 'answer')
  assert.deepEqual(seen, { address: '127.0.0.1', extensionId: 'abc' })
  const late = await ask(url, { prompt: 'x' }, { 'x-extension-id': 'abc' })
  assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '60'])
  await happens(() => log.length === 4)
  assert.deepEqual(log.map(({ status }) => status), [403, 403, 200, 429])
})

test('O12: the address is what the platform says, and not what the client writes', async () => {
  const seen: string[] = []
  const serve = endpoint({
    perMinute: 1,
    run: (_, { address }) => {
      seen.push(address)
      throw new Error('no run')
    },
  })
  process.env['HOST_AGENT_ENABLED'] = '1'
  try {
    const from = async (address: string, platform?: object) => {
      const headers = { 'content-type': 'application/json', 'cf-connecting-ip': address }
      const body = '{"prompt":"x"}'
      return (await serve(
        new Request('https://a.example/session/research', { method: 'POST', headers, body }),
        platform,
      ))
        .status
    }
    assert.equal(await from('192.0.2.1'), 500)
    assert.equal(await from('192.0.2.2'), 429)
    const deno = { remoteAddr: { transport: 'tcp', hostname: '192.0.2.3', port: 1 } }
    const bun = { requestIP: (request: Request) => request.url && { address: '192.0.2.4', port: 1 } }
    assert.deepEqual([await from('', deno), await from('', bun), await from('', bun)], [500, 500, 429])
    assert.deepEqual(seen, ['', '192.0.2.3', '192.0.2.4'])
  } finally {
    delete process.env['HOST_AGENT_ENABLED']
  }
})

test('O12: programs may be named by their User-Agent, and the log names the rule that refused', async (t) => {
  const { url, log } = await node(t, { userAgents: ['Olexi/', 'Mozilla/'], perMinute: 3 })
  assert.equal((await ask(url, { prompt: 'x' }, { 'user-agent': 'curl/8 <script>' })).status, 403)
  assert.equal(
    (await ask(url, { prompt: 'x' }, { 'user-agent': 'Olexi/2', origin: 'https://evil.example' })).status,
    403,
  )
  const answer = await eventsIn(await ask(url, { prompt: 'x' }, { 'user-agent': 'Olexi/2' }))
  assert.equal(answer.at(-1)![0], 'answer')
  assert.equal((await ask(url, 'no', { 'user-agent': 'Olexi/2' })).status, 400)
  assert.equal((await ask(url, { prompt: 'x' }, { 'user-agent': 'Olexi/2' })).status, 429)
  await happens(() => log.length === 5)
  assert.deepEqual(log.map(({ status, refused }) => [status, refused]), [
    [403, 'user_agent'],
    [403, 'origin'],
    [200, undefined],
    [400, 'request'],
    [429, 'rate'],
  ])
  assert.doesNotMatch(JSON.stringify(log), /curl|Olexi|evil/)
})

test('O12: without origins, only pages of its own host may use it', async (t) => {
  const { url } = await node(t, { origins: undefined })
  assert.equal((await ask(url, { prompt: 'x' }, { origin: 'https://app.example' })).status, 403)
  assert.equal((await eventsIn(await ask(url, { prompt: 'x' }, { origin: new URL(url).origin }))).at(-1)![0], 'answer')
})

test('O10, O12: the log has what is left and counts, and no texts', async (t) => {
  const quota = { key: `log-${Math.random()}`, perDay: 1 }
  const { url, log } = await node(t, { run: () => ({ registry, model, roles, quota }) })
  await eventsIn(await ask(url, { prompt: 'secret words' }))
  const refused = await eventsIn(await ask(url, { prompt: 'secret words' }))
  assert.equal(refused.at(-1)![1]['code'], 'quota')
  await happens(() => log.length === 2)
  assert.deepEqual(log.map(({ outcome, remaining }) => [outcome, remaining]), [['answer', 0], ['quota', undefined]])
  assert.equal(log[0]!.metrics!.results, 25)
  assert.doesNotMatch(JSON.stringify(log), /secret|carrier|127\.0\.0\.1|law/)
})

test('O9: a client that leaves ends the run, and the call on the server', async (t) => {
  const { url, log } = await node(t)
  law.faults.slow = true
  const ends = new AbortController()
  const response = await ask(url, { prompt: 'x' }, {}, ends.signal)
  await law.waits()
  ends.abort()
  await assert.rejects(response.text())
  await happens(() => law.cancelled === 1)
  await happens(() => log.length === 1)
  assert.ok(['left', 'aborted'].includes(log[0]!.outcome!), log[0]!.outcome)
})

test('O9: leaving the response ends the run, also where the signal of the request does not', async () => {
  const log: EndpointLog[] = []
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const serve = endpoint({
    enabled: true,
    run: () => ({
      registry,
      roles,
      model: (_, { signal }) => {
        signal.addEventListener('abort', () => end())
        ask()
        return new Promise<string>(() => {})
      },
    }),
    log: (line) => log.push(line),
  })
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"x"}' }
  const response = await serve(new Request('https://a.example/session/research', request))
  const reader = response.body!.getReader()
  await reader.read()
  void reader.read()
  await asked
  await reader.cancel()
  await ended
  await happens(() => log.length === 1)
  assert.ok(['left', 'aborted'].includes(log[0]!.outcome!), log[0]!.outcome)
})

test('O3: the response of a run that was read before ends', async () => {
  const { run, toSSE } = await import(`${root}dist/npm/run.js`) as typeof import('../../web/run/types.ts')
  const used = run({ prompt: 'x', registry, model, roles, cache: false })
  await all(used)
  assert.equal(await toSSE(used).text(), '')
})

test('hostile: an endpoint that is none, or whose events end early, is an error', async (t) => {
  const answers: [status: number, type: string, body: string][] = [
    [500, 'text/plain', 'no'],
    [200, 'text/html', '<p>'],
    [200, 'text/event-stream', 'event: progress\ndata: {"stage":"health"}\n\n'],
    [200, 'text/event-stream', 'event: evil\ndata: {}\n\nevent: answer\ndata: {"type":"x"'],
    [200, 'text/event-stream', 'event: answer\ndata: {broken\n\n'],
    [200, 'text/event-stream', `event: progress\ndata: ${'x'.repeat(1_500_000)}`],
  ]
  let answer = answers[0]!
  const server = createServer((_, res) => void res.writeHead(answer[0], { 'content-type': answer[1] }).end(answer[2]))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (answer of answers) {
    const last = (await all(remoteRun(url, { prompt: 'x' }))).at(-1)!
    assert.ok(last.type === 'error' && last.code === 'refused', answer[2].slice(0, 60))
  }
  server.closeAllConnections()
  const ends = new AbortController()
  ends.abort()
  assert.deepEqual(await all(remoteRun(url, { prompt: 'x', signal: ends.signal })), [{
    type: 'error',
    code: 'aborted',
  }])
})
