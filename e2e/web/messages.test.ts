import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { connectRegistry, createRegistry, portChannel, serveRegistry } from '../../dist/npm/index.js'
import type { PortLike, Registry, ToolMessages, ToolResult } from '../../wasm/js/shared/types.ts'
import { scriptedModel, type ScriptedModel } from '../examples/scriptedmodel.ts'
import {
  Anthropic,
  asSchema,
  createOpenAICompatible,
  generateText,
  GoogleGenAI,
  isStepCount,
  jsonSchema,
  OpenAI,
  type Part,
  type ToolResultPart,
  type ToolSet,
} from '../providers/clients.ts'
import { launchChromium, listen, openPage, servePackage, type Listening } from '../rig/harness.ts'
import { sdkServer } from './servers/sdkserver.ts'

// Answers to tool calls, as the providers' own libraries send them.

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
const gif = 'R0lGODdhAQABAIABAP///wAAACwAAAAAAQABAAACAkQBADs='
const pdf = base64('%PDF-1.7\n%%EOF')
const wave = base64('RIFF\x24\0\0\0WAVEfmt ')
const resource = (mimeType: string, blob: string) => ({
  type: 'resource',
  resource: { uri: 'file:///a', mimeType, blob },
})

const results = {
  mixed: {
    content: [
      { type: 'text', text: 'A page\u200b:' },
      resource('application/pdf', pdf),
      { type: 'text', text: 'and notes.', annotations: { audience: ['user'] } },
      { type: 'image', mimeType: 'image/gif', data: gif, annotations: { audience: ['user'] } },
      resource('text/plain', base64('hello\x1b[31m there')),
      { type: 'audio', mimeType: 'audio/wav', data: wave },
      { type: 'resource_link', uri: 'file:///b', name: 'b' },
    ],
  },
  broken: { isError: true, content: [{ type: 'text', text: 'no film' }, resource('application/pdf', pdf)] },
  fits: { content: [{ type: 'text', text: '7' }], structuredContent: { sum: 7 } },
  misfits: { content: [{ type: 'text', text: '7' }], structuredContent: { sum: '7', 'a/b': 1 } },
  lacks: { content: [{ type: 'text', text: '7' }] },
  fails: { isError: true, content: [{ type: 'text', text: 'no sum' }] },
}
const inputSchema = { type: 'object', properties: {} }
const outputSchema = {
  type: 'object',
  properties: { sum: { type: 'number' } },
  required: ['sum'],
  additionalProperties: false,
}

let server: Awaited<ReturnType<typeof sdkServer>>
let api: Listening, model: ScriptedModel, registry: Registry
let browser: Browser, site: Listening
/** The body of the last request to the scripted providers. */
let sent: Record<string, unknown>

before(async () => {
  server = await sdkServer(
    Object.keys(results).map((name) => ({
      name,
      inputSchema,
      ...(!/mixed|broken/.test(name) && { outputSchema }),
    })),
    { results },
  )
  model = await scriptedModel('sesame', {
    'What do you see?': () => ({ content: 'One pixel.' }),
    'Show a picture, and the weather in Palma.': ([picture, weather]) =>
      picture === undefined
        ? { calls: [['demo__picture', '{}'], ['demo__weather', '{"city": "Palma"}']] }
        : { content: `${picture} / ${weather}` },
    'Fail.': ([failure, missing]) =>
      failure === undefined
        ? { calls: [['demo__fail', '{"reason": "high tide"}'], ['s__misfits', '{}']] }
        : { content: `${failure} / ${missing}` },
    'Read on.': ([text]) =>
      text === undefined
        ? { calls: [['portolan_read_result', '{"handle": "r0-none"}']] }
        : { content: String(text) },
  })
  api = await listen(async (req, res) => {
    let text = ''
    for await (const chunk of req) text += chunk
    sent = JSON.parse(text) as typeof sent
    const answer = answers[new URL(req.url!, 'http://x').pathname]
    res.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}))
  })
  registry = await open()
  ;[browser, site] = await Promise.all([launchChromium(), servePackage()])
})
after(async () => {
  await registry?.close()
  await browser?.close()
  await Promise.all([server, model, api, site].map((s) => s?.close()))
})

