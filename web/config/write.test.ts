import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { ServerConfig } from '../../wasm/js/shared/types.ts'
import { plansOf } from '../panel/add/plan.ts'
import { renameFree } from './address.ts'
import { readConfig } from './read.ts'
import { asCurl, asTypeScript, quote } from './write.ts'
import { writeConfig } from './write.ts'

const redacted = (names: string[]) => Object.fromEntries(names.map((n) => [n, '[redacted]']))

let seed = 20261121
const below = (n: number) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % n
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
const names = [
  'github',
  'My Server',
  '漢字',
  '__proto__',
  'a\'b"c',
  '$(rm -rf)',
  'a_b',
  'a-b',
  '1',
  '`x`',
  'constructor',
  'servers',
]
const headerNames = ['Authorization', 'X-Api-Key', 'x-region', "X-It's", 'X-$HOME', 'X-`id`']

function randomConfig(): ServerConfig {
  const config: ServerConfig = {
    url: pick([
      'https://a.example.com/mcp',
      'https://b.example.com/sse?x=1',
      'http://localhost:3000/',
      'builtin:demo',
      'https://c.example.com/mcp?v=2#f',
    ]),
  }
  const headers = headerNames.filter(() => below(3) === 0)
  if (headers.length) config.headers = redacted(headers)
  if (below(3) === 0) config.enabled = false
  if (below(3) === 0) config.transport = 'sse'
  if (below(4) === 0) config.proxy = pick([true, 'auto'] as const)
  if (below(4) === 0) config.timeoutMs = 5000
  if (below(4) === 0)
    config.tools = pick([{ allow: [] }, { allow: ['a'] }, { deny: ['b'] }, { allow: ['a', 'c'], deny: ['c'] }])
  return config
}

test('what is written is read back, and holds no header value', () => {
  for (let i = 0; i < 2000; i++) {
    const servers = Object.fromEntries(names.filter(() => below(3) === 0).map((n) => [n, randomConfig()]))
    for (const dialect of ['mcpServers', 'vscode'] as const) {
      const text = writeConfig(servers, dialect)
      assert.ok(!text.includes('[redacted]'))
      const reading = readConfig(text)
      assert.equal(reading.kind, dialect === 'vscode' ? 'vscode' : 'mcp-json', text)
      const back = Object.fromEntries(
        reading.entries.map((
          e,
        ) => [e.name, { ...e.config, ...(e.config?.headers && { headers: redacted(Object.keys(e.config.headers)) }) }]),
      )
      assert.deepEqual(back, servers, text)
      for (const e of reading.entries) assert.equal(e.inputs.length, Object.keys(e.config?.headers ?? {}).length)
    }
  }
})

test('headers of an earlier visit, whose values are not here, are written too', () => {
  const config = { url: 'https://a.example/mcp', missingHeaders: ['Authorization'] }
  for (const dialect of ['mcpServers', 'vscode'] as const) {
    const [entry] = readConfig(writeConfig({ a: config }, dialect)).entries
    assert.deepEqual(Object.keys(entry!.config!.headers ?? {}), ['Authorization'])
  }
  const code = asTypeScript({ name: 'a__t', server: 'a' }, '{}', config)
  assert.match(code, /headers: \{ "Authorization": secrets\.A_AUTHORIZATION \}/)
  assert.doesNotMatch(code, /missingHeaders/)
  assert.match(asCurl('a', config, 't', '{}')!, /-H 'Authorization: '"\$A_AUTHORIZATION"/)
})

test('a secret in a url becomes an input', () => {
  for (const dialect of ['mcpServers', 'vscode'] as const) {
    const text = writeConfig({ a: { url: 'https://a.example.com/mcp?api_key=abc&x=1' } }, dialect)
    assert.ok(!text.includes('abc'), text)
    assert.deepEqual(readConfig(text).entries[0]!.inputs.map((x) => x.password), [true])
  }
})

test('conflicts and free names', () => {
  const { entries } = readConfig(
    JSON.stringify({
      a: { url: 'https://a.example.com/mcp', headers: { X: '1' } },
      b: { url: 'https://b.example.com/mcp' },
      constructor: { url: 'https://b.example.com/mcp' },
    }),
  )
  const plans = plansOf(entries, {
    a: { config: { url: 'https://A.example.com/mcp', headers: { x: '[redacted]' }, proxy: 'auto' } }, // as it was added
    b: { config: { url: 'https://b.example.com/' } },
  })
  assert.deepEqual(plans.map(({ name, clash }) => [name, clash]), [
    ['a', 'skip'],
    ['b', 'rename'],
    ['constructor', 'rename'],
  ])
  assert.equal(renameFree('a', ['a', 'a-2']), 'a-3')
  assert.equal([...renameFree('x'.repeat(64), ['x'.repeat(64)])].length, 64)
})

const run = promisify(execFile)
const hostile = ["it's", '$(touch /tmp/portolan-pwned)', '`id`', '"; exit 1; "', '\\', 'a\nb', '!x', '*', '\u2028']

test('shell words stay one word, whatever is in them', async () => {
  const { stdout } = await run('sh', ['-c', `printf '%s\\0' ${hostile.map(quote).join(' ')}`])
  assert.deepEqual(stdout.split('\0').slice(0, -1), hostile)
})

