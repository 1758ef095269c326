import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { connectRegistry, createRegistry, portChannel, RegistryError, serveRegistry } from '../../dist/npm/index.js'
import { Host } from '../../dist/npm/worker.js'
import type {
  Channel,
  PortLike,
  Registry,
  ElicitationAnswer,
  ElicitationRequest,
  RegistryOptions,
  StorageAdapter,
} from '../../wasm/js/shared/types.ts'
import { happens, listen } from '../rig/harness.ts'
import { faultServer, result, tool } from './servers/faultserver.ts'
import { sdkServer } from './servers/sdkserver.ts'

let server: Awaited<ReturnType<typeof sdkServer>>
before(async () => {
  server = await sdkServer()
})
after(() => server.close())

async function using(options: RegistryOptions, body: (r: Registry) => Promise<void>): Promise<void> {
  const registry = await createRegistry({ storage: 'memory', ...options })
  try {
    await body(registry)
  } finally {
    await registry.close()
  }
}

const fails = (code: string, text?: RegExp) => (e: unknown) => {
  assert.ok(e instanceof RegistryError, String(e))
  assert.equal(e.code, code, e.message)
  if (text) assert.match(`${e.message} ${e.hint}`, text)
  return true
}

test('bad options teach', async () => {
  for (
    const [options, code, text] of [
      [{ colour: 'red' }, 'invalid_option', /unknown option "colour".*Known are/],
      [{ constructor: 1 }, 'invalid_option', /unknown option "constructor"/],
      [{ mcpServers: {} }, 'invalid_option', /unknown option "mcpServers".*readConfig/],
      [{ signIn: { redirect: '/back' } }, 'invalid_option', /unknown option "redirect" of signIn/],
      [{ servers: { a: 'https://a.example/mcp' } }, 'invalid_config', /Write \{ url: "https:\/\/a.example\/mcp" \}/],
      [{ servers: { a: { url: 'https://a.example', type: 'http' } } }, 'invalid_config', /"type".*transport/],
      [{ servers: { a: { command: 'npx' } } }, 'invalid_config', /"command".*cannot start programs/],
      [{ servers: [{ url: 'builtin:demo' }] }, 'invalid_option', /by name/],
      [
        { servers: { a: { url: 'https://a.example', auth: { clientid: 'a' } } } },
        'invalid_config',
        /known are.*clientId/,
      ],
      [{ timeoutms: 1 }, 'invalid_option', /unknown option "timeoutms" Did you mean timeoutMs\? Known/],
      [{ limits: { page: 1 } }, 'invalid_option', /unknown limit "page" Did you mean pages\?/],
      [{ signIn: { redirectUri: '/back' } }, 'invalid_option', /of signIn Did you mean redirectUrl\?/],
      [{ mode: 'fast' }, 'invalid_option', /mode/],
      [{ proxy: 'https://p.example/' }, 'invalid_option', /\{href\}/],
      [{ proxy: 'ftp://p.example/?url={href}' }, 'invalid_option', /\{href\}/],
      [{ proxy: 'https://?url={href}' }, 'invalid_option', /\{href\}/],
      [{ timeoutMs: 'soon' }, 'invalid_option', /milliseconds/],
      [{ limits: { toes: 10 } }, 'invalid_option', /unknown limit/],
      [{ servers: { a: { url: 'not a url' } } }, 'invalid_config', /not valid/],
      [
        { servers: { a: { url: 'https://a.example', headers: { 'User-Agent': 'x' } } } },
        'invalid_config',
        /User-Agent/,
      ],
      [{ wasm: new Uint8Array([1, 2, 3]), servers: { demo: { url: 'builtin:demo' } } }, 'load_failed', /module/],
      [{ rememberSecrets: true }, 'invalid_option', /IndexedDB/],
      [null, 'invalid_option', /not an object/],
    ] as const
  ) {
    await assert.rejects(createRegistry(options as never), fails(code, text))
  }
})

test('discover finds servers whose addServer was not awaited', () =>
  using({}, async (r) => {
    const added = ['a', 'b'].map((name) => r.addServer(name, { url: server.url }))
    const { servers } = await r.discover()
    assert.deepEqual(Object.values(servers).map((s) => s.status), ['connected', 'connected'])
    await Promise.all(added)
  }))

