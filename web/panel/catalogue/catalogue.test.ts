import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { fill } from '../../config/placeholders.ts'
import { CatalogueError, Search } from './catalogue.ts'

const recorded = (n: number) => readFileSync(new URL(`../../../testdata/catalogue/page-${n}.json`, import.meta.url))

const requests: { url: URL; headers: IncomingMessage['headers'] }[] = []
let answer: (url: URL, res: ServerResponse) => void
const server = createServer((req, res) => {
  const url = new URL(req.url!, 'http://x')
  requests.push({ url, headers: req.headers })
  answer(url, res)
})
let baseUrl = ''
before(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

const pages = (url: URL, res: ServerResponse) => void res.end(recorded(url.searchParams.get('cursor') ? 2 : 1))

test('servers with a remote, page by page, the latest of each name', async () => {
  answer = pages
  requests.length = 0
  const search = new Search({ baseUrl: baseUrl + '/base/v0.1/' }, ' ti des ')
  const first = await search.more()
  assert.deepEqual(first.map((l) => [l.name, l.title, l.version, l.deprecated]), [
    ['com.example/tides', 'Tides', '2.1.0', false],
    ['com.example/lights', 'lights', '0.9.0', false],
    ['com.example/wrecks', 'Wrecks', '1.0.0', true],
  ])
  assert.deepEqual([first[0]!.website, first[1]!.website], [
    'https://tides.example.com/about',
    undefined,
  ])
  assert.deepEqual(first[0]!.entries.map((e) => [e.name, e.config!.transport, e.config!.url]), [[
    'tides',
    'streamable-http',
    'https://tides.example.com/mcp',
  ], ['tides', 'sse', 'https://tides.example.com/sse']])
  assert.deepEqual(fill(first[0]!.entries[0]!, { 'X-Tides-Key': 'k' }), {
    url: 'https://tides.example.com/mcp',
    headers: { 'X-Tides-Key': 'k', 'X-Units': 'metric' },
    transport: 'streamable-http',
  })
  assert.deepEqual(fill(first[1]!.entries[0]!, { token: 't', region: 'south' }), {
    url: 'https://south.lights.example.com/mcp',
    headers: { Authorization: 'Bearer t' },
    transport: 'streamable-http',
  })
  assert.equal(search.done, false)
  const second = await search.more()
  assert.deepEqual(second.map((l) => l.version), ['1', '1.4.2'])
  for (const l of second) assert.ok(l.description.length <= 500)
  assert.equal(search.done, true)
  assert.deepEqual(await search.more(), [])
  assert.deepEqual(
    requests.map((r) => r.url.pathname + r.url.search),
    ['', '&cursor=com.example%2Fwrecks%3A1.0.0'].map((tail) =>
      '/base/v0.1/servers?version=latest&limit=50&search=ti+des' + tail
    ),
  )
  for (const { headers } of requests) assert.ok(!headers.cookie && !headers.authorization && !headers.referer)
})

const code = (want: string, status?: number) => (e: unknown) =>
  e instanceof CatalogueError && e.code === want && e.status === status

test('faults by code', async () => {
  const find = (options = {}) => new Search({ baseUrl, ...options }).more()
  answer = (_, res) => void res.writeHead(503).end('{}')
  await assert.rejects(find(), code('http', 503))
  for (const body of ['<html>', '[]', '{"servers":{}}', 'null', '']) {
    answer = (_, res) => void res.end(body)
    await assert.rejects(find(), code('shape'), body)
  }
  answer = (_, res) => {
    const chunk = Buffer.alloc(1 << 16, ' ')
    const pour = () => {
      while (!res.destroyed && res.write(chunk));
    }
    res.on('drain', pour)
    pour()
  }
  await assert.rejects(find(), code('shape'))
  answer = () => {}
  await assert.rejects(find({ timeoutMs: 30 }), code('offline'))
  answer = (_, res) => void res.destroy()
  await assert.rejects(find(), code('offline'))
  await assert.rejects(find({ baseUrl: 'http://127.0.0.1:1' }), code('offline'))
  for (const bad of ['http://catalogue.example.com', 'ftp://a', 'x', '', 'https://u:p@a.example', 'javascript:1'])
    assert.throws(() => new Search({ baseUrl: bad }), code('url'), bad)
})

test('who asked can stop asking', async () => {
  answer = () => {}
  const owner = new AbortController()
  const waiting = new Search({ baseUrl, signal: owner.signal }).more()
  owner.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  const options = { baseUrl, timeoutMs: 30 }
  const search = new Search(options)
  await assert.rejects(search.more(), code('offline'))
  answer = pages
  options.timeoutMs = 30_000
  assert.equal((await search.more()).length, 3, 'and ask again')
})

test('a catalogue that never ends is left', async () => {
  requests.length = 0
  answer = (_, res) => void res.end('{"servers":[],"metadata":{"nextCursor":"same"}}')
  const same = new Search({ baseUrl })
  assert.deepEqual(await same.more(), [])
  assert.ok(same.done)
  assert.equal(requests.length, 2)
  answer = (url, res) =>
    void res.end(
      JSON.stringify({ servers: [], metadata: { nextCursor: (url.searchParams.get('cursor') ?? '') + 'x' } }),
    )
  requests.length = 0
  assert.deepEqual(await new Search({ baseUrl }).more(), [])
  assert.equal(requests.length, 5)
})

test('the request is sent without credentials and referrer', async (context) => {
  const fetched = context.mock.method(globalThis, 'fetch', async () => Response.json({ servers: [] }))
  await new Search({ baseUrl: 'https://catalogue.example.com' }).more()
  const [, init] = fetched.mock.calls[0]!.arguments as unknown as [URL, RequestInit]
  assert.deepEqual([init.credentials, init.referrerPolicy], ['omit', 'no-referrer'])
})
