import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { readConfig } from '../../config/read.ts'
import { domainOf, lookAt } from './look.ts'

const cards = ['/.well-known/mcp/server-card.json', '/.well-known/mcp.json'] as const

let requests: IncomingMessage[] = []
let answers: Record<string, RequestListener> = {}
const server = createServer((req, res) => {
  requests.push(req)
  const answer = answers[req.url!]
  if (answer) answer(req, res)
  else res.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>')
})
let domain: URL
before(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  domain = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
after(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  requests = []
  answers = {}
})

const look = (timeoutMs = 5000) => lookAt(domain, { signal: AbortSignal.timeout(20_000), timeoutMs })
const asked = () => requests.map((r) => r.url)
const status = (code: number, type = 'application/json') => (_: IncomingMessage, res: ServerResponse) =>
  void res.writeHead(code, { 'content-type': type }).end('{}')
const card = (v: unknown) => (_: IncomingMessage, res: ServerResponse) => void res.end(JSON.stringify(v))
const remotes = (...urls: unknown[]) => ({
  name: 'com.example/tides',
  version: '1.0.0',
  remotes: urls.map((url) => ({ type: 'streamable-http', url })),
})

test('S15: the domain of a text', () => {
  for (
    const [typed, url] of Object.entries({
      'mcp.example.com': 'https://mcp.example.com/',
      'https://mcp.example.com/': 'https://mcp.example.com/',
      'localhost:3000': 'http://localhost:3000/',
      'http://mcp.example.com': undefined,
      'mcp.example.com/mcp': undefined,
      'mcp.example.com?key=1': undefined,
      'user:secret@mcp.example.com': undefined,
      'builtin:demo': undefined,
      'a.example.com\nb.example.com': undefined,
      '': undefined,
    })
  ) assert.equal(domainOf(readConfig(typed))?.href, url, typed)
})

test('S15: four requests at most, without credentials, and nothing after the first server', async () => {
  assert.deepEqual(await look(), {
    answers: [...cards, '/mcp', '/sse'].map((path) => ({ path, said: 'nothing' })),
    entries: [],
  })
  assert.deepEqual(asked(), [...cards, '/mcp', '/sse'])
  for (const { method, headers } of requests)
    assert.deepEqual([method, headers.cookie, headers.authorization, headers.referer], ['GET', ...Array(3)])

  const kinds: [string, RequestListener, string, string | undefined][] = [
    ['/mcp', status(405), 'server', undefined],
    ['/mcp', status(400), 'server', undefined],
    ['/mcp', status(401), 'sign_in', undefined],
    [
      '/sse',
      (_, res) => void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n'),
      'server',
      'sse',
    ],
    ['/sse', status(401), 'sign_in', 'sse'],
  ]
  for (const [path, answer, said, transport] of kinds) {
    requests = []
    answers = { [path]: answer }
    const found = await look()
    assert.deepEqual(found.answers.at(-1), { path, said })
    assert.deepEqual(found.entries.map((e) => [e.config!.url, e.config!.transport]), [[
      domain.origin + path,
      transport,
    ]])
    assert.equal(asked().at(-1), path)
  }
})

test('S15: pages that are no server', async () => {
  answers = {
    '/.well-known/mcp.json': status(200, 'text/html'),
    '/mcp': status(200, 'text/html'),
    '/sse': status(405),
  }
  assert.deepEqual((await look()).entries, [])
  answers['/mcp'] = (_, res) => void res.writeHead(302, { location: '/elsewhere' }).end()
  answers['/elsewhere'] = status(405)
  assert.deepEqual((await look()).entries, [])
  assert.ok(!asked().includes('/elsewhere'), 'redirects are not followed')
})

