import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import type { Activity, Registry } from '../../wasm/js/shared/types.ts'
import { faultServer, result } from './servers/faultserver.ts'
import { freePort, launchChromium, openPage, servePackage, startProxy, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'
import { startServers } from './servers/servers.ts'

let urls: Record<string, string>
let stop: () => Promise<void>
let proxy: Awaited<ReturnType<typeof startProxy>>
let site: Listening
let browser: Browser

before(async () => {
  const started = await startServers()
  stop = started.stop
  urls = Object.fromEntries(started.servers.map((s) => [s.name, s.url]))
  site = await servePackage()
  proxy = await startProxy(site.url)
  browser = await launchChromium()
})

after(async () => {
  await browser?.close()
  await site?.close()
  await proxy?.stop()
  await stop?.()
})

/** Uses each feature of server-everything, as `s`. It runs in Node, and as text in a page. */
async function useAll(registry: Registry) {
  const code = (p: Promise<unknown>) => p.then(() => 'no error', (e) => e.code as string)
  const resources = await registry.resources()
  const templates = await registry.resourceTemplates({ servers: ['s'] })
  const first = resources[0]!
  const read = await registry.readResource('s', first.uri)
  const blob = await registry.readResource('s', templates[1]!.uriTemplate.replace('{resourceId}', '7'))
  const prompts = await registry.prompts()
  const args = { city: 'Lisbon' }
  const prompt = await registry.getPrompt('s__args-prompt', args)
  const dialects = await Promise.all(
    (['openai', 'openai-responses', 'anthropic', 'gemini'] as const).map(async (format) =>
      (await registry.getPrompt('s__args-prompt', args, { format })).messages
    ),
  )
  const departments = await registry.complete({
    server: 's',
    prompt: 'completable-prompt',
    argument: 'department',
    value: '',
  })
  const department = departments.values[0]!
  const request = { server: 's', prompt: 'completable-prompt', argument: 'name', context: { department } }
  const overtaken = code(registry.complete({ ...request, value: 'x' }))
  const names = await registry.complete({ ...request, value: '' })
  let ends = () => {}
  const updated = new Promise<void>((resolve) => ends = resolve)
  const unsubscribe = await registry.subscribeResource('s', first.uri, ends)
  await registry.call('s__toggle-subscriber-updates', {}) // which reports updates every five seconds
  await updated
  unsubscribe()
  await registry.call('s__toggle-subscriber-updates', {})
  return {
    first,
    read: { ...read, contents: read.contents.map((c) => c.mimeType), text: read.text.slice(0, 30), durationMs: 0 },
    blob: blob.contents.map((c) => typeof c.blob),
    blobText: blob.text,
    templates: templates.map((t) => t.uriTemplate),
    prompts: prompts.map((p) => [p.name, p.arguments.map((a) => a.name + (a.required ? '!' : '')).join()]),
    prompt: { ...prompt, durationMs: 0 },
    dialects,
    names,
    faults: await Promise.all([
      overtaken,
      code(registry.readResource('s', 'demo://nothing')),
      code(registry.getPrompt('s__nothing')),
      code(registry.getPrompt('s__args-prompt', {})),
      code(registry.getPrompt('s__args-prompt', { city: 7 as unknown as string })),
      code(registry.readResource('nobody', 'demo://a')),
    ]),
    health: (({ resourceCount, templateCount, promptCount, consecutiveFailures }) => ({
      resourceCount,
      templateCount,
      promptCount,
      consecutiveFailures,
    }))(registry.getHealth()['s']!),
  }
}

function check(used: Awaited<ReturnType<typeof useAll>>): void {
  const uri = 'demo://resource/static/document/architecture.md'
  assert.equal(used.first.uri, uri)
  assert.equal(used.first.mimeType, 'text/markdown')
  assert.match(used.read.text, /^# Everything Server/)
  assert.deepEqual(used.read.contents, ['text/markdown'])
  assert.equal(used.read.provenance.uri, uri)
  assert.deepEqual(used.blob, ['string'])
  assert.match(used.blobText, /^\[resource: demo:\/\/resource\/dynamic\/blob\/7, \S+ \d+ B\]$/)
  assert.deepEqual(used.templates, [
    'demo://resource/dynamic/text/{resourceId}',
    'demo://resource/dynamic/blob/{resourceId}',
  ])
  assert.deepEqual(used.prompts, [
    ['s__simple-prompt', ''],
    ['s__args-prompt', 'city!,state'],
    ['s__completable-prompt', 'department!,name!'],
    ['s__resource-prompt', 'resourceType!,resourceId!'],
  ])
  const text = "What's weather in Lisbon?"
  assert.deepEqual(used.prompt.messages, [{ role: 'user', content: { type: 'text', text } }])
  assert.equal(used.prompt.provenance.prompt, 'args-prompt')
  assert.deepEqual(used.dialects, [
    [{ role: 'user', content: text }],
    [{ role: 'user', content: [{ type: 'input_text', text }] }],
    [{ role: 'user', content: [{ type: 'text', text }] }],
    [{ role: 'user', parts: [{ text }] }],
  ])
  assert.ok(used.names.values.length > 0 && used.names.values.length <= 100, JSON.stringify(used.names))
  assert.deepEqual(used.faults, [
    'aborted',
    'unknown_resource',
    'unknown_prompt',
    'invalid_arguments',
    'invalid_arguments',
    'unknown_server',
  ])
  assert.deepEqual(used.health, { resourceCount: 7, templateCount: 2, promptCount: 4, consecutiveFailures: 0 })
}

for (const server of ['everything', 'everything-sse']) {
  test(`W16: ${server}: resources, prompts and completion, from Node`, async () => {
    const registry = await createRegistry({ storage: 'memory', servers: { s: { url: urls[server]! } } })
    await registry.discover()
    check(await useAll(registry))
    await registry.close()
  })
}

test('the same through connectRegistry', async () => {
  const registry = await createRegistry({ storage: 'memory', servers: { s: { url: urls['everything']! } } })
  await registry.discover()
  const { port1, port2 } = new MessageChannel()
  const stopServing = serveRegistry(registry, portChannel(port1))
  const connected = await connectRegistry(portChannel(port2))
  check(await useAll(connected))
  await connected.close()
  stopServing()
  port1.close()
  await registry.close()
})

test('W16: a model lists and reads what servers offer, and no more', async () => {
  const asked: string[] = []
  let answer: 'once' | 'always' | 'deny' = 'once'
  const registry = await createRegistry({
    storage: 'memory',
    servers: { demo: { url: 'builtin:demo' }, s: { url: urls['everything']! } },
    onApprove: ({ server, tool, args }) => (asked.push(`${server} ${tool} ${args['uri']}`), answer),
  })
  await registry.discover()
  for (const format of ['openai', 'anthropic', 'gemini', 'openai-responses'] as const)
    assert.match(
      JSON.stringify(registry.getTools({ format, resources: true })),
      /portolan_list_resources.*portolan_read_resource/,
    )
  assert.equal(registry.getTools().length + 2, registry.getTools({ resources: true }).length)
  assert.ok(registry.has('portolan_read_resource'))
  const list = await registry.dispatch('portolan_list_resources', {})
  assert.match(list, /^demo: demo:\/\/harbour The harbour/)
  assert.match(list, /^s: demo:\/\/resource\/dynamic\/text\/\{resourceId\} \(template\)/m)
  assert.doesNotMatch(await registry.dispatch('portolan_list_resources', { server: 'demo' }), /^s:/m)

  const read = (server: string, uri: string) => registry.dispatch('portolan_read_resource', { server, uri })
  assert.match(await read('demo', 'demo://harbour'), /Eight metres/)
  assert.match(await read('s', 'demo://resource/dynamic/text/3'), /Resource 3/)
  assert.deepEqual(asked, [
    'demo portolan_read_resource demo://harbour',
    's portolan_read_resource demo://resource/dynamic/text/3',
  ])
  for (const uri of ['file:///etc/passwd', 'demo://resource/static/document/features.md', 'https://a.example/', ''])
    await assert.rejects(read('demo', uri), { code: 'unknown_resource' })
  await assert.rejects(read('nobody', 'demo://harbour'), { code: 'unknown_server' })
  assert.equal(asked.length, 2)
  // A link in a result can be read, from its own server.
  answer = 'always'
  const links = await registry.call('s__get-resource-links', { count: 2 })
  const link = links.content.find((block) => block.type === 'resource_link')!
  assert.match(await read('s', link.uri), /Resource|resource/)
  await assert.rejects(read('demo', link.uri), { code: 'unknown_resource' })
  answer = 'deny'
  await read('s', link.uri) // which was always allowed
  await assert.rejects(read('demo', 'demo://harbour'), { code: 'denied' })
  await registry.close()
})

test('a model gets the resources of a server whose templates cannot be listed', async (t) => {
  const server = await faultServer({
    on: {
      initialize: (a) =>
        result(a, {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, resources: {} },
          serverInfo: { name: 'faulty', version: '1' },
        }),
      'resources/list': (a) => result(a, { resources: [{ uri: 'log:1', name: 'log' }] }),
      'resources/templates/list': ({ res }) => void res.writeHead(500).end(),
    },
  })
  t.after(() => server.close())
  const r = await createRegistry({ storage: 'memory', servers: { s: { url: server.url } } })
  t.after(() => r.close())
  await r.discover()
  assert.equal(await r.dispatch('portolan_list_resources', {}), 's: log:1 log')
})

test('logs of a real server, by level, live, and through connectRegistry', async () => {
  const owner = await createRegistry({
    storage: 'memory',
    servers: { s: { url: urls['everything']!, logLevel: 'debug' } },
  })
  const { port1, port2 } = new MessageChannel()
  const stopServing = serveRegistry(owner, portChannel(port1))
  const connected = await connectRegistry(portChannel(port2))
  await owner.discover()
  for (const registry of [owner, connected]) {
    const live = new Promise<Activity>((resolve) => {
      const stop = registry.observe((a) => a.kind === 'log' && (stop(), resolve(a)), { logs: true })
    })
    await registry.call('s__toggle-simulated-logging', {}) // a message at once, and every five seconds
    const { log, server, phase } = await live
    assert.equal(log!.server, 's')
    assert.equal(server, 's')
    assert.equal(phase, 'end')
    assert.match(log!.text, /message/i)
    await registry.call('s__toggle-simulated-logging', {})
    const all = await registry.logs()
    assert.ok(all.some((e) => e.text === log!.text && e.level === log!.level && e.at === log!.at))
    assert.deepEqual(await registry.logs({ servers: [] }), [])
    await assert.rejects(registry.logs({ servers: ['nobody'] }), { code: 'unknown_server', server: 'nobody' })
    assert.ok((await registry.logs({ level: 'error' })).every((e) => /error|critical|alert|emergency/.test(e.level)))
  }
  await assert.rejects(owner.updateServer('s', { logLevel: 'loud' as never }), { code: 'invalid_config' })
  await connected.close()
  stopServing()
  port1.close()
  await owner.close()
})

test('the demo has one of each', async () => {
  const registry = await createRegistry({
    storage: 'memory',
    servers: { demo: { url: 'builtin:demo' } },
    onElicitation: () => ({ action: 'accept', content: { name: 'Ada' } }),
  })
  await registry.discover()
  assert.equal((await registry.resources())[0]!.uri, 'demo://harbour')
  const [tide] = await registry.resourceTemplates()
  assert.equal(tide!.uriTemplate, 'demo://tide/{day}')
  const typed = { server: 'demo', template: tide!.uriTemplate, argument: 'day', value: 't' }
  assert.deepEqual(await registry.complete(typed), { values: ['tuesday', 'thursday'] })
  assert.equal((await registry.readResource('demo', 'demo://tide/monday')).text, 'High water: 1.1 m')
  const { messages } = await registry.getPrompt('demo__greet', { who: 'Ada' })
  assert.equal(messages[0]!.content.text, 'Greet Ada in one sentence.')
  assert.equal(await registry.dispatch('demo__ask', {}), 'Hello, Ada.')
  await registry.close()
})

test('a server that fails is left out, also where the others have nothing', async (t) => {
  const server = await sdkServer()
  t.after(() => server.close())
  const bad = { url: `http://127.0.0.1:${await freePort()}/` }
  const registry = await createRegistry({
    storage: 'memory',
    failureThreshold: 99,
    servers: { bad, s: { url: server.url } },
  })
  t.after(() => registry.close())
  for (const list of ['resources', 'resourceTemplates', 'prompts', 'instructions'] as const) {
    assert.deepEqual(await registry[list](), [])
    await assert.rejects(registry[list]({ servers: ['bad'] }), { code: 'network', server: 'bad' })
  }
})

for (const mode of ['worker', 'main']) {
  test(`the same in Chromium, in mode ${mode}`, async () => {
    const page = await openPage(browser, `${site.url}/`, /CORS policy|Failed to load resource|TrustedScriptURL/)
    check(
      await page.evaluate(`(async () => {
      const useAll = ${useAll}
      const { createRegistry } = await import('/index.js')
      const registry = await createRegistry({
        mode: '${mode}',
        storage: 'memory',
        servers: { s: { url: '${urls['everything']}' } },
        proxy: '${proxy.template}',
      })
      try {
        await registry.discover()
        return await useAll(registry)
      } finally {
        await registry.close()
      }
    })()`) as Awaited<ReturnType<typeof useAll>>,
    )
    assert.deepEqual(page.faults, [])
    await page.close()
  })
}