test('bad configurations and calls teach', () =>
  using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
    await assert.rejects(
      r.addServer('x', { url: 'https://x.example', colour: 1 } as never),
      fails('invalid_config', /unknown field "colour"/),
    )
    await assert.rejects(r.addServer('x', { url: 1n } as never), fails('invalid_config', /the url is not a string/))
    await assert.rejects(
      r.addServer('x', { url: 'https://x.example', concurrency: Infinity }),
      fails('invalid_config', /concurrency is not a finite number/),
    )
    await assert.rejects(r.addServer(7 as never, { url: 'https://x.example' }), fails('invalid_config'))
    await assert.rejects(r.addServer('demo', { url: 'builtin:demo' }), fails('invalid_config', /exists/))
    await assert.rejects(r.updateServer('gone', {}), fails('unknown_server'))
    await assert.rejects(r.discover(['gone']), fails('unknown_server'))
    await assert.rejects(r.addServer('other', { url: 'builtin:other' }), fails('invalid_config', /be builtin:demo/))
    await r.discover()
    await assert.rejects(r.call('demo__nope', {}), fails('unknown_tool', /getTools/))
    await assert.rejects(r.call('demo__echo', 'not json'), fails('invalid_arguments'))
    await assert.rejects(r.call('demo__echo', '[1]'), fails('invalid_arguments'))
    assert.throws(() => r.toolsFor('ai-sdk', null as never), fails('invalid_option'))
    assert.equal(await r.dispatch('demo__echo', { toJSON: () => undefined }), await r.dispatch('demo__echo', {}))
    await assert.rejects(r.call('demo__echo', '{"text":"seen","text":"sent"}'), fails('invalid_arguments'))
    const unknown = (name: string, method: string) => fails('invalid_option', new RegExp(`"${name}" of ${method}`))
    const extra = { abortSignal: new AbortController().signal } as never
    await assert.rejects(r.call('demo__echo', {}, extra), unknown('abortSignal', 'call'))
    await assert.rejects(r.dispatch('demo__echo', {}, extra), unknown('abortSignal', 'call'))
    await assert.rejects(r.call('demo__echo', {}, null as never), fails('invalid_option', /options of call/))
    await assert.rejects(r.discover(['demo'], extra), unknown('abortSignal', 'discover'))
    await assert.rejects(r.discover('demo' as never), fails('invalid_option', /names is not an array/))
    await assert.rejects(r.signIn('demo', extra), unknown('abortSignal', 'signIn'))
    await assert.rejects(r.readResult('x', { from: 1 } as never), unknown('from', 'readResult'))
    await assert.rejects(r.approveTools('demo', 'echo' as never), fails('invalid_option', /tools is not an array/))
    assert.throws(() => r.getTools('anthropic' as never), fails('invalid_option', /not an object.*format/))
    assert.throws(() => r.getTools({ dialect: 'gemini' } as never), unknown('dialect', 'getTools'))
    assert.throws(() => r.getTools({ servers: 'demo' as never }), fails('invalid_option', /servers is not an array/))
    const wrong = (what: string) => fails('invalid_option', new RegExp(`${what} is not`))
    const meant = (name: string) => fails('invalid_option', new RegExp(`Did you mean ${name}\\?`))
    await assert.rejects(r.call('demo__echo', {}, extra), meant('signal'))
    await assert.rejects(r.call('demo__echo', {}, { timeout: 1 } as never), meant('timeoutMs'))
    assert.throws(() => r.getTools({ formats: 'gemini' } as never), meant('format'))
    await assert.rejects(r.call('demo__echo', {}, { signal: {} } as never), wrong('signal'))
    await assert.rejects(r.discover(['demo'], { signal: 'x' } as never), wrong('signal'))
    await assert.rejects(r.signIn('demo', { signal: {} } as never), wrong('signal'))
    await assert.rejects(r.call('demo__echo', {}, { onProgress: 5 } as never), wrong('onProgress'))
    await assert.rejects(r.call('demo__echo', {}, { timeoutMs: '5' } as never), wrong('timeoutMs'))
    for (const attempts of ['2', 0, 1.5, -1, NaN])
      await assert.rejects(r.call('demo__echo', {}, { attempts } as never), wrong('attempts'))
    const cyclic: Record<string, unknown> = {}
    cyclic['baggage'] = cyclic
    for (const trace of ['x', { traceparent: 5 }, cyclic])
      await assert.rejects(r.call('demo__echo', {}, { trace } as never), wrong('trace'))
    await assert.rejects(r.logs({ level: 'loud' } as never), wrong('level'))
    await assert.rejects(r.prompts(null as never), fails('invalid_option', /the options of prompts/))
    await assert.rejects(r.complete(undefined as never), fails('invalid_option', /the options of complete/))
    await assert.rejects(r.suggest('x', { model: {} } as never), wrong('model'))
    assert.throws(() => r.view({ extra: {} as never }), fails('invalid_config', /the tools are not an array/))
    assert.equal(await r.dispatch('demo__add', { a: 1, b: 1 }), '2', 'the registry still works')
    const circular: Record<string, unknown> = {}
    circular.self = circular
    await assert.rejects(r.call('demo__echo', circular), fails('invalid_arguments'))
    assert.throws(() => r.getTools({ format: 'smoke signals' as never }), fails('invalid_option', /openai/))
    const noJSON = fails('invalid_config', /no JSON.*plain objects/)
    const large = { url: 'https://x.example', headers: { a: 5n } } as never
    await assert.rejects(r.addServer('x', large), noJSON)
    await assert.rejects(r.updateServer('demo', { concurrency: 5n } as never), noJSON)
    await assert.rejects(createRegistry({ storage: 'memory', servers: { x: large } }), noJSON)
    await assert.rejects(r.setRoots([{ uri: 'file:///x', name: 5n }] as never), fails('invalid_option', /no JSON/))
    assert.equal(r.has(Symbol('demo__echo') as never), false)
    assert.equal(r.view().has(Symbol('demo__echo') as never), false)
    await assert.rejects(r.view().call(Symbol('demo__echo') as never, {}), fails('not_offered'))
    const signal = { aborted: false, addEventListener() {}, removeEventListener() {} } as never
    for (const one of [r, r.view()]) await assert.rejects(one.call('demo__echo', {}, { signal }), wrong('signal'))
    assert.equal(await r.dispatch('demo__echo', { text: 'own' }, { signal: new AbortController().signal }), 'own')
    await r.setEnabled('demo', false)
    assert.equal(r.has('demo__echo'), false)
    await assert.rejects(r.call('demo__echo', {}), fails('disabled', /setEnabled/))
  }))

test('the demo shows all that a tool can do', () =>
  using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
    assert.equal(r.getSnapshot().status, 'idle')
    const snapshot = await r.discover()
    assert.equal(snapshot.status, 'ready')
    assert.equal(snapshot, r.getSnapshot())
    assert.deepEqual(
      r.getTools().map((t) => t.function.name),
      ['echo', 'add', 'count', 'picture', 'weather', 'fail', 'ask'].map((n) => `demo__${n}`),
    )
    assert.match(r.getTools()[0]!.function.description, /^\[demo\] /)
    assert.equal(await r.dispatch('demo__add', { a: 2, b: 0.5 }), '2.5')
    const progress: number[] = []
    await r.call('demo__count', { to: 3, delayMs: 1 }, { onProgress: (p) => progress.push(p.progress) })
    assert.deepEqual(progress, [1, 2, 3])
    const picture = await r.call('demo__picture', {})
    assert.equal(picture.content[1]!.type, 'image')
    assert.match(picture.text, /\[image: image\/png/)
    const weather = await r.call('demo__weather', { city: 'Palma' })
    assert.deepEqual(weather.structuredContent, { city: 'Palma', celsius: 21.5, sky: 'clear' })
    assert.equal(weather.text.match(/Palma/g)!.length, 1, 'content or structuredContent, not both')
    const failed = await r.call('demo__fail', { reason: 'storm' })
    assert.ok(failed.isError && /storm/.test(failed.text))
  }))
