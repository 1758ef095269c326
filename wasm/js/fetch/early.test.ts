import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, mock, test } from 'node:test'
import { Early } from './early.ts'

// Which servers get an early request. e2e/web/start.test.ts has the module take them over.

let server: Server, origin: string
before(async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  server = createServer((req, res) => {
    if (req.url !== '/waits') res.writeHead(200).end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  mock.timers.reset()
  server.closeAllConnections()
  server.close()
})

const begin = (servers: Record<string, object>) => ({ servers: servers as never, given: [] })

test('a server that is off, goes through the proxy, signs in by itself or cannot be sent to gets none', () => {
  const early = new Early(
    {},
    begin({
      on: { url: `${origin}/on#part` },
      again: { url: `${origin}/on` },
      off: { url: `${origin}/off`, enabled: false },
      sse: { url: `${origin}/sse`, transport: 'sse' },
      proxied: { url: `${origin}/proxied`, proxy: true },
      signs: { url: `${origin}/signs`, auth: { flow: 'client-credentials' } },
      demo: { url: 'builtin:demo' },
      file: { url: 'file:///etc/passwd' },
      user: { url: `http://a:b@${origin.slice(7)}/user` },
      odd: { url: `${origin}\\odd` },
      none: { url: '' },
    }),
  )
  assert.deepEqual(early.offer(), [`${origin}/on`])
})

test('of servers that are known, only those get one whose first request is sure', () => {
  const line = (path: string, transport: string, version: string, last = '') =>
    `${origin}${path}\t${transport}\t${version}\t\t${last}\n`
  const hints = line('/old', 'streamable-http', '2025-06-18') + line('/new', 'streamable-http', '2026-07-28') +
    line('/sse', 'sse', '2024-11-05') + line('/proxied', 'streamable-http', '2025-06-18', 'proxied') + 'nonsense\n\t\n'
  const servers = Object.fromEntries(
    ['/old', '/new', '/sse', '/proxied', '/unknown'].map((path) => [path, { url: origin + path }]),
  )
  assert.deepEqual(new Early({ hints }, begin(servers)).offer(), [`${origin}/old`, `${origin}/unknown`])
  // A token may be stored.
  assert.deepEqual(new Early({ hints, remember: true }, begin(servers)).offer(), [`${origin}/unknown`])
})

test('there are at most 64', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`s${i}`, { url: `${origin}/${i}` }]))
  assert.equal(new Early({}, begin(many)).offer().length, 64)
})

test('a request that the module does not send, or sends otherwise, is aborted', async () => {
  const url = `${origin}/waits`
  const sent = async () => {
    const early = new Early({}, begin({ a: { url } }))
    for await (const [req] of on(server, 'request') as AsyncIterable<[IncomingMessage]>)
      if (req.url === '/waits') return { early, closed: once(req.socket, 'close') }
    throw new Error('no request')
  }
  const other = await sent()
  assert.equal(other.early.take(4, url, [['X', 'another']], new TextEncoder().encode('{}')), undefined)
  await other.closed
  const late = await sent()
  late.early.offer()
  mock.timers.tick(10_000)
  await late.closed
})
