import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { record, replay } from '../../dist/npm/cassette.js'
import { createRegistry, RegistryError } from '../../dist/npm/index.js'
import type { RecordOptions } from '../../wasm/js/cassette/types.ts'
import type { Cassette, Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'
import { launchChromium, listen, openPage, root, serveFolder } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Recorded against real servers, replayed without any.

let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  server = await sdkServer()
})
after(() => server.close())

const secret = 'Bearer canary-1234567'
const servers = (): RegistryOptions['servers'] => ({
  demo: { url: 'builtin:demo' },
  s: { url: server.url, headers: { Authorization: secret, 'X-Pin': '42' } },
})

async function using(
  cassette: Cassette,
  options: RegistryOptions,
  body: (r: Registry) => Promise<void>,
): Promise<void> {
  const r = await createRegistry({ storage: 'memory', cassette, ...options })
  try {
    await body(r)
  } finally {
    await r.close()
  }
}

const fails = (code: string, text?: RegExp) => (e: unknown) => {
  assert.ok(e instanceof RegistryError, String(e))
  assert.equal(e.code, code, e.message)
  if (text) assert.match(`${e.message} ${e.hint}`, text)
  return true
}

/** The work of a session that is recorded and replayed. */
async function session(r: Registry): Promise<unknown[]> {
  await r.discover()
  const progress: number[] = []
  const all = [
    r.getTools(),
    await r.call('demo__add', { a: 2, b: 3 }),
    await r.call('demo__picture', {}),
    await r.call('demo__fail', { reason: 'storm' }),
    await r.call('demo__weather', { city: 'Palma' }),
    await r.call('demo__count', { to: 2, delayMs: 1 }, { onProgress: (p) => progress.push(p.progress) }),
    await r.dispatch('s__raw', '{"n":12345678901234567890,"z":1,"a":{"y":1,"x":2}}'),
    await r.dispatch('s__raw', { same: true }),
    await r.dispatch('s__raw', { same: true }),
    await r.call('s__nope', {}).catch((e: RegistryError) => [e.code, e.message, e.hint]),
  ]
  return [
    ...all,
    progress,
    Object.fromEntries(Object.entries(r.getHealth()).map(([n, h]) => [n, [h.status, h.toolCount, h.serverInfo]])),
  ]
}

async function recorded(
  options?: RecordOptions,
  body: (r: Registry) => Promise<unknown> = session,
): Promise<{ text: string; seen: unknown }> {
  const tape = record(options)
  let seen: unknown
  await using(tape, { servers: servers() }, async (r) => {
    seen = await body(r)
  })
  return { text: tape.text(), seen }
}

test('what was recorded is replayed the same, without module or network', async () => {
  const { text, seen } = await recorded()
  await server.close()
  const { fetch, WebAssembly: wasm } = globalThis
  const offline = () => {
    throw new Error('offline')
  }
  Object.assign(globalThis, {
    fetch: offline,
    WebAssembly: { Module: class {}, compile: offline, instantiate: offline },
  })
  try {
    for (let i = 0; i < 2; i++) {
      await using(replay(text), { servers: servers() }, async (r) => {
        assert.equal(r.mode, 'replay')
        assert.deepEqual(await session(r), seen)
      })
    }
  } finally {
    Object.assign(globalThis, { fetch, WebAssembly: wasm })
    server = await sdkServer()
  }
})

test('a call is found by its arguments, whatever their order, as often as it was made', async () => {
  const { text } = await recorded()
  await using(replay(text), { servers: servers() }, async (r) => {
    await r.discover()
    await assert.rejects(
      r.dispatch('s__raw', '{"a":{"x":2,"y":1},"z":1,"n":12345678901234567891}'),
      fails('cassette_miss', /s__raw with arguments [0-9a-f]{16} is not on the cassette Record/),
    )
    assert.match(
      await r.dispatch('s__raw', '{ "a": {"x": 2, "y": 1}, "z":1, "n": 12345678901234567890 }'),
      /12345678901234567890/,
    )
    for (let i = 0; i < 2; i++) await r.dispatch('s__raw', { same: true })
    await assert.rejects(r.dispatch('s__raw', { same: true }), fails('cassette_miss', /so often/))
  })
})

