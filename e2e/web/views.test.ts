import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, before, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import type { Browser } from 'playwright-core'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import { model } from '../../dist/npm/openai.js'
import type {
  Activity,
  ApprovalRequest,
  Channel,
  LocalTool,
  OpenAITool,
  PortLike,
  Registry,
} from '../../wasm/js/shared/types.ts'
import { launchChromium, openPage, servePackage, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Views, functions of the page as tools, and deferred tools, over a real MCP server.

const inputSchema = { type: 'object', properties: {} }
const served = [
  { name: 'ask', description: 'Asks a question.', inputSchema },
  { name: 'read_tide', description: 'Reads the tide.', inputSchema, annotations: { readOnlyHint: true } },
  { name: 'drop_anchor', description: 'Drops the anchor.', inputSchema, annotations: { destructiveHint: false } },
]
const results = Object.fromEntries(
  served.map(({ name }) => [name, { content: [{ type: 'text', text: `${name} done` }] }]),
)

let server: Awaited<ReturnType<typeof sdkServer>>
let registry: Registry
let browser: Browser, site: Listening

async function open(options: Parameters<typeof createRegistry>[0] = {}): Promise<Registry> {
  const r = await createRegistry({
    storage: 'memory',
    servers: { demo: { url: 'builtin:demo' }, ship: { url: server.url, trust: 'trust' } },
    ...options,
  })
  await r.discover()
  return r
}

before(async () => {
  server = await sdkServer(served, { results })
  registry = await open()
  ;[browser, site] = await Promise.all([launchChromium(), servePackage()])
})
after(async () => {
  await registry?.close()
  await browser?.close()
  await Promise.all([server, site].map((s) => s?.close()))
})

const names = (r: Pick<Registry, 'getTools'>) => r.getTools().map((t) => t.function.name)
const code = (code: string) => (e: unknown) => (e as { code?: string }).code === code

/** A function that answers how it was called. */
const echo: LocalTool = {
  name: 'echo',
  description: 'Says its arguments.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  annotations: { readOnlyHint: true },
  run: (args) => `heard ${args['text']}`,
}

test('W16: a view offers what its filters say, in every format, and nothing else', async () => {
  const view = registry.view({ servers: ['ship'], exclude: ['ship__wait', 'ship__steps', 'ship__raw'] })
  const want = ['ship__ask', 'ship__drop_anchor', 'ship__read_tide']
  assert.deepEqual(names(view).sort(), want)
  assert.deepEqual(view.getTools({ format: 'anthropic' }).map((t) => t.name).sort(), want)
  assert.deepEqual(Object.keys(view.toolsFor('ai-sdk')).sort(), want)
  assert.ok(view.has('ship__ask') && !view.has('demo__add'))
  assert.equal(await view.dispatch('ship__ask', {}), 'ask done')
  await assert.rejects(view.call('demo__add', { a: 1, b: 2 }), (e: Error) => {
    assert.match(e.message, /^There is no tool "demo__add"\. You may call: ship__/)
    return code('not_offered')(e)
  })
  assert.deepEqual(view.usage.calls, 1)
  view.close()
})

test('annotations count for trusted servers only', async () => {
  const r = await open({ servers: { ship: { url: server.url, trust: 'trust' }, other: { url: server.url } } })
  const view = r.view({ annotations: { readOnly: true } })
  assert.deepEqual(names(view), ['ship__read_tide'])
  let changes = 0
  view.subscribe(() => changes++)
  await r.updateServer('other', { trust: 'trust' })
  assert.deepEqual(names(view), ['other__read_tide', 'ship__read_tide'])
  assert.equal(changes, 1)
  assert.deepEqual(names(r.view({ annotations: { destructive: false, readOnly: false }, servers: ['ship'] })), [
    'ship__drop_anchor',
  ])
  await r.close()
})

test('wrong options of a call are refused before a view counts it or asks', async () => {
  let asked = 0
  const approve = () => {
    asked++
    return true
  }
  const view = registry.view({ include: ['ship__*'], approve, limits: { calls: 1 } })
  for (
    const options of [null, 5, { sginal: 1 }, { signal: {} }, { signal: 'now' }, { timeoutMs: '5' }, { attempts: 0 }]
  )
    await assert.rejects(view.call('ship__ask', {}, options as never), code('invalid_option'))
  assert.throws(() => view.subscribe(undefined as never), code('invalid_option'))
  view.update(undefined as never)
  assert.deepEqual([asked, view.usage.calls], [0, 0])
  assert.equal((await view.call('ship__ask', {}, { signal: null } as never)).text, 'ask done')
  assert.deepEqual([asked, view.usage.calls], [1, 1])
})

test('a tool that a view loses while it asks about a call is not called', async () => {
  const withdrawn = registry.view({
    approve: () => {
      withdrawn.update({ exclude: ['ship__ask'] })
      return true
    },
  })
  await assert.rejects(withdrawn.call('ship__ask', {}), code('not_offered'))
  const run = (text: string) => ({ extra: [{ name: 'own', run: () => text }] })
  const replaced = registry.view({
    ...run('old'),
    approve: () => {
      replaced.update(run('new'))
      return true
    },
  })
  assert.equal((await replaced.call('own', {})).text, 'new')
})

test('a view follows its registry and its own changes, and nested views are narrower', async () => {
  const r = await open()
  const view = r.view({ servers: ['ship', 'demo'] })
  const inner = view.view({ include: ['demo__*', 'page__*'] })
  let heard = 0
  inner.subscribe(() => heard++)
  assert.ok(inner.has('demo__add') && !inner.has('ship__ask'))
  await r.addTools('page', [echo])
  assert.ok(!inner.has('page__echo'), 'the outer view is of two servers')
  assert.equal(heard, 0)
  view.update({ servers: ['page', 'ship'] })
  await Promise.resolve()
  assert.deepEqual(names(inner), ['page__echo'])
  await assert.rejects(inner.call('ship__ask', {}), code('not_offered'))
  await assert.rejects(inner.call('ship__ask', 'no object'), code('not_offered'))
  const refused = { servers: 'ship' as never, extra: [{ name: 'twice', run: () => '' }] }
  assert.throws(() => view.update(refused), code('invalid_option'))
  view.update({})
  assert.deepEqual([view.has('page__echo'), view.has('twice')], [true, false], 'a refused update changes nothing')
  await r.setEnabled('ship', false)
  assert.ok(!view.has('ship__ask'))
  view.close()
  assert.deepEqual(names(inner), [])
  await assert.rejects(inner.call('page__echo', { text: 'x' }), code('closed'))
  await r.close()
})

test('a closed view hears of no change any more, and neither do views of it', async () => {
  const r = await open()
  const view = r.view(), inner = view.view()
  let heard = 0
  const hear = () => heard++
  const stop = view.subscribe(hear)
  inner.subscribe(hear)
  await r.addTools('page', [echo])
  await Promise.resolve()
  assert.equal(heard, 2)
  view.close()
  for (const closed of [view, inner]) await assert.rejects(closed.search('echo'), code('closed'))
  inner.subscribe(hear)
  for (const name of ['one', 'two']) await r.addTools('page', [{ ...echo, name }])
  await Promise.resolve()
  assert.equal(heard, 2)
  stop()
  await r.close()
})

test('a question about a call leaves no listener at the signal of a view', async () => {
  const signals: AbortSignal[] = []
  const view = registry.view({ approve: ({ signal }) => !!signals.push(signal) })
  for (let i = 0; i < 3; i++) await view.call('ship__ask', {})
  assert.deepEqual(signals.map((signal) => getEventListeners(signal, 'abort').length), [0, 0, 0])
  view.close()
})

test('a budget keeps the tools that rank highest, and names the others', () => {
  const all = registry.view({ servers: ['ship'] })
  const cost = registry.view({ include: ['ship__ask'] }).usage.tokens
  assert.ok(cost > 10 && all.usage.tokens > cost)
  const view = registry.view({ servers: ['ship'], include: ['ship__read_tide', 'ship__*'], budgetTokens: cost * 2 })
  assert.ok(view.has('ship__read_tide'), 'the first pattern ranks highest')
  assert.ok(view.usage.tokens <= cost * 2)
  assert.equal(view.tools.length + view.dropped.length, all.tools.length)
  assert.ok(view.dropped.every((t) => !view.has(t.name)))
})

test('limits of calls and seconds end a view, not the registry', async () => {
  const view = registry.view({ limits: { calls: 2 } })
  const inner = view.view()
  await Promise.all([inner.call('ship__ask', {}), view.call('ship__ask', {})])
  await assert.rejects(inner.call('ship__ask', {}), (e: Error) => {
    assert.match(e.message, /all 2 calls of this task are used up/)
    return code('budget_exceeded')(e)
  })
  const brief = registry.view({ limits: { seconds: 0.3 } })
  await assert.rejects(brief.call('ship__wait', {}), code('budget_exceeded'))
  await assert.rejects(brief.call('ship__ask', {}), code('budget_exceeded'))
  assert.equal(await registry.dispatch('ship__ask', {}), 'ask done')
})

test('closing a view ends its calls on the server', async () => {
  const view = registry.view()
  const count = (name: string) => server.calls.filter((c) => c === name).length
  const waits = count('wait')
  const call = assert.rejects(view.call('ship__wait', {}), code('closed'))
  while (count('wait') === waits) await new Promise(setImmediate)
  view.close()
  await call
  while (count('cancelled') < count('wait')) await new Promise(setImmediate) // those of earlier tests too
})

test('a view asks before its calls', async () => {
  const asked: ApprovalRequest[] = []
  const view = registry.view({
    approve: (request) => {
      asked.push(request)
      return request.tool === 'read_tide' ? 'once' : 'deny'
    },
  })
  assert.equal(await view.dispatch('ship__read_tide', { when: 'now' }), 'read_tide done')
  await assert.rejects(view.call('ship__drop_anchor', {}), code('denied'))
  const broken = view.view({ approve: () => Promise.reject(new Error('no dialog')) })
  await assert.rejects(broken.call('ship__read_tide', {}), (e: Error) => {
    assert.match(e.message, /the approval failed: no dialog/)
    return code('denied')(e)
  })
  const [{ server, name, args, trusted, annotations } = {} as ApprovalRequest] = asked
  assert.deepEqual({ server, name, args, trusted, annotations }, {
    server: 'ship',
    name: 'ship__read_tide',
    args: { when: 'now' },
    trusted: true,
    annotations: { readOnlyHint: true },
  })
})

test('resources are read as calls are: asked about, counted and ended', async () => {
  const read = (view: Pick<Registry, 'dispatch'>) =>
    view.dispatch('portolan_read_resource', { server: 'demo', uri: 'demo://harbour' })
  const asked: string[] = []
  const view = registry.view({
    approve: ({ server, name }) => asked.push(`${server} ${name}`) === 1,
    limits: { calls: 2 },
  })
  assert.match(await read(view), /harbour/)
  await assert.rejects(read(view), code('denied'))
  assert.deepEqual([asked, view.usage.calls], [Array(2).fill('demo portolan_read_resource'), 2])
  await assert.rejects(read(view), code('budget_exceeded'))
})

test('without servers, resources are those of the servers that an include names', async () => {
  const read = { server: 'demo', uri: 'demo://harbour' }
  for (const [name, wanted] of [['demo__echo', 'read'], ['ship__*', 'not_offered']]) {
    const include = [name!]
    for (const view of [registry.view({ include }), registry.view({ include }).view()]) {
      const asks = [['portolan_read_resource', read], ['portolan_list_resources', { server: 'demo' }]] as const
      for (const [name, args] of asks) {
        const text = await view.dispatch(name, args).catch((e: { code: string; message: string }) => {
          assert.match(e.message, /: ship\./)
          return e.code
        })
        assert.equal(/harbour/.test(text) ? 'read' : text, wanted)
      }
    }
  }
})

test('extra tools belong to their view, under their own names', async () => {
  const view = registry.view({ servers: ['ship'], budgetTokens: 0, extra: [{ ...echo, name: 'plan' }] })
  assert.deepEqual(names(view), [], 'a budget holds for them too')
  view.update({ budgetTokens: undefined })
  assert.equal(names(view)[0], 'plan')
  assert.equal(await view.dispatch('plan', { text: 'ahoy' }), 'heard ahoy')
  await assert.rejects(view.call('plan', {}), code('invalid_arguments'))
  await assert.rejects(view.call('plan', { text: 'x' }, { detach: true } as never), code('unsupported'))
  assert.ok(!registry.has('plan'))
  assert.throws(() => registry.view({ extra: [{ ...echo, name: 'a__b' }] }), code('invalid_config'))
  assert.throws(() => registry.view({ extra: [{ ...echo, name: 'no space' }] }), code('invalid_config'))
})

test('extra tools are in each deferred list, and their answers have their own names', async () => {
  const extra = [{ ...echo, name: 'plan' }]
  const view = registry.view({ servers: ['ship'], extra }).view()
  const listed = view.getTools({ deferred: { budgetTokens: 1 } }) as OpenAITool[]
  assert.deepEqual(listed.map((t) => t.function.name), ['plan', 'portolan_search_tools', 'portolan_call_tool'])
  const result = await view.call('plan', { text: 'ahoy' })
  assert.equal((await view.toMessage(result, { format: 'gemini' })).functionResponse.name, 'plan')
})

test('the question of a view has every digit of a large integer, also through the tool that calls others', async () => {
  const asked: unknown[] = []
  const extra = [{ name: 'plan', run: () => '' }]
  const view = registry.view({ servers: ['ship'], extra, approve: ({ args }) => (asked.push(args), true) })
  await view.call('plan', '{"id":9007199254740993}')
  await view.call('portolan_call_tool', '{"name": "plan", "arguments": {"id": 9007199254740993}}')
  assert.deepEqual(asked, Array(2).fill({ id: '9007199254740993' }))
})

test('functions of the page are tools: checked, approved, observed, cut and cancelled', async () => {
  const asked: ApprovalRequest[] = [], seen: Activity[] = []
  const r = await open({
    limits: { resultBytes: 1000 },
    onApprove: (request) => {
      asked.push(request)
      return request.args['text'] === 'no' ? 'deny' : 'always'
    },
  })
  r.observe((a) => seen.push(a), { contents: true })
  await r.addTools('page', [
    echo,
    { name: 'fail', run: () => Promise.reject(new Error('no wind')) },
    { name: 'data', run: () => ({ knots: 12 }) },
    { name: 'whole', run: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }] }) },
    { name: 'long', run: () => 'x'.repeat(5000) },
    {
      name: 'slow',
      run: (_, { signal, onProgress }) =>
        new Promise((resolve) => {
          onProgress({ progress: 1, total: 2, message: 'half' })
          signal.addEventListener('abort', () => resolve('late'))
        }),
    },
    { name: 'endless', run: () => new Promise(() => {}) },
  ])
  assert.deepEqual(names(r).filter((n) => n.startsWith('page__')).length, 7)
  assert.equal(r.getHealth()['page']!.toolCount, 7)
  assert.equal(r.getSnapshot().tools.find((t) => t.name === 'page__echo')!.pin, undefined)

  assert.equal(await r.dispatch('page__echo', '{"text":"hi"}'), 'heard hi')
  assert.equal(await r.dispatch('page__echo', { text: 'again' }), 'heard again')
  assert.equal(asked.length, 1, 'always is remembered')
  assert.equal(asked[0]!.name, 'page__echo')
  await assert.rejects(r.call('page__echo', {}), code('invalid_arguments'))

  const failed = await r.call('page__fail', {})
  assert.deepEqual([failed.isError, failed.text], [true, 'Error: no wind'])
  assert.deepEqual((await r.call('page__data', {})).structuredContent, { knots: 12 })
  assert.equal((await r.call('page__whole', {})).content[0]!.type, 'image')
  const long = await r.call('page__long', {})
  assert.ok(long.truncated && long.text.length < 1500)
  assert.equal((await r.readResult(long.handle!, { offset: 4990 })).text, 'x'.repeat(10))

  const progress: unknown[] = []
  const ends = new AbortController()
  const slow = r.call('page__slow', {}, { signal: ends.signal, onProgress: (p) => (progress.push(p), ends.abort()) })
  await assert.rejects(slow, code('aborted'))
  assert.deepEqual(progress, [{ progress: 1, total: 2, message: 'half' }])
  await assert.rejects(r.call('page__endless', {}, { timeoutMs: 50 }), code('timeout'))
  await assert.rejects(r.call('page__endless', {}, { detach: true }), code('unsupported'))

  const ended = seen.filter((a) => a.kind === 'call' && a.phase === 'end')
  assert.deepEqual(
    ended.slice(0, 3).map((a) => [a.server, a.tool, a.outcome]),
    [['page', 'page__echo', 'ok'], ['page', 'page__echo', 'ok'], ['page', 'page__echo', 'error']],
  )
  const removed = assert.rejects(r.call('page__endless', {}), code('server_removed'))
  while (!seen.some((a) => a.tool === 'page__endless' && a.phase === 'begin' && a.id > ended.at(-1)!.id))
    await new Promise(setImmediate)
  await new Promise(setImmediate)
  await r.removeServer('page')
  await removed
  assert.ok(!r.has('page__echo') && !r.getHealth()['page'])
  await r.close()
})

