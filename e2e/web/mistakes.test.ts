import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runnableTools as anthropicTools } from '../../dist/npm/anthropic.js'
import { toolSet } from '../../dist/npm/ai-sdk.js'
import { record } from '../../dist/npm/cassette.js'
import { fill, openProject, readConfig, writeConfig } from '../../dist/npm/config.js'
import { callableTool } from '../../dist/npm/gemini.js'
import { createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import { loop } from '../../dist/npm/loop.js'
import { functionTools } from '../../dist/npm/openai-agents.js'
import { answerCalls, runnableTools } from '../../dist/npm/openai.js'
import { endpoint, nodeEndpoint, remoteRun } from '../../dist/npm/run-endpoint.js'
import { run, toSSE } from '../../dist/npm/run.js'
import type { Registry, RegistryOptions } from '../../wasm/js/shared/types.ts'

// Mistakes of developers end in an error that names them, in Node, on the built package.

const open = (options?: RegistryOptions) =>
  createRegistry({ servers: { demo: { url: 'builtin:demo' } }, storage: 'memory', mode: 'main', ...options })
let registry: Registry
before(async () => {
  registry = await open()
  await registry.discover()
})
after(() => registry?.close())

const never = <T>() => new Promise<T>(() => {})
const refused = (code: string, message: RegExp) => ({ name: 'RegistryError', code, message })
const wrongType = (message: RegExp) => ({ name: 'TypeError', message })

test('what stands in place of a registry, a channel or a result is refused', async () => {
  const { port1, port2 } = new MessageChannel()
  const channel = portChannel(port1)
  for (const wrong of [null, undefined, {}, createRegistry, open()])
    assert.throws(() => serveRegistry(wrong as never, channel), refused('invalid_option', /no registry/))
  port1.close()
  port2.close()
  await assert.rejects(registry.readResult(undefined as never), refused('invalid_option', /handle is not a text/))
})

test('a browser that is too old is refused with the ones that are needed', async () => {
  for (const [of, name] of [[AbortSignal, 'any'], [URL, 'canParse']] as const) {
    const known = Object.getOwnPropertyDescriptor(of, name)!
    Reflect.deleteProperty(of, name)
    try {
      await assert.rejects(open(), refused('unsupported', /Chrome 123, Firefox 125 or Safari 17.5 is needed/))
    } finally {
      Object.defineProperty(of, name, known)
    }
  }
})

test('options count as they were when the registry was created, also inherited ones', async () => {
  const deny: RegistryOptions = { onApprove: () => 'deny', approveAll: true }
  for (const options of [{ ...deny }, Object.create(deny) as RegistryOptions]) {
    options.servers = { demo: { url: 'builtin:demo' } }
    const asking = await createRegistry(Object.assign(options, { storage: 'memory', mode: 'main' }))
    try {
      await asking.discover()
      delete options.onApprove
      await assert.rejects(asking.call('demo__echo', { text: 'a' }), { code: 'denied' })
    } finally {
      await asking.close()
    }
  }
})

test('arguments that were not awaited are refused, and not taken for none', async () => {
  const args = Promise.resolve({ text: 'a' }) as never
  await assert.rejects(registry.call('demo__echo', args), refused('invalid_arguments', /not an object/))
  await assert.rejects(registry.view().dispatch('demo__echo', args), refused('invalid_arguments', /not an object/))
})

test('a function of the page with a schema of a library, or with the name of a provider for it, is refused', async () => {
  const add = (more: object) => registry.addTools('mine', [{ name: 't', run: () => 'ran', ...more }])
  for (const inputSchema of [{ '~standard': { vendor: 'zod' } }, '{"type":"object"}', [], 7, Promise.resolve({})])
    await assert.rejects(add({ inputSchema }), refused('invalid_config', /inputSchema of t is not JSON Schema/))
  for (const field of ['parameters', 'input_schema'])
    await assert.rejects(add({ [field]: { type: 'object' } }), refused('invalid_config', RegExp(`field ${field}`)))
  await add({ inputSchema: null })
  await add({ inputSchema: { type: 'object', if: { required: ['a'] }, then: { required: ['b'] } } })
  assert.equal((await registry.call('mine__t', {})).text, 'ran')
})

test('progress that its listener cannot take does not end the function that reports it', async (t) => {
  const event = 'uncaughtException', ofRunner = process.listeners(event)
  process.removeAllListeners(event)
  t.after(() => ofRunner.forEach((listener) => process.on(event, listener)))
  const thrown = new Promise((resolve) => process.once(event, resolve))
  await registry.addTools('mine', [{
    name: 'reports',
    run: (_, { onProgress }) => {
      onProgress({ progress: 1 })
      return 'ran'
    },
  }])
  const onProgress = () => {
    throw new Error('a fault of the listener')
  }
  assert.equal((await registry.call('mine__reports', {}, { onProgress })).text, 'ran')
  assert.match(String(await thrown), /a fault of the listener/)
})

test('closing the registry, or removing the server, ends what waits for an answer of the app', async () => {
  let asked = Promise.withResolvers<AbortSignal>()
  const asking = await open({
    onApprove: ({ signal }) => {
      asked.resolve(signal)
      return never()
    },
  })
  await asking.addServer('other', { url: 'builtin:demo' })
  await asking.discover()
  const removed = assert.rejects(
    asking.call('other__echo', { text: 'a' }),
    refused('unknown_tool', /other__echo was removed/),
  )
  const signal = await asked.promise
  await asking.removeServer('other')
  await removed
  assert.ok(signal.aborted, 'the question of the app ends')
  asked = Promise.withResolvers()
  const closed = [asking.call('demo__echo', { text: 'a' }), asking.suggest('a', { model: () => never() })]
  const ended = closed.map((call) =>
    assert.rejects(call, refused('closed', /the registry is closed; create a new one/))
  )
  await asked.promise
  await asking.close()
  await Promise.all(ended)
})

test('an adapter says that its registry was not awaited, or that a response is none', () => {
  for (const make of [runnableTools, anthropicTools, callableTool, toolSet, functionTools])
    for (const wrong of [undefined, null, Promise.resolve(registry)])
      assert.throws(() => make(wrong as never), wrongType(/no registry and no view/))
  for (const wrong of [undefined, 'text', {}, Promise.resolve([])])
    assert.throws(() => answerCalls(registry, wrong as never), wrongType(/no response/))
})

test('a hook of a recording that throws for arguments ends no call', async (t) => {
  const faults = t.mock.method(console, 'error', () => {})
  const tape = record({
    redact: (value, { part }) => {
      if (part === 'arguments') throw new Error('a fault of the hook')
      return value
    },
  })
  const recorded = await open({ cassette: tape })
  await recorded.discover()
  assert.equal((await recorded.call('demo__echo', { text: 'a' })).text, 'a')
  assert.deepEqual([tape.calls, faults.mock.callCount()], [0, 1])
  await recorded.close()
})

test('wrong options of a run are named', async () => {
  const good = { prompt: 'x', registry, model: () => '', roles: { search: 'echo' } }
  for (
    const [wrong, name] of [
      [{ registry: {} }, 'registry'],
      [{ registry: open() }, 'registry'],
      [{ view: { getTools() {} } }, 'view'],
      [{ schema: null }, 'schema'],
      [{ answered: 'yes' }, 'answered'],
      [{ timeoutMs: '5' }, 'timeoutMs'],
      [{ preview: 10n }, 'preview'],
      [{ quota: { key: 'x', perDay: '5' } }, 'quota.perDay'],
    ] as const
  )
    assert.throws(() => run({ ...good, ...wrong } as never), refused('invalid_option', RegExp(`^${name} is missing`)))
  const events = []
  for await (const { type } of run({ ...good, signal: null } as never)) events.push(type)
  assert.equal(events.at(-1), 'error', 'no signal is no fault')
  for (const wrong of [undefined, null, run, good])
    assert.throws(() => toSSE(wrong as never), refused('invalid_option', /takes what run\(\) returns/))
})

test('wrong options of an endpoint are named, and let nobody in', async (t) => {
  const setup = () => ({ registry, model: () => '', roles: { search: 'echo' } })
  for (
    const [wrong, message] of [
      [undefined, /run is not a function/],
      [null, /run is not a function/],
      [{ run: setup() }, /run is not a function/],
      [{ run: setup, enabled: 'false' }, /enabled is not a boolean/],
      [{ run: setup, origins: 'https://a.example' }, /origins is not an array of strings/],
      [{ run: setup, extensionIds: 'abc' }, /extensionIds is not/],
      [{ run: setup, userAgents: /curl/ }, /userAgents is not/],
      [{ run: setup, perMinute: 'ten' }, /perMinute is not a number/],
      [{ run: setup, perMinute: NaN }, /perMinute is not a number/],
      [{ run: setup, log: console }, /log is not a function/],
    ] as const
  ) {
    assert.throws(() => endpoint(wrong as never), wrongType(message))
    assert.throws(() => nodeEndpoint(wrong as never), wrongType(message))
  }
  const faults = t.mock.method(console, 'error', () => {})
  const serve = endpoint({
    run: () => undefined as never,
    enabled: true,
    log: () => {
      throw new Error('a fault of the log')
    },
  })
  const request = new Request('http://a.example/session/research', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"prompt":"x"}',
  })
  assert.equal((await serve(request)).status, 500)
  assert.equal(faults.mock.callCount(), 2, 'the host reads why the run cannot begin, and that its log fails')
})