test('arguments keep their digits', () =>
  using({ servers: { s: { url: server.url } } }, async (r) => {
    await r.discover()
    const text = await r.dispatch('s__raw', '{"n":123456789012345678901234567890}')
    assert.match(text, /123456789012345678901234567890/)
  }))

test('an abort reaches the server', () =>
  using({ servers: { s: { url: server.url } } }, async (r) => {
    await r.discover()
    server.calls.length = 0
    const hears = (call: string) => happens(() => server.calls.includes(call))
    const stop = new AbortController()
    const aborted = assert.rejects(r.call('s__wait', {}, { signal: stop.signal }), fails('aborted'))
    await hears('wait')
    stop.abort()
    await aborted
    await hears('cancelled')
    assert.equal(r.getHealth().s!.consecutiveFailures, 0)
  }))

test('a call ends with its server', async () => {
  for (
    const [code, end] of [
      ['server_removed', (r) => r.removeServer('demo')],
      ['disabled', (r) => r.setEnabled('demo', false)],
      ['server_removed', (r) => r.updateServer('demo', { url: 'https://elsewhere.invalid/mcp' })],
      ['closed', (r) => r.close()],
    ] as [string, (r: Registry) => Promise<void>][]
  ) {
    await using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
      await r.discover()
      const { promise: runs, resolve: isRunning } = Promise.withResolvers<void>()
      const call = r.call('demo__count', { to: 1000, delayMs: 100 }, { onProgress: () => isRunning() })
      call.catch(() => {})
      await runs
      await end(r)
      await assert.rejects(call, fails(code))
    })
  }
})

test('a call ends with its deadline', () =>
  using({ servers: { s: { url: server.url } } }, async (r) => {
    await r.discover()
    await assert.rejects(r.call('s__wait', {}, { timeoutMs: 200 }), fails('timeout'))
  }))

test('progress keeps an idle deadline away', () =>
  using({ servers: { s: { url: server.url } }, idleTimeoutMs: 1500 }, async (r) => {
    await r.discover()
    const seen: number[] = []
    assert.equal(
      await r.dispatch('s__steps', { steps: 6, everyMs: 300 }, { onProgress: (p) => seen.push(p.progress) }),
      'done',
    )
    assert.equal(seen.length, 6)
  }))

test('configurations persist; header values do not', async () => {
  const kept = new Map<string, string>()
  const storage: StorageAdapter = {
    get: (k) => kept.get(k),
    set: (k, v) => void kept.set(k, v),
    remove: (k) => void kept.delete(k),
  }
  await using({ storage, servers: { given: { url: 'builtin:demo' } } }, async (r) => {
    await r.addServer('s', { url: server.url, headers: { Authorization: 'Bearer canary' }, tools: { deny: ['wait'] } })
    await r.addServer('gone', { url: 'builtin:demo' })
    await r.removeServer('gone')
    await r.discover()
    assert.ok(server.headers.some((h) => h.authorization === 'Bearer canary'))
    assert.ok(!JSON.stringify(r.getSnapshot()).includes('canary'))
    assert.equal(r.getSnapshot().servers.s!.config.headers!.Authorization, '[redacted]')
  })
  const text = [...kept.values()].join()
  assert.ok(!text.includes('canary') && text.includes('Authorization'), text)
  await using({ storage }, async (r) => {
    assert.deepEqual(Object.keys(r.getSnapshot().servers), ['s'])
    await r.discover()
    assert.equal(r.has('s__wait'), false)
    assert.equal(r.has('s__raw'), true)
    assert.deepEqual(r.getSnapshot().withheld.map((t) => [t.name, t.tool, t.definition.name]), [[
      's__wait',
      'wait',
      'wait',
    ]])
  })
})

test('W16: tools that the configuration leaves out are known, and cannot be called', () =>
  using({ servers: { demo: { url: 'builtin:demo' }, s: { url: server.url } } }, async (r) => {
    await r.discover()
    assert.deepEqual(r.getSnapshot().withheld, [])
    const all = r.getSnapshot().tools
    const { port1, port2 } = new MessageChannel()
    const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
    const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
    for (const name of ['demo', 's']) {
      await far.updateServer(name, { tools: { deny: ['wait', 'echo'] } })
      for (const one of [r, far]) {
        const { tools, withheld } = one.getSnapshot()
        const [left] = withheld.filter((t) => t.server === name)
        assert.deepEqual(left, all.find((t) => t.name === left!.name))
        assert.equal(tools.length + withheld.length, all.length)
        assert.equal(one.has(left!.name), false)
        assert.ok(!JSON.stringify(one.getTools()).includes(left!.name))
        await assert.rejects(one.call(left!.name, {}), fails('unknown_tool'))
      }
    }
    await r.updateServer('s', { tools: { allow: [] } })
    assert.deepEqual(r.getSnapshot().withheld.filter((t) => t.server === 's').map((t) => t.tool), [
      'raw',
      'wait',
      'steps',
    ])
    await r.updateServer('s', { tools: undefined, enabled: false })
    await r.updateServer('demo', { tools: undefined })
    await r.setEnabled('s', true)
    assert.deepEqual(r.getSnapshot().withheld, [])
    assert.deepEqual(r.getSnapshot().tools, all)
    stop()
    port1.close()
  }))

test('closing waits until a slow storage has everything', async () => {
  const kept = new Map<string, string>()
  const slow: StorageAdapter = {
    get: (k) => kept.get(k),
    set: async (k, v) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      kept.set(k, v)
    },
    remove: (k) => void kept.delete(k),
  }
  const first = await createRegistry({ storage: slow })
  await first.addServer('late', { url: 'builtin:demo', enabled: false })
  await first.addServer('later', { url: 'builtin:demo', enabled: false })
  await first.close()
  const second = await createRegistry({ storage: slow })
  assert.deepEqual(Object.keys(second.getSnapshot().servers), ['late', 'later'])
  await second.close()
})