test('whatever a function of the page throws is a result with isError', async () => {
  const r = await open()
  const said = async (thrown: unknown) => {
    await r.addTools('page', [{ name: 'fail', run: () => Promise.reject(thrown) }])
    const { isError, text } = await r.call('page__fail', {})
    assert.equal(isError, true)
    return text
  }
  assert.equal(await said(Object.create(null)), 'Error: the error has no text')
  assert.equal(await said(Object.assign(new Error(), { message: { code: 7 } })), 'Error: [object Object]')
  assert.equal(await said(undefined), 'Error: undefined')
  assert.equal(await said(new Error('Error: adrift')), 'Error: adrift')
  assert.equal(await r.dispatch('page__fail', {}), 'Error: adrift')
  assert.equal(await said(Symbol('wind')), 'Error: Symbol(wind)')
  await r.close()
})

test('callTimeoutMs ends functions of the page, in views too, whatever has no deadline of its own', async () => {
  const r = await open({ callTimeoutMs: 50 })
  const endless: LocalTool = { name: 'endless', run: () => new Promise(() => {}) }
  await r.addTools('page', [endless])
  for (const options of [{}, { timeoutMs: undefined }]) {
    await assert.rejects(r.call('page__endless', {}, options), code('timeout'))
    await assert.rejects(r.view({ extra: [endless] }).call('endless', {}, options), code('timeout'))
  }
  await r.close()
})