test('wrong options of a remote run are named', () => {
  const url = 'https://a.example/session/research'
  for (
    const [address, options, message] of [
      [url, undefined, /prompt is not a text/],
      [url, 'x', /prompt is not a text/],
      [url, { prompt: 'x', signal: new AbortController() }, /signal is not an AbortSignal/],
      [undefined, { prompt: 'x' }, /url is not a text/],
      ['', { prompt: 'x' }, /url is not a text/],
    ] as const
  ) assert.throws(() => remoteRun(address as never, options as never), wrongType(message))
})

test('a prompt or an answer of a wrong shape ends a loop with an error that teaches', async () => {
  const last = async (options: object) => {
    let event
    for await (event of loop({ view: registry, model: () => 'x', prompt: 'x', ...options } as never));
    assert.ok(event?.type === 'stopped')
    return event.error
  }
  assert.match(String(await last({ prompt: () => undefined })), /the prompt gave no text/)
  for (const call of [null, 'echo', undefined])
    assert.match(String(await last({ model: () => ({ calls: [call] }) })), /the model gave no answer/)
  for (const answer of [{ role: 'assistant', content: 'x', tool_calls: [] }, { choices: [], usage: {} }, {}])
    assert.match(String(await last({ model: () => answer })), /the model gave no answer/)
})

test('what is no configuration, entry or handle is refused', async () => {
  for (const wrong of [undefined, null, 5])
    assert.throws(() => writeConfig(wrong as never), wrongType(/not an object of configurations/))
  for (const wrong of [undefined, null, readConfig('https://a.example/mcp')])
    assert.throws(() => fill(wrong as never), wrongType(/readConfig\(text\)\.entries/))
  for (const wrong of [undefined, null])
    await assert.rejects(openProject(wrong as never, ''), refused('invalid_config', /no project/))
  const project = await open({ project: 'p' })
  for (const wrong of [undefined, null, new File(['{}'], 'mcp.json'), []])
    await assert.rejects(openProject(project, wrong as never), refused('invalid_config', /neither a text nor a handle/))
  await project.close()
})