test('switches, filters and servers of the replaying page count', async () => {
  const { text } = await recorded()
  await using(replay(text), { servers: { demo: { url: 'builtin:demo', tools: { deny: ['echo'] } } } }, async (r) => {
    assert.equal(r.getSnapshot().status, 'idle')
    await r.discover()
    assert.ok(r.has('demo__add') && !r.has('demo__echo'))
    assert.deepEqual(r.getSnapshot().withheld.map((t) => t.name), ['demo__echo'])
    await r.addServer('s', { url: 'https://elsewhere.example/mcp' })
    assert.ok(r.has('s__raw'))
    await r.setEnabled('demo', false)
    assert.ok(!r.has('demo__add'))
    await r.addServer('new', { url: 'https://new.example/mcp' })
    assert.equal(r.getHealth().new!.errorCode, 'cassette_miss')
    await assert.rejects(r.addServer('s', { url: 'https://x.example' }), fails('invalid_config'))
    await assert.rejects(r.retry('gone'), fails('unknown_server'))
    await r.removeServer('s')
    assert.deepEqual(Object.keys(r.getSnapshot().servers), ['demo', 'new'])
    assert.ok(!r.has('s__raw'))
  })
})

test('a long text is cut in the replay as it was when it was recorded', async () => {
  const tape = record(), text = 'ahoy '.repeat(200)
  const said = async (cassette: Cassette) => {
    const said: unknown[] = []
    await using(cassette, { servers: servers()!, limits: { resultBytes: 300 } }, async (r) => {
      await r.discover()
      const result = await r.call('demo__echo', { text })
      said.push(result.truncated, result.text.length, (await r.readResult(result.handle!)).text)
    })
    return said
  }
  const recorded = await said(tape)
  assert.deepEqual([recorded[0], recorded[2]], [true, text])
  assert.deepEqual(await said(replay(tape.text())), recorded)
})

test('secrets are not on it, and are not needed to replay it', async () => {
  const say = async (r: Registry) => {
    await r.discover()
    await r.updateServer('s', { headers: { Authorization: 'Bearer another-7654321', 'X-Pin': '42' } })
    await r.discover()
    return [
      await r.dispatch('s__raw', {
        token: secret,
        pin: '42',
        year: '1942',
        inside: 'say canary-1234567 aloud',
        password: 'hunter2hunter2',
      }),
      await r.dispatch('demo__echo', { text: 'another-7654321' }),
    ]
  }
  const redact: RecordOptions['redact'] = (value, { part }) => {
    const v = value as Record<string, unknown>
    if (part === 'arguments' && v.password) v.password = 'gone'
    return part === 'result' ? JSON.parse(JSON.stringify(v).replaceAll('hunter2hunter2', 'gone')) : v
  }
  const { text, seen } = await recorded({ redact }, say)
  assert.match(JSON.stringify(seen), /canary-1234567.*another-7654321/)
  for (const leak of ['canary', 'another', 'hunter2', 'Bearer']) assert.ok(!text.includes(leak), leak)
  assert.ok(text.includes('1942') && text.includes('[redacted]'))
  await using(replay(text, { redact }), { servers: servers() }, async (r) => {
    const [raw, echo] = await say(r) as string[]
    assert.match(raw!, /\[redacted\].*gone/)
    assert.equal(echo, '[redacted]')
  })
})