test('a rename is one write: a tab that ends at any moment leaves the server once', async () => {
  const kept = new Map<string, string>(), names: string[] = []
  const storage: StorageAdapter = {
    get: (k) => kept.get(k),
    set: (k, v) => {
      kept.set(k, v)
      if (k === 'portolan.servers') names.push(Object.keys(JSON.parse(v).servers).join())
    },
    remove: (k) => void kept.delete(k),
  }
  const r = await createRegistry({ storage })
  await r.addServer('one', { url: 'builtin:demo', enabled: false })
  await r.renameServer('one', 'two')
  assert.deepEqual(names, ['one', 'two'])
  await r.close()
})

test('a server that is renamed keeps the remembered answers about its tools', () => {
  let asked = 0
  const onApprove = () => (asked++, 'always' as const)
  return using({ servers: { one: { url: 'builtin:demo' } }, onApprove }, async (r) => {
    await r.discover()
    await r.call('one__echo', { text: 'x' })
    await r.renameServer('one', 'two')
    assert.deepEqual((await r.approvals()).map((a) => a.server), ['two'])
    await r.discover()
    await r.call('two__echo', { text: 'x' })
    assert.equal(asked, 1)
    await r.forgetApprovals('two')
    assert.deepEqual(await r.approvals(), [])
  })
})

for (const onApprove of [undefined, () => assert.fail('nobody is asked about a call that cannot be made')]) {
  test(`a call says why its tool is gone, ${onApprove ? 'with' : 'without'} onApprove`, async (t) => {
    let description = 'Says it.'
    const faulty = await faultServer({
      on: {
        'tools/list': (a) =>
          description ? result(a, { tools: [{ ...tool('say'), description }] }) : a.res.writeHead(500).end(),
      },
    })
    t.after(() => faulty.close())
    const limits = { failureThreshold: 1, cooldownMs: 3_600_000 }
    await using({ servers: { s: { url: faulty.url } }, ...limits, ...(onApprove && { onApprove }) }, async (r) => {
      const call = () => r.call('s__say', {})
      await r.discover()
      description = 'Says it louder.'
      await r.discover()
      await assert.rejects(call(), fails('held', /approveTools/))
      await r.approveTools('s')
      description = ''
      await r.discover()
      await assert.rejects(call(), fails('suspended', /retry/))
      await r.setEnabled('s', false)
      await assert.rejects(call(), fails('disabled', /setEnabled/))
      await r.removeServer('s')
      await assert.rejects(call(), fails('unknown_tool', /getTools/))
      await r.close()
      await assert.rejects(call(), fails('closed'))
    })
    assert.equal(faulty.seen['tools/call'], undefined, 'no call was sent')
  })
}

test("a question has the caller's own name of the call, also through connectRegistry", async () => {
  const asked: unknown[] = []
  const onElicitation = ({ callId }: ElicitationRequest): ElicitationAnswer => {
    asked.push(callId)
    return { action: 'decline' }
  }
  await using({ servers: { demo: { url: 'builtin:demo' } }, onElicitation }, async (r) => {
    await r.discover()
    const { port1, port2 } = new MessageChannel()
    const stop = serveRegistry(r, portChannel(port1 as PortLike))
    const far = await connectRegistry(portChannel(port2 as PortLike))
    const { readResource, getPrompt } = r
    Object.assign(r, {
      readResource: (
        ...args: Parameters<Registry['readResource']>
      ) => (asked.push(args[2]?.callId), readResource.apply(r, args)),
      getPrompt: (
        ...args: Parameters<Registry['getPrompt']>
      ) => (asked.push(args[2]?.callId), getPrompt.apply(r, args)),
    })
    await far.call('demo__ask', {}, { callId: 'call' })
    await far.call('demo__ask', {}, { callId: 7 })
    await far.readResource('demo', 'demo://harbour', { callId: 'read' })
    await far.getPrompt('demo__greet', { who: 'Ada' }, { callId: 'prompt' })
    stop()
    port1.close()
  })
  assert.deepEqual(asked, ['call', 7, 'read', 'prompt'])
})

test('an observer of logs that comes after another one gets each message once', () =>
  using({ servers: { s: { url: server.url } } }, async (r) => {
    await r.discover()
    for (const visit of [1, 2, 3]) {
      const texts: string[] = []
      const last = Promise.withResolvers<void>()
      const stop = r.observe(({ log }) => {
        if (!log) return
        texts.push(log.text)
        if (log.text === 'ebb') last.resolve()
      }, { logs: true })
      await r.logs() // it comes after the request for messages
      await r.call('s__steps', { log: `flood ${visit}` })
      await r.call('s__steps', { log: 'ebb' })
      await last.promise
      stop()
      assert.deepEqual(texts, [`flood ${visit}`, 'ebb'])
    }
  }))

test('two registries on one slow storage keep the servers of both', async () => {
  const kept = new Map<string, string>()
  const storage = {
    get: async (key: string) => (await setImmediate(), kept.get(key)),
    set: async (key: string, value: string) => (await setImmediate(), void kept.set(key, value)),
    remove: async (key: string) => void kept.delete(key),
  }
  const registries = await Promise.all([1, 2, 3].map(() => createRegistry({ storage })))
  const config = { url: 'https://a.example/mcp', enabled: false }
  await Promise.all(registries.flatMap((r, i) => [r.addServer(`a${i}`, config), r.addServer(`b${i}`, config)]))
  await Promise.all(registries.map((r) => r.close()))
  const { servers } = JSON.parse(kept.get('portolan.servers')!) as { servers: object }
  assert.deepEqual(Object.keys(servers).sort(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2'])
})

test('a Storage of the platform will do as storage', async () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (k: string) => kept.get(k) ?? null,
    setItem: (k: string, v: string) => void kept.set(k, v),
    removeItem: (k: string) => void kept.delete(k),
  }
  await using({ storage }, (r) => r.addServer('s', { url: 'builtin:demo' }))
  await using({ storage }, async (r) => assert.deepEqual(Object.keys(r.getSnapshot().servers), ['s']))
  await assert.rejects(createRegistry({ storage: {} as never }), fails('invalid_option', /storage/))
})

