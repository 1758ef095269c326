import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import assert from 'node:assert/strict'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { root } from '../rig/harness.ts'
import { sdkServer } from '../web/servers/sdkserver.ts'
import { binary } from './bridge.ts'
import { call, hasTool, Rig } from './rig.ts'

// S11: results that are too large for a message are kept, and their clients read them on.

const line = (n: number) => `line ${n} of the log: 𝄞 wind north by west, sea calm`
const text = Array.from({ length: 200_000 }, (_, n) => line(n)).join('\n')
const rows = Array.from({ length: 40_000 }, (_, n) => ({ n, text: line(n) }))
const photo = Buffer.alloc(2_500_000, 'portolan').toString('base64')
const icon = Buffer.alloc(3000, 'icon').toString('base64')

const wide = '海'.repeat(1_000_000)
const nested = Array.from({ length: 90 }).reduce<object>((inner) => ({ inner }), {})

const plain = { type: 'object', properties: {} }
let rig: Rig, desk: Client, server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  server = await sdkServer([
    { name: 'log', inputSchema: plain },
    { name: 'rows', inputSchema: plain, outputSchema: { type: 'object', properties: { rows: { type: 'array' } } } },
    { name: 'photo', inputSchema: plain },
    { name: 'chart', inputSchema: plain, outputSchema: { type: 'object' } },
  ], {
    results: {
      chart: {
        content: [{ type: 'resource', resource: { uri: 'chart://harbour', mimeType: 'text/plain', text: wide } }],
        structuredContent: nested,
      },
      log: { content: [{ type: 'text', text }] },
      rows: { content: [{ type: 'text', text: 'many rows' }], structuredContent: { rows } },
      photo: {
        content: [
          { type: 'image', data: icon, mimeType: 'image/png' },
          { type: 'image', data: photo, mimeType: 'image/jpeg' },
        ],
      },
    },
  })
  rig = await Rig.create({ granted: true })
  desk = await rig.bridge.stdioClient('desk')
  await rig.addServers({ ship: server.url })
  await hasTool(desk, 'ship__log')
})
after(async () => {
  await rig?.close()
  await server?.close()
})

interface Piece {
  handle: string
  offset: number
  total: number
  next: number | null
  found?: number
}
const piece = (r: { meta: Record<string, unknown> }) => r.meta['portolan/result'] as Piece