test('S15: cards of SEP-2127, of its drafts, and configurations', async () => {
  const forms: [string, unknown, [string, string, string | undefined]][] = [
    [cards[0], remotes(`${domain.origin}/v1`), ['tides', '/v1', 'streamable-http']],
    [cards[1], { serverInfo: { name: 'tides' }, transport: { type: 'streamable-http', endpoint: '/api' } }, [
      'tides',
      '/api',
      undefined,
    ]],
    [cards[1], { name: 'x/tides', transports: [{ type: 'sse', url: '/events' }] }, ['tides', '/events', 'sse']],
    [cards[1], { mcpServers: { tides: { url: `${domain.origin}/own` } } }, ['tides', '/own', undefined]],
  ]
  for (const [path, value, [name, at, transport]] of forms) {
    answers = { [path]: card(value) }
    const found = await look()
    assert.deepEqual(found.answers.at(-1), { path, said: 'card' })
    assert.deepEqual(found.entries.map((e) => [e.name, e.config!.url, e.config!.transport]), [[
      name,
      domain.origin + at,
      transport,
    ]])
  }
})

test('S15: hostile cards give nothing, or what is seen to be elsewhere', async () => {
  const stream = (piece: string) => (_: IncomingMessage, res: ServerResponse) => {
    const pour = () => {
      while (!res.destroyed && res.write(piece));
    }
    res.on('drain', pour)
    pour()
  }
  const nothing: Record<string, RequestListener> = {
    'without end': stream(' '.repeat(1 << 16)),
    'a little too long': card({ ...remotes('/v1'), description: 'x'.repeat(64 << 10) }),
    'no JSON': (_, res) => void res.end('{"remotes":['),
    'deep': (_, res) => void res.end('['.repeat(60_000)),
    'a list': card([remotes('https://a.example/mcp')]),
    'null': card(null),
    'other shapes': card({ name: 1, remotes: { url: 2 }, transport: [null, 3, { endpoint: {} }] }),
    'no URLs': card(
      remotes(...['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'wss://a.example', 7]),
    ),
    'not encrypted': card(remotes('http://other.example/mcp')),
    'this machine': card(remotes('http://localhost:1/mcp', 'https://[::1]/mcp', 'http://127.0.0.1:1/mcp')),
    'the network': card(remotes('https://10.0.0.1/mcp', 'https://router.local/', 'https://169.254.169.254/')),
    'the prototype': (_, res) => void res.end('{"__proto__":{"remotes":[{"url":"https://a.example/mcp"}],"name":"x"}}'),
  }
  for (const [what, answer] of Object.entries(nothing)) {
    answers = { [cards[0]]: answer, [cards[1]]: answer }
    const { entries, answers: said } = await look()
    assert.deepEqual([entries, said.slice(0, 2).map((a) => a.said)], [[], ['nothing', 'nothing']], what)
  }

  answers = { [cards[0]]: card(remotes(...Array.from({ length: 1000 }, (_, i) => `https://h${i}.example/`))) }
  const many = (await look()).entries
  assert.equal(many.length, 5)
  answers = { [cards[0]]: card(remotes('https://other.example/mcp')) }
  const [elsewhere] = (await look()).entries
  assert.deepEqual(elsewhere!.lints[0], {
    code: 'other_host',
    level: 'warning',
    values: { host: 'other.example', domain: domain.host },
  })
})

test('S15: no answer in time, none at all, and an end by the person', async () => {
  answers = Object.fromEntries([...cards, '/mcp', '/sse'].map((path) => [path, () => {}]))
  const found = await look(30)
  assert.deepEqual(found.answers.map((a) => a.said), Array(4).fill('blocked'))
  assert.deepEqual(found.entries.map((e) => e.config!.url), [`${domain.origin}/mcp`])
  answers = Object.fromEntries([...cards, '/mcp', '/sse'].map((path) => [path, (_, res) => void res.destroy()]))
  assert.deepEqual((await look()).answers.map((a) => a.said), Array(4).fill('blocked'))

  answers = { '/sse': (_, res) => void res.destroy() }
  const hidden = await look()
  assert.deepEqual([hidden.unseen, hidden.entries.map((e) => [e.config!.url, e.config!.transport])], [true, [[
    `${domain.origin}/sse`,
    'sse',
  ]]])

  const ended = new AbortController()
  answers = { [cards[0]]: () => ended.abort() }
  requests = []
  await assert.rejects(lookAt(domain, { signal: ended.signal }), { name: 'AbortError' })
  assert.equal(requests.length, 1)
})