test('whatever stands in the storage, a registry starts and says what it dropped', async () => {
  const good = { url: 'builtin:demo' }
  for (
    const [key, text, warning] of [
      ['portolan.servers', JSON.stringify({ version: 1, servers: { a: null, good } }), /"a"/],
      ['portolan.servers', JSON.stringify({ version: 1, servers: { a: { url: 'nowhere' }, good } }), /"a" is left out/],
      [
        'portolan.servers',
        JSON.stringify({ version: 1, servers: { a: { ...good, timeoutMs: 'x' }, good } }),
        /"a" is left/,
      ],
      ['portolan.servers', JSON.stringify({ version: 1, servers: { toString: good, good } }), /"toString" is left out/],
      ['portolan.pins', '5', /portolan\.pins\.damaged/],
      ['portolan.pins', '[]', /portolan\.pins\.damaged/],
      ['portolan.pins', '"x"', /portolan\.pins\.damaged/],
      ['portolan.approvals', '[null]', /portolan\.approvals\.damaged/],
      ['portolan.hints', '\t\t\t\t\n\u0000x', undefined],
    ] as [string, string, RegExp | undefined][]
  ) {
    const kept = new Map([['portolan.servers', JSON.stringify({ version: 1, servers: { good } })], [key, text]])
    const storage: StorageAdapter = {
      get: (k) => kept.get(k),
      set: (k, v) => void kept.set(k, v),
      remove: (k) => void kept.delete(k),
    }
    await using({ storage, onApprove: () => 'once' as const }, async (r) => {
      await r.discover()
      assert.equal(await r.dispatch('good__add', { a: 1, b: 1 }), '2')
      const { warnings = [], servers } = r.getSnapshot()
      assert.deepEqual(Object.keys(servers), ['good'], text)
      if (warning) assert.match(warnings.join(), warning)
      else assert.deepEqual(warnings, [])
    })
    if (warning?.source.includes('damaged')) assert.equal(kept.get(`${key}.damaged`), text)
    else assert.ok(kept.get('portolan.servers')!.includes('"good"'))
  }
})

test('servers in a layout of a newer version are kept aside, and what can be read of them is used', async () => {
  const config = { url: 'https://a.example/mcp', enabled: false }
  for (const project of [undefined, 'p'])
    for (const newer of [{ servers: { a: config }, groups: ['b'] }, { list: [config] }]) {
      const text = JSON.stringify({ version: 2, ...newer })
      const kept = new Map([['portolan.servers', text], ['portolan.servers.newer', 'earlier']])
      const storage: StorageAdapter = {
        get: (k) => kept.get(k),
        set: (k, v) => void kept.set(k, v),
        remove: (k) => void kept.delete(k),
      }
      await using({ storage, ...(project && { project }) }, async (r) => {
        const { warnings = [], servers } = r.getSnapshot()
        assert.deepEqual(Object.keys(servers), 'list' in newer ? [] : ['a'])
        assert.match(warnings.join(), /newer version.*kept under portolan\.servers\.newer/)
        await r.addServer('c', config)
      })
      assert.equal(kept.get('portolan.servers.newer'), text)
      assert.deepEqual(
        Object.keys(JSON.parse(kept.get('portolan.servers')!).servers),
        'list' in newer ? ['c'] : ['a', 'c'],
      )
    }
})

test('W16: a question reaches the host without hidden characters, and cut', async () => {
  const asked: string[] = []
  const onElicitation: RegistryOptions['onElicitation'] = ({ message }) => {
    asked.push(message)
    return { action: 'accept', content: { name: 'Ada' } }
  }
  const asks = await sdkServer([{ name: 'ask', inputSchema: { type: 'object' } }])
  try {
    await using({ servers: { s: { url: asks.url } }, onElicitation }, async (r) => {
      await r.discover()
      assert.equal(await r.dispatch('s__ask', { message: 'who \u001b[31mare\u202e you\u200b?\nreally' }), 'Ada')
      assert.equal(await r.dispatch('s__ask', { message: 'x'.repeat(20_000) }), 'Ada')
    })
  } finally {
    await asks.close()
  }
  assert.equal(asked[0], 'who are you?\nreally')
  assert.equal(asked[1]!.length < 9000, true)
})

test('the metadata of a result reaches the caller, and an error has the data of the server', async () => {
  const server = await listen(async (req, res) => {
    let body = ''
    for await (const chunk of req) body += chunk
    const { id, method, params } = JSON.parse(body || '{}')
    if (id === undefined) return void res.writeHead(202).end()
    const outcome = method === 'initialize'
      ? {
        result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
      }
      : method === 'tools/list'
      ? { result: { tools: ['fine', 'wrong'].map((name) => ({ name, inputSchema: { type: 'object' } })) } }
      : params?.name === 'fine'
      ? { result: { content: [], _meta: { 'example/cost': { cents: 7 } } } }
      : { error: { code: -32042, message: 'no', data: { elicitations: [{ url: 'https://pay.example/' }] } } }
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
  })
  await using({ servers: { s: { url: server.url } } }, async (r) => {
    await r.discover()
    assert.deepEqual((await r.call('s__fine', {}))._meta, { 'example/cost': { cents: 7 } })
    await assert.rejects(r.call('s__wrong', {}), {
      code: 'server_error',
      rpc: { code: -32042, data: { elicitations: [{ url: 'https://pay.example/' }] } },
    })
  })
  await server.close()
})

test('calls beyond the concurrency wait for their turn, and their deadlines with them', async () => {
  await using({ servers: { demo: { url: 'builtin:demo', concurrency: 2 } } }, async (r) => {
    await r.discover()
    assert.equal(r.getSnapshot().servers['demo']!.config.concurrency, 2)
    // Each takes 0.4 s of its 2 s. The last one begins after 2 s.
    const began = performance.now()
    const count = (signal?: AbortSignal) =>
      r.dispatch('demo__count', { to: 2, delayMs: 200 }, { timeoutMs: 2000, ...(signal && { signal }) })
    const calls = Array.from({ length: 12 }, () => count())
    const stop = new AbortController()
    const never = count(stop.signal)
    stop.abort()
    await assert.rejects(never, { code: 'aborted' })
    assert.deepEqual(await Promise.all(calls), Array(12).fill('counted to 2'))
    assert.ok(performance.now() - began > 2300, 'two at a time')
    for (const concurrency of [0, 1.5, 2000, 'x' as never])
      await assert.rejects(r.updateServer('demo', { concurrency }), { code: 'invalid_config' })
  })
})