test('functions of the page have their own server, which can be off, and names that models can use', async () => {
  const r = await open({ servers: { ship: { url: server.url } } })
  await r.addTools('page', [echo])
  await r.addTools('page', [{ ...echo, description: 'Says it again.' }, { ...echo, name: 'second' }])
  assert.deepEqual(names(r).filter((n) => n.startsWith('page')), ['page__echo', 'page__second'])
  await r.setEnabled('page', false)
  assert.ok(!r.has('page__echo'))
  assert.equal(r.getHealth()['page']!.status, 'disabled')
  await r.setEnabled('page', true)
  await r.updateServer('page', { tools: { deny: ['second'] } })
  assert.ok(r.has('page__echo') && !r.has('page__second'))
  assert.deepEqual(r.getSnapshot().withheld.map((t) => t.name), ['page__second'])
  assert.deepEqual([r.getHealth()['page']!.toolCount, r.getHealth()['page']!.toolTotal], [1, 2])
  await assert.rejects(r.call('page__second', { text: 'x' }), code('unknown_tool'))
  await r.updateServer('page', { tools: {} })
  await r.discover(['page'])
  await r.discover()
  assert.ok(r.has('page__echo') && r.has('ship__ask'))
  await assert.rejects(r.addTools('ship', [echo]), code('invalid_config'))
  await assert.rejects(r.addServer('page', { url: server.url }), code('unsupported'))
  await assert.rejects(r.updateServer('page', { url: server.url }), code('unsupported'))
  for (const bad of [{ ...echo, name: 'a b' }, { ...echo, run: 1 }, { ...echo, name: 'x'.repeat(62) }, null]) {
    await assert.rejects(r.addTools('page', [bad as never]), code('invalid_config'))
  }
  await assert.rejects(r.addTools('a__b', [echo]), code('invalid_config'))
  const ring: Record<string, unknown> = { type: 'object' }
  ring['properties'] = { ring }
  await assert.rejects(r.addTools('page', [{ ...echo, inputSchema: ring }]), code('invalid_config'))
  await assert.rejects(r.addTools('page', [{ ...echo, description: 'x'.repeat(300_000) }]), code('invalid_config'))
  assert.deepEqual(names(r).filter((n) => n.startsWith('page')), ['page__echo', 'page__second'])
  await r.close()
})