const said = { type: 'text', text: 'seen' }
const answers: Record<string, unknown> = {
  '/v1/responses': {
    id: 'r',
    object: 'response',
    output: [{ type: 'message', role: 'assistant', content: [{ ...said, type: 'output_text', annotations: [] }] }],
  },
  '/v1/messages': { id: 'm', type: 'message', role: 'assistant', content: [said], stop_reason: 'end_turn' },
  '/v1/models/any:generateContent': { candidates: [{ content: { role: 'model', parts: [{ text: 'seen' }] } }] },
}

async function open(options: Parameters<typeof createRegistry>[0] = {}): Promise<Registry> {
  const r = await createRegistry({
    storage: 'memory',
    servers: { demo: { url: 'builtin:demo' }, s: { url: server.url } },
    ...options,
  })
  await r.discover()
  return r
}

const callId = 'call_1'

test('P19: Chat Completions get a text', async () => {
  const result = await registry.call('demo__picture', {})
  const message: OpenAI.Chat.ChatCompletionToolMessageParam = await registry.toMessage(result, {
    format: 'openai',
    callId,
  })
  const client = new OpenAI({ apiKey: 'sesame', baseURL: model.url })
  const { choices } = await client.chat.completions.create({
    model: 'any',
    messages: [
      { role: 'user', content: 'What do you see?' },
      {
        role: 'assistant',
        tool_calls: [{ id: callId, type: 'function', function: { name: 'demo__picture', arguments: '{}' } }],
      },
      message,
    ],
  })
  assert.equal(choices[0]!.message.content, 'One pixel.')
  assert.deepEqual(model.asked.at(-1)!.messages.at(-1), {
    role: 'tool',
    tool_call_id: callId,
    content: 'One pixel:\n[image: image/png, 70 B]',
  })
})

test('P19: the Responses API gets images and files', async () => {
  const client = new OpenAI({ apiKey: 'sesame', baseURL: `${api.url}/v1` })
  const send = async (result: ToolResult) => {
    const item: OpenAI.Responses.ResponseInputItem.FunctionCallOutput = await registry.toMessage(result, {
      format: 'openai-responses',
      callId,
    })
    const { output_text } = await client.responses.create({ model: 'any', input: [item] })
    assert.equal(output_text, 'seen')
    return (sent['input'] as ToolMessages['openai-responses'][])[0]!
  }
  const picture = await registry.call('demo__picture', {})
  const { data } = picture.content[1] as { data: string }
  assert.deepEqual(await send(picture), {
    type: 'function_call_output',
    call_id: callId,
    output: [
      { type: 'input_text', text: 'One pixel:' },
      { type: 'input_image', image_url: `data:image/png;base64,${data}`, detail: 'auto' },
    ],
  })
  assert.deepEqual((await send(await registry.call('s__mixed', {}))).output, [
    { type: 'input_text', text: 'A page:' },
    { type: 'input_file', filename: 'document.pdf', file_data: `data:application/pdf;base64,${pdf}` },
    { type: 'input_file', filename: 'document.txt', file_data: `data:text/plain;base64,${base64('hello there')}` },
    { type: 'input_text', text: '[audio: audio/wav, 16 B]\n[resource: b <file:///b>]' },
  ])
  assert.equal((await send(await registry.call('demo__echo', { text: 'hi' }))).output, 'hi')
})