test('a question stops the deadlines of its call, and ends with it', async () => {
  const asks = await sdkServer([{ name: 'ask', inputSchema: { type: 'object' } }])
  const questions: ElicitationRequest[] = []
  let answer: (q: ElicitationRequest) => Promise<ElicitationAnswer>
  const options: RegistryOptions = {
    servers: { s: { url: asks.url } },
    callTimeoutMs: 2000,
    idleTimeoutMs: 2000,
    elicitationTimeoutMs: 5000,
    onElicitation: (q) => (questions.push(q), answer(q)),
  }
  const ended = (q: ElicitationRequest) =>
    new Promise<ElicitationAnswer>((_, reject) => q.signal.addEventListener('abort', () => reject(new Error('over'))))
  try {
    await using(options, async (r) => {
      const ids: number[] = []
      r.observe((a) => a.phase === 'begin' && a.kind === 'call' && ids.push(a.id))
      await r.discover()
      // Longer than both deadlines of a call.
      answer = () => new Promise((resolve) => setTimeout(resolve, 2500, { action: 'accept', content: { name: 'Ada' } }))
      assert.equal(await r.dispatch('s__ask', {}), 'Ada')
      assert.deepEqual([questions[0]!.server, questions[0]!.tool, questions[0]!.callId], ['s', 'ask', ids[0]])

      answer = ended // nobody answers in time: the server gets cancel
      assert.equal(await r.dispatch('s__ask', {}), 'undefined')
      assert.equal(questions[1]!.signal.aborted, true)

      answer = async () => ({ action: 'accept', content: { name: 7 } })
      await assert.rejects(r.dispatch('s__ask', {}), /could not be asked/)

      const stop = new AbortController()
      answer = (q) => (stop.abort(), ended(q))
      await assert.rejects(r.dispatch('s__ask', {}, { signal: stop.signal }), fails('aborted'))
      await happens(() => questions[3]!.signal.aborted)

      answer = () => Promise.reject(undefined) // a dialog that was closed
      await assert.rejects(r.dispatch('s__ask', {}), /could not be asked/)
      assert.equal(r.getSnapshot().servers['s']!.consecutiveFailures, 0)
    })
  } finally {
    await asks.close()
  }
})

test('two registries in one realm know nothing of each other, and leave no globals', async () => {
  const before = Object.getOwnPropertyNames(globalThis).sort()
  await using(
    { servers: { a: { url: 'builtin:demo' } } },
    (a) =>
      using({ servers: { b: { url: 'builtin:demo' } } }, async (b) => {
        await Promise.all([a.discover(), b.discover()])
        assert.ok(a.has('a__echo') && !a.has('b__echo') && b.has('b__echo'))
        assert.deepEqual(
          await Promise.all([a.dispatch('a__echo', { text: '1' }), b.dispatch('b__echo', { text: '2' })]),
          ['1', '2'],
        )
      }),
  )
  assert.deepEqual(Object.getOwnPropertyNames(globalThis).sort(), before)
})

test('a start that is aborted late ends its host at once, which has to know the page', async () => {
  const ends = new AbortController(), posted: string[] = []
  class Aborted {
    static async load(...how: Parameters<typeof Host.load>) {
      const host = await Host.load(...how) as { open(): Channel }
      const open = host.open.bind(host)
      host.open = () => {
        const channel = open(), { post } = channel
        channel.post = (m) => {
          posted.push((m as { method: string }).method)
          post(m)
        }
        return channel
      }
      ends.abort()
      return host
    }
  }
  await assert.rejects(
    createRegistry({ host: Aborted, signal: ends.signal, servers: { demo: { url: 'builtin:demo' } } }),
    fails('aborted'),
  )
  assert.deepEqual(posted, ['attach', 'close'])
})

test('a closed registry says so', async () => {
  const r = await createRegistry({ storage: 'memory', servers: { s: { url: server.url } } })
  await r.discover()
  const late = r.call('s__wait', {})
  late.catch(() => {})
  await r.close()
  await assert.rejects(late, fails('closed'))
  await assert.rejects(r.discover(), fails('closed'))
  await r.close()
})

test('a closed registry has no tools, its servers say that it is closed, and listeners hear it', async () => {
  const r = await createRegistry({ storage: 'memory', servers: { s: { url: server.url } } })
  await r.addServer('off', { url: 'builtin:demo', enabled: false })
  await r.addTools('page', [{ name: 'wait', run: () => new Promise(() => {}) }])
  await r.discover()
  const running = r.call('page__wait', {})
  running.catch(() => {})
  const heard = new Promise<void>((resolve) => {
    r.subscribe(() => r.getSnapshot().tools.length || resolve())
  })
  await r.close()
  await heard
  await assert.rejects(running, fails('closed'))
  const { tools, servers } = r.getSnapshot()
  assert.deepEqual([tools, r.getTools(), r.has('s__raw')], [[], [], false])
  assert.deepEqual([servers.s!.status, servers.s!.errorCode, servers.s!.toolCount], ['error', 'closed', 0])
  assert.equal(servers.off!.status, 'disabled')
  await assert.rejects(r.addTools('page', [{ name: 'late', run: () => '' }]), fails('closed'))
  assert.equal(r.has('page__late'), false)
})

test('the same registry at the other end of a port', () =>
  using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
    const { port1, port2 } = new MessageChannel()
    const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
    const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
    assert.equal(far.mode, 'remote')
    let changes = 0
    far.subscribe(() => {
      changes++
    })
    await far.discover()
    assert.deepEqual(far.getTools(), r.getTools())
    assert.ok(changes > 0)
    assert.equal(await far.dispatch('demo__echo', { text: 'far' }), 'far')
    const steps: number[] = []
    await far.call('demo__count', { to: 2, delayMs: 1 }, { onProgress: (p) => steps.push(p.progress) })
    assert.deepEqual(steps, [1, 2])
    await far.addServer('two', { url: 'builtin:demo' })
    assert.ok(r.getSnapshot().servers.two)
    await r.removeServer('demo')
    while (far.has('demo__echo')) await new Promise<void>((changed) => far.subscribe(changed))
    await assert.rejects(far.call('demo__echo', {}), fails('unknown_tool'))
    await far.close()
    stop()
    port1.close()
  }))