test('a function that is removed while its call begins is gone', async () => {
  const r = await createRegistry({ storage: 'memory', validateResults: 'off' })
  try {
    for (let turns = 0; turns < 12; turns++) {
      await r.addTools('page', [echo])
      const call = r.call('page__echo', { text: 'hi' }).then((result) => result.text, (e: { code?: string }) => e.code)
      for (let i = 0; i < turns; i++) await undefined
      await r.removeServer('page')
      assert.match(String(await call), /^(heard hi|server_removed|unknown_tool)$/)
    }
  } finally {
    await r.close()
  }
})

test('a served registry whose channel is gone says nothing more', async () => {
  let isGone = false, late = 0
  const channel: Channel = {
    post() {
      if (!isGone) return
      late++
      throw new Error('the channel is gone')
    },
    onmessage: null,
    close() {},
  }
  const end = serveRegistry(registry, channel)
  channel.onmessage!({ id: 1, method: 'call', name: 'ship__wait', args: '{}' })
  const waits = server.calls.filter((c) => c === 'wait').length
  while (server.calls.filter((c) => c === 'wait').length === waits) await new Promise(setImmediate)
  isGone = true
  end()
  assert.equal(late, 1, 'the call that runs was to be refused')
  await registry.call('ship__ask', {})
  assert.equal(late, 1)
})