test('arguments reach a server with all their digits, or not at all', async () => {
  const client = await rig.bridge.httpClient()
  const { sessionId } = client.transport as StreamableHTTPClientTransport
  const token = await rig.bridge.run('token')
  const raw = async (id: string) => {
    const res = await fetch(`http://${rig.bridge.address}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': sessionId!,
      },
      body: '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"ship__raw","arguments":' +
        `{"id":${id},"text":"9007199254740993"}}}`,
    })
    return res.text()
  }
  assert.match(await raw('9007199254740992'), /"id\\":9007199254740992,/)
  assert.match(await raw('0.30000000000000004'), /"id\\":0.30000000000000004,/)
  const before = server.calls.length
  assert.match(await raw('1234567890123456789'), /1234567890123456789 has more digits/)
  assert.equal(server.calls.length, before)
})

test('S11: a text of 10 MiB has its beginning, its end and a handle, and is read on whole', async () => {
  assert.ok(Buffer.byteLength(text) > 10 << 20)
  const r = await call(desk, 'ship__log')
  assert.ok(!r.error && r.text.length < 100_000, `${r.text.length}`)
  assert.ok(r.text.startsWith(line(0)) && r.text.endsWith(line(199_999)))
  assert.match(r.text, /characters are left out here\. The tool has run\. Read them with portolan_read_result, handle/)
  const { handle } = piece(r)
  assert.deepEqual([r.meta['portolan/server'], r.meta['portolan/untrusted']], ['ship', true])
  let whole = ''
  for (let offset: number | null = 0; offset !== null;) {
    const next = await call(desk, 'portolan_read_result', { handle, offset, length: 200_000 })
    whole += next.text
    offset = piece(next).next
  }
  assert.ok(whole === text, 'the pieces are the text')

  const found = await call(desk, 'portolan_read_result', { handle, find: 'LINE 150000 OF', length: 400 })
  assert.ok(found.text.includes(line(150_000)), found.text)
  const missing = await call(desk, 'portolan_read_result', { handle, find: 'no such words' })
  assert.ok(missing.error && missing.text.endsWith('(not_found)'), missing.text)
  assert.equal(server.calls.filter((c) => c === 'log').length, 1, 'the tool ran once')
})

test('S11: a page of three bytes for each character, and content of 90 levels, are read on', async () => {
  const r = await call(desk, 'ship__chart')
  assert.match(
    r.text,
    /The tool has run\. Read it with portolan_read_result.*海\n\n\[\d+ of 1000000 characters are left out/s,
  )
  const { handle } = piece(r)
  let json = ''
  for (let offset: number | null = 0; offset !== null;) {
    const next = await call(desk, 'portolan_read_result', { handle, part: 'structured', offset })
    json += next.text
    offset = piece(next).next
  }
  assert.deepEqual(JSON.parse(json), nested)
  assert.equal((await call(desk, 'portolan_read_result', { handle, offset: 999_000 })).text, wide.slice(999_000))
})

test('S11: the Inspector reads a large result on', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'portolan-inspector-'))
  t.after(() => rm(home, { recursive: true, force: true }))
  const inspect = async (...args: string[]) => {
    const cli = `${root}e2e/servers/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`
    const program = [binary, 'bridge', '--stdio', ...rig.bridge.flags]
    const { stdout } = await promisify(execFile)(process.execPath, [
      cli,
      '--cli',
      ...program,
      '--method',
      'tools/call',
      ...args,
    ], { maxBuffer: 64 << 20, env: { ...process.env, HOME: home } })
    return JSON.parse(stdout) as { content: { text: string }[]; _meta: { 'portolan/result': Piece }; isError?: boolean }
  }
  const r = await inspect('--tool-name', 'ship__log')
  const { handle } = r._meta['portolan/result']
  const read = (...more: string[]) =>
    inspect('--tool-name', 'portolan_read_result', '--tool-arg', `handle=${handle}`, ...more)
  const first = await read('--tool-arg', 'length=200000')
  assert.equal(first.content[0]!.text, text.slice(0, 200_000))
  const later = await read('--tool-arg', 'offset=5000000', '--tool-arg', 'length=1000')
  assert.equal(later.content[0]!.text.length, 1000)
  assert.ok(text.includes(later.content[0]!.text))
})

test('S11: a handle belongs to its client', async () => {
  const { handle } = piece(await call(desk, 'ship__log'))
  const other = await rig.bridge.stdioClient('other')
  await hasTool(other, 'portolan_read_result')
  const foreign = await call(other, 'portolan_read_result', { handle })
  assert.ok(foreign.error && foreign.text.endsWith('(gone)'), foreign.text)
  assert.match(foreign.text, /Call the tool again only if it may run twice/)
})

test('S11: structured content that is too large is read as JSON', async () => {
  const r = await call(desk, 'ship__rows')
  assert.ok(r.error && r.text.includes('The tool has run.') && r.text.includes('many rows'), r.text.slice(0, 500))
  const { handle } = piece(r)
  let json = ''
  for (let offset: number | null = 0; offset !== null;) {
    const next = await call(desk, 'portolan_read_result', { handle, part: 'structured', offset, length: 200_000 })
    json += next.text
    offset = piece(next).next
  }
  assert.deepEqual(JSON.parse(json), { rows })
})

test('S11: small images stay, and a large one becomes links that resources/read answers', async () => {
  const { content } = await desk.callTool({ name: 'ship__photo' }) as {
    content: { type: string; uri?: string; data?: string }[]
  }
  assert.equal(content[0]!.data, icon)
  const links = content.slice(1)
  assert.ok(links.length === 4 && links.every((l) => l.type === 'resource_link'), JSON.stringify(links).slice(0, 500))
  const parts = await Promise.all(links.map(async ({ uri }) => {
    const { contents: [part] } = await desk.readResource({ uri: uri! })
    return Buffer.from((part as { blob: string }).blob, 'base64')
  }))
  assert.ok(Buffer.concat(parts).equals(Buffer.from(photo, 'base64')))
  await assert.rejects(desk.readResource({ uri: 'portolan-result://none/0' }), /no such result of yours/)
})