test('P19: the Messages API gets images and documents, and text alone for an error', async () => {
  const client = new Anthropic({ apiKey: 'sesame', baseURL: api.url })
  const send = async (result: ToolResult) => {
    const block: Anthropic.ToolResultBlockParam = await registry.toMessage(result, { format: 'anthropic', callId })
    const message = await client.messages.create({
      model: 'any',
      max_tokens: 9,
      messages: [{ role: 'user', content: [block] }],
    })
    assert.deepEqual(message.content, [said])
    return (sent['messages'] as { content: ToolMessages['anthropic'][] }[])[0]!.content[0]!
  }
  const picture = await registry.call('demo__picture', {})
  const { data } = picture.content[1] as { data: string }
  assert.deepEqual(await send(picture), {
    type: 'tool_result',
    tool_use_id: callId,
    content: [
      { type: 'text', text: 'One pixel:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    ],
  })
  assert.deepEqual((await send(await registry.call('s__mixed', {}))).content, [
    { type: 'text', text: 'A page:' },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hello there' } },
    { type: 'text', text: '[audio: audio/wav, 16 B]\n[resource: b <file:///b>]' },
  ])
  assert.deepEqual(await send(await registry.call('s__broken', {})), {
    type: 'tool_result',
    tool_use_id: callId,
    is_error: true,
    content: 'Error: no film\n[resource: file:///a, application/pdf, 14 B]',
  })
})

test('P19: Gemini gets the name of the registry, and parts', async () => {
  const client = new GoogleGenAI({ apiKey: 'sesame', httpOptions: { baseUrl: api.url } })
  const send = async (result: ToolResult, modalities = {}) => {
    const part: Part = await registry.toMessage(result, { format: 'gemini', modalities })
    const { text } = await client.models.generateContent({ model: 'any', contents: [{ role: 'user', parts: [part] }] })
    assert.equal(text, 'seen')
    return (sent['contents'] as { parts: ToolMessages['gemini'][] }[])[0]!.parts[0]!.functionResponse
  }
  const mixed = await registry.call('s__mixed', {})
  const rest = '[resource: b <file:///b>]'
  const documents = [
    { inlineData: { mimeType: 'application/pdf', data: pdf } },
    { inlineData: { mimeType: 'text/plain', data: base64('hello there') } },
  ]
  assert.deepEqual(await send(mixed), {
    name: 's__mixed',
    response: { output: `A page:\n[audio: audio/wav, 16 B]\n${rest}` },
    parts: documents,
  })
  assert.deepEqual(await send(mixed, { document: false, audio: true }), {
    name: 's__mixed',
    response: {
      output: 'A page:\n[resource: file:///a, application/pdf, 14 B]\n' +
        `[resource: file:///a, text/plain, 16 B]\n${rest}`,
    },
    parts: [{ inlineData: { mimeType: 'audio/wav', data: wave } }],
  })
  assert.deepEqual((await send(await registry.call('s__broken', {}))).response, {
    error: 'Error: no film\n[resource: file:///a, application/pdf, 14 B]',
  })
})

test('P19: the AI SDK runs the tools of a registry', async () => {
  const provider = createOpenAICompatible({ name: 'scripted', apiKey: 'sesame', baseURL: model.url })
  const run = async (r: Registry, prompt: string) => {
    const tools: ToolSet = r.toolsFor('ai-sdk', { servers: ['demo', 's'], readResult: true })
    return generateText({ model: provider('any'), tools, prompt, maxRetries: 0, stopWhen: isStepCount(3) })
  }
  const { text, steps } = await run(registry, 'Show a picture, and the weather in Palma.')
  const picture = await registry.call('demo__picture', {})
  const { data } = picture.content[1] as { data: string }
  const output: ToolResultPart['output'] = await registry.toMessage(picture, { format: 'ai-sdk' })
  assert.deepEqual(output, {
    type: 'content',
    value: [
      { type: 'text', text: 'One pixel:' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data } },
    ],
  })
  const [pictured, weather] = steps[0]!.toolResults.map((r) => r.output as ToolResult)
  assert.deepEqual(pictured!.content, picture.content)
  assert.deepEqual(weather!.structuredContent, { city: 'Palma', celsius: 21.5, sky: 'clear' })
  assert.ok(text.includes(data) && text.endsWith(' / {"city":"Palma","celsius":21.5,"sky":"clear"}'), text)
  const asked = model.asked.at(-1)!
  assert.deepEqual(asked.messages.map((m) => m.role), ['user', 'assistant', 'tool', 'tool'])
  assert.deepEqual(
    asked.tools!.map((t) => t.function.name).sort(),
    [...registry.getSnapshot().tools.map((t) => t.name), 'portolan_read_result'].sort(),
  )

  const blind = registry.toolsFor('ai-sdk', { modalities: { image: false } })
  assert.deepEqual(await blind['demo__picture']!.toModelOutput({ output: picture }), {
    type: 'text',
    value: 'One pixel:\n[image: image/png, 70 B]',
  })

  const strict = await open({ validateResults: 'error' })
  assert.match((await run(strict, 'Fail.')).text, /^Error: high tide \/ .*invalid result: \/structuredContent\/sum: /)
  assert.match((await run(strict, 'Read on.')).text, /the result is not kept any more/)
  await strict.close()
})

test('P19: schemas are what jsonSchema of the AI SDK makes', async () => {
  const tools = registry.getTools({ format: 'ai-sdk', include: ['demo__add'] })
  assert.deepEqual(Object.keys(tools), ['demo__add'])
  const { description, inputSchema } = tools['demo__add']!
  assert.equal(description, '[demo] Adds two numbers.')
  const want = registry.getTools({ include: ['demo__add'] })[0]!.function.parameters
  const made = jsonSchema(want)
  assert.equal(asSchema(inputSchema), inputSchema as unknown, 'the library takes it for its own')
  assert.deepEqual(inputSchema.jsonSchema, await made.jsonSchema)
  for (const key of Object.getOwnPropertySymbols(made)) assert.equal(Reflect.get(inputSchema, key), true)
  assert.deepEqual(inputSchema['~standard'].jsonSchema.input(), want)
  assert.throws(() => registry.toolsFor('openai' as never), { code: 'invalid_option' })
  assert.throws(() => registry.toolsFor('ai-sdk', { server: 's' } as never), {
    code: 'invalid_option',
    hint: /servers/,
  })
})

test('P19: a registry across a port has the same messages and tools', async () => {
  const { port1, port2 } = new MessageChannel()
  const stop = serveRegistry(registry, portChannel(port1 as unknown as PortLike))
  const remote = await connectRegistry(portChannel(port2 as unknown as PortLike))
  const picture = await remote.call('demo__picture', {})
  assert.deepEqual(
    await remote.toMessage(picture, { format: 'anthropic', callId }),
    await registry.toMessage(picture, { format: 'anthropic', callId }),
  )
  const { functionResponse } = await remote.toMessage(picture, { format: 'gemini', callId })
  assert.deepEqual([functionResponse.name, functionResponse.id], ['demo__picture', callId])
  const tools = remote.toolsFor('ai-sdk', { include: ['demo__*'], exclude: ['demo__fail'], resources: true })
  assert.deepEqual(
    Object.keys(tools).sort(),
    ['add', 'ask', 'count', 'echo', 'picture', 'weather'].map((name) => `demo__${name}`)
      .concat('portolan_list_resources', 'portolan_read_resource'),
  )
  const output = await tools['demo__add']!.execute({ a: 40, b: 2 }, { toolCallId: callId })
  assert.deepEqual(await tools['demo__add']!.toModelOutput({ output }), { type: 'text', value: '42' })
  const listed = await tools['portolan_list_resources']!.execute({ server: 'demo' }, {})
  assert.match(listed.text, /demo:\/\/harbour/)
  const ends = AbortSignal.abort()
  await assert.rejects(tools['demo__add']!.execute({ a: 1, b: 2 }, { abortSignal: ends }), { code: 'aborted' })
  await remote.close()
  stop()
  port1.close()
})

test(
  'across a port, the deadline of a call stands still while a person is asked, too',
  { timeout: 20_000 },
  async (t) => {
    const { promise: approved, resolve: approve } = Promise.withResolvers<'once'>()
    const isAsked = Promise.withResolvers<void>()
    const r = await open({
      onApprove: ({ tool }) => tool === 'echo' ? approved : (isAsked.resolve(), new Promise(() => {})),
    })
    const { port1, port2 } = new MessageChannel()
    const near = portChannel(port1 as unknown as PortLike), { post } = near
    const rests = Promise.withResolvers<void>()
    near.post = (message) => {
      post(message)
      if ('waits' in (message as object)) rests.resolve()
    }
    const stop = serveRegistry(r, near)
    const remote = await connectRegistry(portChannel(port2 as unknown as PortLike))
    // The clock moves only here, whatever the machine does meanwhile.
    let now = performance.now()
    const clock = t.mock.method(performance, 'now', () => now)
    const asked = remote.dispatch('demo__echo', { text: 'allowed' }, { timeoutMs: 300 })
    asked.catch(() => {}) // awaited below
    await rests.promise
    await remote.approvals() // what was posted before has arrived
    const unanswered = remote.dispatch('demo__add', { a: 1, b: 2 }, { timeoutMs: 60_000 })
    await isAsked.promise
    now += 120_000
    await assert.rejects(unanswered, { code: 'timeout' })
    approve('once')
    assert.equal(await asked, 'allowed')
    clock.mock.restore()
    await remote.close()
    stop()
    port1.close()
    await r.close()
  },
)

test('P19: a cut result keeps its handle beside its pictures', async () => {
  const short = await open({ limits: { resultBytes: 100 } })
  const result = await short.call('demo__echo', { text: 'x'.repeat(1000) })
  const { content } = await short.call('demo__picture', {})
  const message = await short.toMessage({ ...result, content: [...result.content, content[1]!] }, {
    format: 'anthropic',
    callId,
  })
  assert.ok(Array.isArray(message.content))
  assert.deepEqual(message.content.map((block) => block.type), ['text', 'image'])
  assert.deepEqual(message.content[0], { type: 'text', text: result.text })
  assert.match(result.text, new RegExp(`handle ${result.handle}`))
  const { text } = await short.call('portolan_read_result', { handle: result.handle, offset: 998 })
  assert.equal(text, 'xx\n[characters 998 to 1000 of 1000]')
  await short.close()
})

test('structured content that does not fit is flagged, or refused, and is no fault of the server', async () => {
  const flags = async (r: Registry, tool: string) => (await r.call(`s__${tool}`, {})).flags
  const mismatch = (where: string, excerpt: string) => ({ rule: 'schema_mismatch', where, excerpt })
  const wrong = [
    mismatch('/structuredContent/sum', 'want a number, not a string'),
    mismatch('/structuredContent/a~1b', 'there is no such property'),
  ]
  assert.equal(await flags(registry, 'fits'), undefined)
  assert.deepEqual(await flags(registry, 'misfits'), wrong)
  assert.deepEqual(await flags(registry, 'lacks'), [mismatch('/structuredContent', 'is required')])
  assert.equal(await flags(registry, 'fails'), undefined, 'an error needs no structured content')

  const { port1, port2 } = new MessageChannel()
  const stop = serveRegistry(registry, portChannel(port1 as unknown as PortLike))
  const remote = await connectRegistry(portChannel(port2 as unknown as PortLike))
  assert.deepEqual(await flags(remote, 'misfits'), wrong, 'the flags of the other end, once')
  await remote.close()
  stop()
  port1.close()

  const strict = await open({ validateResults: 'error', failureThreshold: 1 })
  await assert.rejects(strict.call('s__misfits', {}), {
    code: 'invalid_result',
    server: 's',
    message: 'invalid result: /structuredContent/sum: want a number, not a string; ' +
      '/structuredContent/a~1b: there is no such property',
    hint: /validateResults/,
    retryable: false,
  })
  await assert.rejects(strict.dispatch('s__lacks', {}), { code: 'invalid_result' })
  assert.equal(await strict.dispatch('s__fits', {}), '7')
  assert.equal(await strict.dispatch('s__fails', {}), 'Error: no sum')
  assert.equal(strict.getHealth()['s']!.consecutiveFailures, 0)
  await strict.close()

  const off = await open({ validateResults: 'off' })
  assert.equal(await flags(off, 'misfits'), undefined)
  await off.close()
  await assert.rejects(createRegistry({ validateResults: true as never }), { code: 'invalid_option' })
})

test('a page loads the checks of results with the first that needs them', async () => {
  const page = await openPage(browser, site.url, /ERR_FAILED/)
  const loaded: string[] = []
  await page.route('**/validate.js', (route) => {
    loaded.push(route.request().url())
    return route.abort()
  })
  const callAll = async ([url, validateResults]: [string, 'flag' | 'error']) => {
    const { createRegistry } = await import('/index.js' as string) as typeof import('../../dist/npm/index.js')
    const servers = { demo: { url: 'builtin:demo' }, s: { url } }
    const r = await createRegistry({ storage: 'memory', servers, validateResults })
    await r.discover()
    const outcome = (name: string) =>
      r.call(name, {}).then(({ text, flags }) => text + (flags?.length ?? ''), (e) => e.code as string)
    const outcomes = [await outcome('demo__weather'), await outcome('s__fails')]
    const before = performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/validate.js')).length
    outcomes.push(await outcome('s__misfits'))
    await r.close()
    return { before, outcomes }
  }
  const weather = '{"city":"nowhere","celsius":21.5,"sky":"clear"}'
  const flagged = await page.evaluate(callAll, [server.url, 'flag'] as [string, 'flag'])
  assert.deepEqual(flagged, { before: 0, outcomes: [weather, 'Error: no sum', '7'] }, 'a result outlives its check')
  assert.equal(loaded.length, 1)
  const { outcomes } = await page.evaluate(callAll, [server.url, 'error'] as [string, 'error'])
  assert.equal(outcomes[2], 'load_failed')
  await page.close()
})

test('a registry whose serving code does not load refuses the other end', async () => {
  const page = await openPage(browser, site.url, /ERR_FAILED/)
  await page.route('**/serve.js', (route) => route.abort())
  const outcomes = await page.evaluate(async () => {
    const { connectRegistry, createRegistry, portChannel, serveRegistry } = await import(
      '/index.js' as string
    ) as typeof import('../../dist/npm/index.js')
    const r = await createRegistry({ storage: 'memory' })
    const { port1, port2 } = new MessageChannel(), later = new MessageChannel()
    const connect = (port: MessagePort) => connectRegistry(portChannel(port)).then(() => 'connected', (e) => e.code)
    serveRegistry(r, portChannel(port1))
    const early = connect(port2)
    serveRegistry(r, portChannel(later.port1))
    const outcomes: string[] = [await early, await connect(later.port2)]
    await r.close()
    return outcomes
  })
  assert.deepEqual(outcomes, ['load_failed', 'load_failed'])
  await page.close()
})

/** Makes a browser turn large images into messages. */
async function shrink({ gif }: { gif: string }) {
  const { createRegistry } = await import('/index.js' as string) as typeof import('../../dist/npm/index.js')
  const registry = await createRegistry({ storage: 'memory' })
  const provenance = { server: 's', tool: 't', origin: '', untrusted: true } as const
  const resultOf = (data: string, mimeType: string): ToolResult => ({
    text: '[image]',
    content: [{ type: 'image', data, mimeType }],
    isError: false,
    server: 's',
    tool: 't',
    durationMs: 0,
    provenance,
  })
  const base64 = async (blob: Blob) => {
    const bytes = new Uint8Array(await blob.arrayBuffer())
    let text = ''
    for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096))
    return btoa(text)
  }
  // Noise does not compress. Its left half is red.
  const canvas = new OffscreenCanvas(2600, 1300)
  const context = canvas.getContext('2d')!
  const pixels = context.createImageData(2600, 1300)
  for (let at = 0; at < pixels.data.length; at += 65_536)
    crypto.getRandomValues(pixels.data.subarray(at, at + 65_536))
  context.putImageData(pixels, 0, 0)
  context.fillStyle = 'red'
  context.fillRect(0, 0, 1300, 1300)
  const large = await canvas.convertToBlob()
  const opaque = new OffscreenCanvas(2600, 1300)
  opaque.getContext('2d', { alpha: false })!.drawImage(canvas, 0, 0)
  // One color compresses well: 80 megapixels, as any browser would decode them.
  const wide = new OffscreenCanvas(16_000, 5000)
  wide.getContext('2d')!.fillRect(0, 0, 16_000, 5000)
  const bomb = await wide.convertToBlob()
  const page = new OffscreenCanvas(800, 8001)
  page.getContext('2d')!.fillRect(0, 0, 800, 8001)
  const tall = await page.convertToBlob()
  const send = async (data: string, mimeType: string, maxImageBytes?: number) => {
    const message = await registry.toMessage(resultOf(data, mimeType), { format: 'gemini', maxImageBytes })
    const [part] = message.functionResponse.parts ?? []
    if (!part) return message.functionResponse.response
    const { data: made, mimeType: type } = part.inlineData
    const image = await createImageBitmap(await (await fetch(`data:${type};base64,${made}`)).blob())
    const look = new OffscreenCanvas(image.width, image.height).getContext('2d')!
    look.drawImage(image, 0, 0)
    const [red = 0, green = 0, blue = 0] = look.getImageData(image.width >> 2, image.height >> 1, 1, 1).data
    return {
      type,
      size: [image.width, image.height],
      bytes: atob(made).length,
      isRed: red > 200 && green < 50 && blue < 50,
    }
  }
  const sent = async (data: string) => {
    const { content } = await registry.toMessage(resultOf(data, 'image/png'), { format: 'anthropic', callId: 'a' })
    const [block] = content as Extract<typeof content, unknown[]>
    if (block?.type !== 'image') return []
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${block.source.data}`)).blob())
    return [image.width, image.height]
  }
  const data = await base64(large)
  const answer = {
    given: large.size,
    large: await send(data, 'image/png'),
    small: await send(data, 'image/png', 100_000),
    none: await send(data, 'image/png', 100),
    whole: await send(data, 'image/png', large.size),
    jpeg: await send(await base64(await canvas.convertToBlob({ type: 'image/jpeg', quality: 1 })), 'image/jpeg', 1e6),
    lossy: await send(
      await base64(await canvas.convertToBlob({ type: 'image/webp', quality: 0.9 })),
      'image/webp',
      1e5,
    ),
    opaque: await send(
      await base64(await opaque.convertToBlob({ type: 'image/webp', quality: 0.9 })),
      'image/webp',
      1e5,
    ),
    lossless: await send(
      await base64(await canvas.convertToBlob({ type: 'image/webp', quality: 1 })),
      'image/webp',
      1e6,
    ),
    gif: await send(gif, 'image/gif'),
    bomb: await send(await base64(bomb), 'image/png', 1e5),
    bombBytes: bomb.size,
    tall: await sent(await base64(tall)),
    broken: await send(btoa('\x89PNG\r\n' + 'x'.repeat(1000)), 'image/png', 100),
  }
  await registry.close()
  return answer
}

test('P19: a browser makes large images smaller', async () => {
  const page = await openPage(browser, site.url)
  const made = await page.evaluate(shrink, { gif })
  assert.ok(made.given > 5 << 20, `the image has ${made.given} bytes`)
  const { type, size, bytes, isRed } = made.large as { type: string; size: number[]; bytes: number; isRed: boolean }
  assert.deepEqual([type, size, isRed], ['image/png', [2048, 1024], true])
  assert.ok(bytes <= 5 << 20)
  const small = made.small as { type: string; size: number[]; bytes: number; isRed: boolean }
  assert.equal(small.type, 'image/jpeg')
  assert.ok(small.bytes <= 100_000 && small.size[0]! < 2048 && small.size[0] === 2 * small.size[1]! && small.isRed)
  assert.deepEqual(made.none, { output: '[image]' })
  assert.deepEqual((made.whole as { size: number[] }).size, [2600, 1300])
  for (const image of [made.jpeg, made.lossy, made.opaque, made.lossless]) {
    assert.deepEqual(Object.keys(image), ['type', 'size', 'bytes', 'isRed'], JSON.stringify(image))
    assert.ok('isRed' in image && image.isRed && image.type === 'image/jpeg' && image.bytes <= 1e6)
  }
  assert.deepEqual(made.gif, { output: '[image]' }, 'Gemini has no GIF')
  assert.ok(made.bombBytes > 1e5, `the bomb has ${made.bombBytes} bytes`)
  assert.deepEqual(made.bomb, { output: '[image]' })
  assert.deepEqual(made.broken, { output: '[image]' })
  assert.deepEqual(made.tall, [205, 2048], 'Claude refuses sides of over 8,000 pixels')
  assert.deepEqual(page.faults, [])
  await page.close()

  const png = base64('\x89PNG\r\n\x1a\n' + 'x'.repeat(2000))
  const result = await registry.call('demo__picture', {})
  const large = { ...result, content: [{ type: 'image' as const, mimeType: 'image/png', data: png }], text: 'large' }
  const { output } = await registry.toMessage(large, { format: 'openai-responses', callId, maxImageBytes: 2000 })
  assert.equal(output, 'large', 'Node has a marker')
  const header = (width: number) =>
    `\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0${String.fromCharCode(width >> 8, width & 255)}\0\0\0\x09`
  const long = (width: number) => ({
    ...large,
    content: [{ type: 'image' as const, mimeType: 'image/png', data: base64(header(width)) }],
  })
  const kinds = async (width: number, format: 'anthropic' | 'openai-responses') => {
    const message = await registry.toMessage(long(width), { format, callId })
    return typeof ('content' in message ? message.content : message.output)
  }
  assert.equal(await kinds(8000, 'anthropic'), 'object')
  assert.equal(await kinds(8001, 'anthropic'), 'string', 'a marker, because Claude refuses it')
  assert.equal(await kinds(8001, 'openai-responses'), 'object')
})