test('a connected page has the functions of the other page, and its own', async () => {
  const r = await open()
  await r.addTools('page', [echo])
  const { port1, port2 } = new MessageChannel()
  const stop = serveRegistry(r, portChannel(port1 as unknown as PortLike))
  const far = await connectRegistry(portChannel(port2 as unknown as PortLike))
  while (!far.has('page__echo')) await new Promise<void>((resolve) => far.subscribe(() => resolve()))
  assert.equal(await far.dispatch('page__echo', { text: 'there' }), 'heard there')
  await far.addTools('mine', [{ ...echo, run: () => 'from here' }])
  assert.equal(await far.dispatch('mine__echo', { text: 'x' }), 'from here')
  assert.ok(!r.has('mine__echo'))
  assert.deepEqual(names(far.view({ servers: ['mine'] })), ['mine__echo'])
  await far.close()
  stop()
  port1.close()
  await r.close()
})

test('P46: a long list is deferred: search and call stand in for it', async () => {
  const options = { deferred: { keep: ['demo__add'], budgetTokens: 60 } }
  const r = await open()
  assert.deepEqual(r.getTools({ deferred: true }), r.getTools(), 'a short list stays')
  assert.deepEqual(names({ getTools: () => r.getTools(options) } as never), [
    'demo__add',
    'portolan_search_tools',
    'portolan_call_tool',
  ])
  assert.ok(r.has('portolan_search_tools') && r.has('portolan_call_tool'))
  const found = JSON.parse(await r.dispatch('portolan_search_tools', { query: 'what is the tide' })) as {
    tools: { function: { name: string; parameters: unknown } }[]
  }
  const tide = found.tools.find((t) => t.function.name === 'ship__read_tide')
  assert.deepEqual(tide, r.getTools({ include: ['ship__read_tide'] })[0])
  const call = { name: 'ship__read_tide', arguments: { when: 'now' } }
  assert.equal(await r.dispatch('portolan_call_tool', call), 'read_tide done')
  const result = await r.call('portolan_call_tool', { ...call, arguments: '{}' })
  assert.deepEqual([result.server, result.tool], ['ship', 'read_tide'], 'the result is that of the tool')
  const wrong = await r.call('portolan_call_tool', { name: 'ship__reed_tide', arguments: {} })
  assert.ok(wrong.isError)
  assert.match(wrong.text, /^There is no tool "ship__reed_tide"\. The nearest are: ship__read_tide/)
  assert.match(await r.dispatch('portolan_search_tools', { query: 'zzzzqq' }), /No tool fits/)

  const view = r.view({ servers: ['demo'] })
  assert.ok(!(await view.dispatch('portolan_search_tools', { query: 'tide' })).includes('ship__'))
  assert.ok((await view.call('portolan_call_tool', call)).isError)
  assert.deepEqual(await view.search('read the tide', { servers: ['ship'] }), [])

  const lazy = r.getTools({ ...options, format: 'anthropic' })
  assert.equal(lazy.length, r.getTools().length + 1)
  assert.deepEqual(lazy.filter((t) => !t.defer_loading).map((t) => t.name), ['demo__add', 'portolan_search_tools'])
  const search = await r.call('portolan_search_tools', { query: 'tide' })
  const message = await r.toMessage(search, { format: 'anthropic', callId: 'c' })
  assert.deepEqual((message.content as unknown[])[0], { type: 'tool_reference', tool_name: 'ship__read_tide' })
  await r.close()
})