/** A server whose answers to calls are these texts. `ID` is the id of the request. */
async function textServer(answers: string[]) {
  return listen(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string }
    if (id === undefined) return void res.writeHead(req.method === 'POST' ? 202 : 405).end()
    const results: Record<string, string> = {
      initialize:
        '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"texts","version":"1"}}',
      'tools/list': '{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}',
    }
    const result = method === 'tools/call' ? answers.shift() : results[method!]
    const outcome = result ? `"result":${result}` : '"error":{"code":-32601,"message":"no such method"}'
    res.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},${outcome}}`)
  })
}

test('a secret that a server writes with escapes is not on it either', async (t) => {
  const odd = 'canary/7654321'
  const texts = await textServer([
    String.raw`{"content":[],"structuredContent":{"n":12345678901234567890,"k":"canary\/7654321"}}`,
  ])
  t.after(texts.close)
  const tape = record()
  await using(tape, { servers: { t: { url: texts.url, headers: { 'X-Key': odd } } } }, async (r) => {
    await r.discover()
    assert.equal(((await r.call('t__say', {})).structuredContent as { k: string }).k, odd)
  })
  assert.equal(tape.calls, 1)
  assert.ok(!tape.text().includes('7654321'), tape.text())
})

test('secrets of servers that another tab added are not on it', async () => {
  const channel = {
    onmessage: null as ((m: unknown) => void) | null,
    post: ({ id }: { id: number }) => {
      channel.onmessage!({ event: 'configs', configs: { o: { url: 'http://o.test/', headers: { 'X-Key': secret } } } })
      channel.onmessage!({
        id,
        result: {
          server: 's',
          tool: 'raw',
          isError: false,
          durationMs: 1,
          value: { content: [{ type: 'text', text: secret }] },
        },
      })
    },
    close: () => {},
  }
  const tape = record()
  const { open } = Object.getPrototypeOf(tape) as {
    open(start: unknown, begin: unknown): Promise<{ channel: typeof channel }>
  }
  const host = await open.call(tape, async () => ({ channel }), Promise.resolve({ servers: {}, given: [] }))
  host.channel.post({ id: 1, method: 'call', name: 's__raw', args: '{}' } as never)
  assert.equal(tape.calls, 1)
  assert.ok(!tape.text().includes('canary'), tape.text())
})

test('a hook that throws, and a result that is no JSON, end no call', { timeout: 20_000 }, async (t) => {
  const faults = t.mock.method(console, 'error', () => {})
  const texts = await textServer([`{"content":[{"text":"${'x'.repeat(100_000)}" oops}]}`, '{"content":[]}'])
  t.after(texts.close)
  const tape = record({
    redact: (value, { part }) => {
      if (part === 'result') throw new Error('a fault of the hook')
      return value
    },
  })
  await using(tape, { servers: { t: { url: texts.url } } }, async (r) => {
    await r.discover()
    await assert.rejects(r.call('t__say', {}), fails('protocol'))
    assert.deepEqual((await r.call('t__say', {})).content, [])
  })
  assert.deepEqual([tape.calls, faults.mock.callCount()], [0, 2])
})

test('what a cassette does not hold is a miss, and its tools are searched', { timeout: 20_000 }, async () => {
  const { text } = await recorded()
  const auth = { clientId: 'me', clientSecret: 'canary-1234567' }
  await using(replay(text), { servers: { ...servers(), a: { url: 'http://a.test/', auth } } }, async (r) => {
    await r.discover()
    for (
      const ask of [
        () => r.resources(),
        () => r.resourceTemplates(),
        () => r.readResource('demo', 'demo://harbour'),
        () => r.subscribeResource('demo', 'demo://harbour', () => {}),
        () => r.prompts(),
        () => r.getPrompt('demo__x', {}),
        () => r.instructions(),
        () => r.logs(),
      ]
    )
      await assert.rejects(ask, fails('cassette_miss', /lists of tools/))
    assert.equal((await r.search('add two numbers'))[0]?.name, 'demo__add')
    assert.deepEqual(r.getSnapshot().servers['a']!.config.auth, { clientId: 'me', clientSecret: '[redacted]' })
  })
})

test('a cassette has its size, and says when it is full', async () => {
  const tape = record({ maxBytes: 2000 })
  await using(tape, { servers: servers() }, async (r) => {
    await r.discover()
    await r.dispatch('demo__echo', { text: 'small' })
    assert.deepEqual([tape.calls, tape.full], [1, false])
    await r.dispatch('demo__echo', { text: 'x'.repeat(2000) })
    assert.deepEqual([tape.calls, tape.full], [1, true])
  })
  await using(replay(tape.text()), { servers: servers() }, async (r) => {
    await r.discover()
    assert.equal(await r.dispatch('demo__echo', { text: 'small' }), 'small')
    await assert.rejects(r.dispatch('demo__echo', { text: 'x'.repeat(2000) }), fails('cassette_miss', /maxBytes/))
  })
})

test('a text that is no cassette says so', async () => {
  for (const text of ['', '[]', '{}', '{"portolan":"cassette","version":2,"servers":{},"calls":[]}']) {
    assert.throws(() => replay(text), fails('invalid_cassette', /Record it again/))
  }
  await assert.rejects(createRegistry({ cassette: {} as never }), fails('invalid_option', /record\(\) or replay\(\)/))
})

test('a cassette that was cut or made by hand is refused at once', () => {
  const tool = { name: 'a__b', tool: 'b', definition: { name: 'b', inputSchema: { type: 'object' } } }
  const result = { server: 'a', tool: 'b', value: { content: [] } }
  const call = { tool: 'a__b', arguments: {}, result }
  const text = (tape: object) => JSON.stringify({ portolan: 'cassette', version: 1, servers: {}, calls: [], ...tape })
  replay(text({ servers: { a: { tools: [tool] } }, calls: [call] }))
  for (const servers of [null, [], { a: null }, { a: {} }, { a: { tools: 5 } }, { a: { tools: [tool], health: 5 } }])
    assert.throws(() => replay(text({ servers })), fails('invalid_cassette'))
  for (const wrong of [null, 5, {}, { ...tool, definition: undefined }, { ...tool, name: 5 }])
    assert.throws(() => replay(text({ servers: { a: { tools: [wrong] } } })), fails('invalid_cassette', /server "a"/))
  for (
    const wrong of [
      null,
      {},
      { ...call, tool: 5 },
      { ...call, arguments: undefined },
      { ...call, result: undefined },
      { ...call, result: 5 },
      { ...call, error: 5 },
      { ...call, progress: 5 },
    ]
  ) assert.throws(() => replay(text({ calls: [call, wrong] })), fails('invalid_cassette', /call 2 lacks/))
  for (const [options, what] of [[{ redact: 'all' }, /redact/], [{ maxBytes: '10' }, /maxBytes/]] as const)
    assert.throws(() => record(options as never), fails('invalid_option', what))
  assert.throws(() => replay(text({}), { redact: 5 } as never), fails('invalid_option', /redact/))
})

test('in Chromium: recorded in a worker, replayed offline', async () => {
  const browser = await launchChromium()
  const site = await serveFolder(`${root}dist/npm`)
  const blank = await openPage(browser, `${site.url}/package.json`, /status of 400/)
  const script = (cassette: string) =>
    `(async () => {
    const [{ createRegistry }, { record, replay }] = await Promise.all([import('/index.js'), import('/cassette.js')])
    const cassette = ${cassette}
    const r = await createRegistry({ storage: 'memory', cassette, servers: { demo: { url: 'builtin:demo' }, s: { url: '${server.url}' } } })
    await r.discover()
    const texts = [await r.dispatch('demo__add', { a: 1, b: 2 }), await r.dispatch('s__raw', { n: 1 }), String(r.getTools().length)]
    const { mode } = r
    await r.close()
    const fetched = performance.getEntriesByType('resource').map((e) => new URL(e.name).pathname)
    return { texts, mode, fetched, text: cassette.text?.() }
  })()`
  interface Seen {
    texts: string[]
    mode: string
    fetched: string[]
    text?: string
  }
  const first = await blank.evaluate(script('record()')) as Seen
  assert.equal(first.mode, 'worker')
  await blank.close()
  const page = await openPage(browser, `${site.url}/package.json`)
  const second = await page.evaluate(script(`replay(${JSON.stringify(first.text)})`)) as Seen
  assert.deepEqual([second.mode, second.texts], ['replay', first.texts])
  assert.deepEqual(second.fetched.filter((f) => /wasm|worker/.test(f)), [])
  assert.deepEqual(page.faults, [])
  await browser.close()
  await site.close()
})

test('unknown options are refused by name', () => {
  assert.throws(() => record({ maxbytes: 1 } as never), fails('invalid_option', /"maxbytes" of record.*mean maxBytes/))
  assert.throws(() => replay('{}', { loose: 1 } as never), fails('invalid_option', /"loose" of replay.*redact/))
})