test('a registry at the other end that closes ends its calls, and is sent nothing any more', () =>
  using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
    await r.discover()
    const { port1, port2 } = new MessageChannel()
    const channel = portChannel(port1 as unknown as PortLike)
    let sent = 0
    const { post } = channel
    channel.post = (message) => {
      sent++
      post(message)
    }
    serveRegistry(r, channel)
    const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
    const closed = once(port1, 'close')
    const running = far.call('demo__count', { to: 1000, delayMs: 20 }, { onProgress: () => void far.close() })
    await assert.rejects(running, fails('closed'))
    await closed
    const before = sent
    await r.addServer('two', { url: 'builtin:demo' })
    while (!r.has('two__echo')) await new Promise<void>((changed) => r.subscribe(changed))
    await setImmediate()
    assert.equal(sent, before)
  }))

test('pins that come after their list reach the other end of a port', () =>
  using({}, async (r) => {
    const { port1, port2 } = new MessageChannel()
    const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
    const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
    const pins = (one: Registry) => one.getSnapshot().tools.map((t) => t.pin ?? '')
    const pinned = (one: Registry) =>
      new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`the pins are ${JSON.stringify(pins(one))}`)), 5000)
        one.subscribe(() => {
          if (!pins(one).length || pins(one).includes('')) return
          clearTimeout(late)
          resolve()
        })
      })
    const both = Promise.all([pinned(r), pinned(far)])
    await r.discover()
    await r.addServer('s', { url: server.url }) // it is listed by itself
    await both
    assert.deepEqual(pins(far), pins(r))
    stop()
    port1.close()
  }))

test('a registry that is served no more refuses the requests of the other end, and ends those that run', () =>
  using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
    await r.discover()
    const { port1, port2 } = new MessageChannel()
    const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
    const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
    const running = far.call('demo__count', { to: 100, delayMs: 20 }, { onProgress: () => stop() })
    await assert.rejects(running, fails('closed', /not served/))
    await assert.rejects(far.discover(), fails('closed', /not served/))
    await far.close()
    port1.close()
  }))

test('what is no channel is refused, a port that was not wrapped too', async () => {
  const { port1 } = new MessageChannel()
  for (const channel of [port1, null, undefined, {}, 'x', 7])
    await assert.rejects(connectRegistry(channel as never), fails('invalid_option', /portChannel/))
  const r = await createRegistry({ storage: 'memory' })
  for (const channel of [port1, null, undefined, {}, 'x', 7])
    assert.throws(() => serveRegistry(r, channel as never), fails('invalid_option', /portChannel/))
  for (const port of [null, undefined, {}, 'x', 7])
    assert.throws(() => portChannel(port as never), fails('invalid_option', /MessagePort/))
  await r.close()
  port1.close()
})

test('a listener that is no function and a patch that is no object are refused at once', () =>
  using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
    for (const listener of [undefined, null, 'x', {}])
      for (const listen of [r.subscribe, r.observe])
        assert.throws(() => listen(listener as never), fails('invalid_option', /listener is not a function/))
    await r.addTools('page', [{ name: 'a', run: () => '' }])
    for (const name of ['demo', 'page']) {
      for (const patch of [undefined, null, 5, '', true, Promise.resolve({ enabled: false })])
        await assert.rejects(r.updateServer(name, patch as never), fails('invalid_config', /not an object/))
    }
    await assert.rejects(r.updateServer('demo', { url: undefined }), fails('invalid_config'))
  }))

test('forgetting the approvals of a server without a name forgets none, at the other end of a port too', () =>
  using({ servers: { demo: { url: 'builtin:demo' } }, onApprove: () => 'always' }, async (r) => {
    await r.discover()
    await r.call('demo__echo', { text: 'x' })
    const { port1, port2 } = new MessageChannel()
    const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
    const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
    for (const one of [r, far]) {
      await one.forgetApprovals('')
      for (const wrong of [null, 5]) await assert.rejects(one.forgetApprovals(wrong as never), fails('invalid_config'))
    }
    assert.equal((await r.approvals()).length, 1)
    await far.forgetApprovals()
    assert.deepEqual(await r.approvals(), [])
    await far.close()
    stop()
    port1.close()
  }))

test('what the storage has lost is known at the other end of a port, too', () => {
  let text = '{'
  const storage: StorageAdapter = {
    get: (key) => (key === 'portolan.servers' ? text : undefined),
    set: (key, value) => {
      if (value.includes('full')) throw new Error('the disk is full')
      if (key === 'portolan.servers') text = value
    },
    remove: () => {},
  }
  return using({ storage }, async (r) => {
    const { port1, port2 } = new MessageChannel()
    const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
    const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
    assert.match(String(far.getSnapshot().warnings), /damaged/)
    await far.addServer('full', { url: 'builtin:demo' })
    assert.match(String(far.getSnapshot().warnings), /damaged.*the disk is full/)
    assert.deepEqual(far.getSnapshot().warnings, r.getSnapshot().warnings)
    await far.close()
    stop()
    port1.close()
  })
})

test('an app that empties the list of a snapshot takes no tools from models', () =>
  using({ servers: { demo: { url: 'builtin:demo' } } }, async (r) => {
    await r.discover()
    r.getSnapshot().tools.length = 0
    assert.ok(r.has('demo__echo'))
    assert.ok(r.getTools().some((tool) => tool.function.name === 'demo__echo'))
    assert.ok(r.view().tools.some((tool) => tool.name === 'demo__echo'))
    assert.equal(await r.dispatch('demo__echo', { text: 'here' }), 'here')
  }))