test('P46: a long list of small tools is deferred, too, because OpenAI takes 128 tools', async () => {
  const r = await open({ servers: {} })
  const small = (many: number) => Array.from({ length: many }, (_, i) => ({ name: `t${i}`, run: () => '' }))
  await r.addTools('page', small(120))
  const deferred = { keep: ['page__t119'], budgetTokens: 50_000 }
  assert.equal(r.getTools({ deferred }).length, 120)
  await r.addTools('page', small(200))
  for (const format of ['openai', 'openai-responses', 'gemini'] as const) {
    const few = r.getTools({ format, deferred, readResult: true, resources: true, skills: true })
    assert.equal(few.length, 120 + 7)
    assert.ok(JSON.stringify(few).includes('page__t119'))
  }
  assert.equal(r.getTools({ format: 'anthropic', deferred }).length, 200)
  await r.close()
})

test('losses name what a format cannot express', async () => {
  const r = await open({ servers: {} })
  const inputSchema = {
    type: 'object',
    properties: { at: { type: 'string', format: 'uri' }, not: { not: { type: 'null' } }, odd: { type: 7 } },
  }
  await r.addTools('page', [{ name: 'go', inputSchema, run: () => '' }, echo])
  assert.deepEqual(r.losses('gemini'), [
    { tool: 'page__go', pointer: '/properties/at', keyword: 'format', kind: 'described' },
    { tool: 'page__go', pointer: '/properties/not', keyword: '', kind: 'changed' },
    { tool: 'page__go', pointer: '/properties/not', keyword: 'not', kind: 'described' },
    { tool: 'page__go', pointer: '/properties/odd', keyword: 'type', kind: 'described' },
    { tool: 'page__go', pointer: '/properties/odd', keyword: '', kind: 'changed' },
  ])
  const lost: unknown[] = []
  r.getTools({ format: 'openai', onLoss: (loss) => lost.push(loss) })
  assert.deepEqual(lost, [{ tool: 'page__go', pointer: '/properties/odd', keyword: 'type', kind: 'described' }])
  assert.deepEqual(r.view({ exclude: ['page__go'] }).losses('gemini', { include: ['page__echo'] }), [])
  assert.throws(() => r.losses('gemini', { inlcude: [] } as never), { code: 'invalid_option', message: /"inlcude"/ })
  await r.close()
})