for (const sessions of [true, false]) {
  test(`the curl script calls a server ${sessions ? 'with' : 'without'} sessions`, async (t) => {
    const seen: { method: string; session: unknown; key: unknown; params: unknown; url: unknown }[] = []
    const server = createServer((req, res) => {
      let body = ''
      req.on('data', (d) => {
        body += d
      })
      req.on('end', () => {
        const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: unknown }
        seen.push({ method, session: req.headers['mcp-session-id'], key: req.headers["x-it's"], params, url: req.url })
        if (sessions && method === 'initialize') res.setHeader('MCP-Session-Id', 'abc')
        res.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' }).end(
          id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result: {} }),
        )
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    t.after(() => server.close())
    const { port } = server.address() as { port: number }
    const config = { url: `http://127.0.0.1:${port}/mcp?token=zzz&a='b`, headers: redacted(["X-It's"]) }
    const args = JSON.stringify({ list: hostile, n: 1 }).replace('"n":1', '"n": 12345678901234567890').replace(
      '{',
      '{\n  ',
    )
    const script = asCurl("it's", config, "to'ol", args)!
    assert.ok(!/zzz|redacted/.test(script), script)
    const { stdout } = await run('sh', ['-c', script], {
      env: { ...process.env, IT_S_TOKEN: 'tk', IT_S_X_IT_S: 'secret $x' },
    })
    assert.deepEqual(JSON.parse(stdout), { jsonrpc: '2.0', id: 2, result: {} })
    const session = sessions ? 'abc' : undefined
    assert.deepEqual(
      seen.map((s) => [s.method, s.session, s.key, s.url]),
      [['initialize', undefined], ['notifications/initialized', session], ['tools/call', session]]
        .map(([m, s]) => [m, s, 'secret $x', "/mcp?token=tk&a='b"]),
    )
    assert.deepEqual(seen[2]!.params, { name: "to'ol", arguments: { list: hostile, n: 12345678901234567890 } })
    await assert.rejects(run('sh', ['-c', script], { env: { PATH: process.env.PATH } }), /IT_S_TOKEN/)
  })
}

test('TypeScript says the call, without secrets', async () => {
  const config: ServerConfig = {
    url: 'https://a.example.com/mcp?key=abc',
    headers: redacted(["X-It's", 'Authorization']),
    transport: 'sse',
    tools: { deny: ['x'] },
    auth: { clientId: 'me', clientSecret: '[redacted]' },
  }
  for (
    const [args, want] of [['{"a": [1, "b"]}', { a: [1, 'b'] }], ['', {}], ['{"__proto__": 1}', '{"__proto__": 1}'], [
      '{"n": 12345678901234567890}',
      '{"n": 12345678901234567890}',
    ]] as const
  ) {
    const code = asTypeScript({ name: 'ser__tool', server: "s'\u2028`$" }, args, config)
    assert.ok(!/abc|redacted/.test(code), code)
    // Run with a registry that tells what it was asked.
    const body = code.replace(/^import.*$/m, '').replace(/^declare.*$/m, '').replaceAll('await ', '').replace(
      'console.log(',
      'return (',
    )
    const asked = new Function('createRegistry', 'secrets', body)(
      (o: { servers: Record<string, ServerConfig> }) => ({
        discover() {},
        dispatch: (name: string, a: unknown) => ({ o, name, a }),
      }),
      new Proxy({}, { get: (_, k) => `<${String(k)}>` }),
    ) as { o: { servers: Record<string, ServerConfig> }; name: string; a: unknown }
    assert.deepEqual(asked.o.servers["s'\u2028`$"], {
      url: 'https://a.example.com/mcp?key=%3CS_KEY%3E',
      headers: { "X-It's": '<S_X_IT_S>', Authorization: '<S_AUTHORIZATION>' },
      transport: 'sse',
      tools: { deny: ['x'] },
      auth: { clientId: 'me', clientSecret: '<S_CLIENTSECRET>' },
    })
    assert.deepEqual([asked.name, asked.a], ['ser__tool', want])
  }
})

test('curl is not offered where it cannot work', () => {
  assert.equal(asCurl('a', { url: 'builtin:demo' }, 'x', '{}'), undefined)
  assert.equal(asCurl('a', { url: 'https://a.example.com/sse', transport: 'sse' }, 'x', '{}'), undefined)
})

test('what is no configuration by name is refused, such as the servers of a snapshot', () => {
  const config = { url: 'https://a.example/mcp', proxy: false, enabled: true }
  for (const servers of [{ a: { config, status: 'connected' } }, { a: null }, { a: 5 }])
    assert.throws(() => writeConfig(servers as never), { name: 'TypeError', message: /server "a" has no url/ })
})

test('an unknown dialect is refused', () => {
  assert.throws(() => writeConfig({}, 'cursor' as never), {
    name: 'TypeError',
    message: /"cursor".*mcpServers, vscode/,
  })
})

test('a long text among the arguments overflows no stack', () => {
  const config = { url: 'https://a.example.com/mcp' }
  const script = asCurl('a', config, 't', ` { "a" : "${'x y'.repeat(5e6)}" } `)!
  assert.ok(script.includes(`"arguments":{"a":"${'x y'.repeat(5e6)}"}}}'`))
})