test('W11, W15: snapshots are stable, and listeners hear of each change', () =>
  using({}, async (r) => {
    let heard = 0
    const stop = r.subscribe(() => {
      heard++
    })
    const first = r.getSnapshot()
    assert.equal(r.getSnapshot(), first)
    await r.addServer('demo', { url: 'builtin:demo' })
    await Promise.resolve()
    assert.ok(heard > 0)
    assert.notEqual(r.getSnapshot(), first)
    assert.ok(r.getSnapshot().version > first.version)
    stop()
    const before = heard
    await r.removeServer('demo')
    assert.equal(heard, before)
  }))

test('a list that is read again and is the same is no news', async () => {
  const tools: unknown[] = [{ name: 'a', description: 'one', inputSchema: { type: 'object' } }]
  const server = await sdkServer(tools)
  await using({ servers: { s: { url: server.url } } }, async (r) => {
    const read = async () => (await r.discover()).tools
    const lists = [await read(), await read(), await read()]
    assert.deepEqual(lists[2], lists[0])
    assert.equal(lists[2]![0], lists[1]![0], 'the same object')
    assert.equal(server.methods.filter((m) => m === 'tools/list').length, 3)

    await r.updateServer('s', { tools: { deny: ['raw'] } })
    assert.deepEqual((await read()).map((t) => t.tool), ['wait', 'steps', 'a'])
    await r.updateServer('s', { tools: null as never })
    assert.deepEqual(await read(), lists[0])
    tools.push({ name: 'b', inputSchema: { type: 'object' } })
    assert.equal((await read()).length, 5)
    tools[0] = { name: 'a', description: 'two', inputSchema: { type: 'object' } }
    assert.deepEqual([(await read()).map((t) => t.tool), r.getSnapshot().held.map((t) => t.tool)], [[
      'raw',
      'wait',
      'steps',
      'b',
    ], ['a']])
    await r.approveTools('s')
    assert.deepEqual((await read()).find((t) => t.tool === 'a')!.definition.description, 'two')
    await r.setEnabled('s', false)
    assert.deepEqual(r.getSnapshot().tools, [])
    await r.setEnabled('s', true)
    assert.equal((await read()).length, 5)
    await r.removeServer('s')
    await r.addServer('s', { url: server.url })
    assert.equal((await read()).length, 5)
  })
  await server.close()
})

test('discover() right after many addServer() lists each server once', async () => {
  server.methods.length = 0
  await using({ timeoutMs: 120_000 }, async (r) => { // a busy machine takes its time
    const names = Array.from({ length: 40 }, (_, i) => `s${i}`)
    const added = names.map((name) => r.addServer(name, { url: server.url }))
    assert.equal(new Set((await r.discover()).tools.map((t) => t.server)).size, names.length)
    await Promise.all(added)
  })
  assert.equal(server.methods.filter((m) => m === 'tools/list').length, 40)
})

test('W10: a server that fails three times is paused, stays in the list, and comes back on retry', async () => {
  let down = true
  const flaky = await listen((req, res) => {
    if (down) return void res.writeHead(503).end('under repair')
    res.writeHead(307, { location: server.url }).end()
  })
  await using({ servers: { s: { url: flaky.url }, good: { url: 'builtin:demo' } } }, async (r) => {
    await r.discover()
    await r.discover()
    assert.equal(r.getHealth().s!.suspended, false)
    await r.discover()
    const h = r.getHealth().s!
    assert.ok(h.suspended && h.status === 'error' && h.retryAt! > Date.now(), JSON.stringify(h))
    assert.match(h.lastError!, /503/)
    assert.equal(r.getSnapshot().status, 'partial')
    assert.ok(r.has('good__echo'))
    down = false
    await r.retry('s')
    assert.equal(r.getHealth().s!.suspended, false)
    assert.equal(r.getHealth().s!.status, 'error', 'a redirect is not followed')
  })
  await flaky.close()
})

test('what was learned of a server saves its next connect a round trip, also after 500 others', async () => {
  const others = Array.from({ length: 500 }, (_, i) => `https://${i}.example/mcp\tstreamable-http\t2025-11-25\t\t\n`)
  const kept = new Map([['portolan.hints', others.join('')]])
  let learn = () => {}
  const learned = new Promise<void>((resolve) => (learn = resolve))
  const storage: StorageAdapter = {
    get: (k) => kept.get(k),
    set: (k, v) => {
      kept.set(k, v)
      if (k === 'portolan.hints') learn()
    },
    remove: (k) => void kept.delete(k),
  }
  const methods = async () => {
    server.methods.length = 0
    await using({ storage, servers: { s: { url: server.url } } }, async (r) => {
      await r.discover()
      assert.equal(r.getHealth().s!.status, 'connected')
      await learned
    })
    return server.methods.filter((m) => /discover|initialize|tools/.test(m))
  }
  assert.deepEqual(await methods(), ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
  assert.deepEqual((await methods()).sort(), ['initialize', 'notifications/initialized', 'tools/list'])
  assert.equal(kept.get('portolan.hints')!.split('\n').length - 1, 500)
})

test('arguments of any size and script arrive as they are', async () => {
  await using({ servers: { s: { url: server.url } } }, async (r) => {
    await r.discover()
    // Around the room that the module keeps for what JavaScript hands it, in bytes and in characters, and again small.
    for (const size of [10, 21_000, 22_000, 65_000, 66_000, 300_000, 10]) {
      const text = 'é😀'.repeat(size / 3)
      const sent = JSON.parse(await r.dispatch('s__raw', { text })) as { params: { arguments: { text: string } } }
      assert.equal(sent.params.arguments.text, text)
    }
  })
})

test('a registry in the state of Vue is the registry itself', () =>
  using({ servers: {} }, async (r) => {
    // Vue makes a proxy of each object whose tag is Object, and calls methods on it.
    const isProxied = Object.prototype.toString.call(r) === '[object Object]'
    const inState = isProxied ? new Proxy(r, {}) : r
    await inState.addServer('demo', { url: 'builtin:demo' })
    await inState.discover()
    assert.equal(await inState.dispatch('demo__add', { a: 40, b: 2 }), '42')
  }))

test('registries leave no listener at a signal that outlives them', async () => {
  const { signal } = new AbortController()
  for (const enabled of [true, false]) {
    const r = await createRegistry({ storage: 'memory', signal, servers: { demo: { url: 'builtin:demo', enabled } } })
    await r.close()
  }
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})