test('a registry with functions only needs no module', async () => {
  const r = await createRegistry({ storage: 'memory', wasm: 'http://127.0.0.1:9/none.wasm' })
  await r.addTools('page', [echo, { ...echo, name: 'steer', description: 'Turns the ship.' }])
  assert.equal(await r.dispatch('page__echo', { text: 'a' }), 'heard a')
  assert.equal((await r.search('turn the ship'))[0]!.name, 'page__steer')
  assert.equal((await r.discover()).tools.length, 2)
  await r.close()
})

test('results of functions are cut as those of servers, also before there is a module', async () => {
  const long = { ...echo, run: () => 'x'.repeat(2 << 20) }
  for (const [limits, most] of [[{ resultBytes: 1000 }, 1000], [{}, 1 << 20]] as const) {
    const r = await createRegistry({ storage: 'memory', wasm: 'http://127.0.0.1:9/none.wasm', limits })
    await r.addTools('page', [long])
    const { text, handle, truncated } = await r.call('page__echo', { text: 'a' })
    assert.ok(truncated && text.length <= most && text.length > most - 100, `${text.length}`)
    assert.equal((await r.readResult(handle!, { length: 5 })).total, 2 << 20)
    await r.close()
  }
})

test('functions may have the server name of a member that each object has', async () => {
  const r = await createRegistry({ storage: 'memory' })
  await r.addTools('constructor', [echo])
  assert.equal(await r.dispatch('constructor__echo', { text: 'a' }), 'heard a')
  await r.close()
})

test('P46: approvals of deferred calls show the real tool', async () => {
  const asked: string[] = []
  const r = await open({ servers: { ship: { url: server.url } }, onApprove: ({ name }) => (asked.push(name), 'once') })
  await r.dispatch('portolan_call_tool', { name: 'ship__read_tide', arguments: {} })
  assert.deepEqual(asked, ['ship__read_tide'])
  await r.close()
})

test('tools are suggested for a task, by search or by a model', async () => {
  const found = await registry.suggest('read the tide', { max: 3 })
  assert.equal(found[0]!.name, 'ship__read_tide')
  assert.ok(found.length <= 3 && found[0]!.reason)
  let asked = ''
  const chosen = await registry.suggest('moor the boat', {
    model: (messages, { json }) => {
      asked = messages.map((m) => m.content).join('\n')
      assert.equal(json, true)
      return Promise.resolve('Sure: ["ship__drop_anchor", "ship__invented", "demo__add", "demo__add"]')
    },
  })
  assert.deepEqual(chosen.map((t) => t.name), ['ship__drop_anchor', 'demo__add'])
  assert.match(asked, /ship__drop_anchor: Drops the anchor\./)
  for (const said of ['[nonsense]', 'I do not know.', ''])
    await assert.rejects(registry.suggest('x', { model: () => said }), code('protocol'))
  const create = async () => ({ choices: [{ message: { content: '{"tools": ["demo__add"]}' } }] })
  const any = model({ chat: { completions: { create } } }, { model: 'any' })
  assert.deepEqual((await registry.suggest('add', { model: any })).map((t) => t.name), ['demo__add'])
})

test('in Chromium, views and functions of the page work in a worker and on the main thread', async () => {
  // The SDK's server answers the first question, which is about 2026-07-28, with 400.
  const page = await openPage(browser, `${site.url}/`, /status of 400/)
  for (const mode of ['worker', 'main'] as const) {
    const got = await page.evaluate(async ([base, url, mode]) => {
      const { createRegistry } = await import(`${base}/index.js`) as typeof import('../../dist/npm/index.js')
      const r = await createRegistry({ storage: 'memory', mode, servers: { ship: { url } } })
      await r.discover()
      await r.addTools('page', [{ name: 'title', run: () => document.title }])
      const view = r.view({ include: ['page__*', 'ship__read_tide'] })
      const got = [
        view.getTools().map((t) => t.function.name),
        await view.dispatch('page__title', {}),
        await view.dispatch('ship__read_tide', {}),
        (await view.search('tide'))[0]?.name,
      ]
      await r.close()
      return got
    }, [site.url, server.url, mode] as const)
    assert.deepEqual(got, [['page__title', 'ship__read_tide'], 'tab', 'read_tide done', 'ship__read_tide'])
  }
  assert.deepEqual(page.faults, [])
  await page.close()
})
