import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { after, before, test } from 'node:test'
import { toolSet } from '../../dist/npm/ai-sdk.js'
import * as anthropic from '../../dist/npm/anthropic.js'
import * as gemini from '../../dist/npm/gemini.js'
import { createRegistry } from '../../dist/npm/index.js'
import { loop } from '../../dist/npm/loop.js'
import { functionTools } from '../../dist/npm/openai-agents.js'
import * as openai from '../../dist/npm/openai.js'
import type { LoopOptions, ModelAnswer } from '../../web/loop/types.ts'
import type { LocalTool, Registry, ToolFilter, ToolResult, View } from '../../wasm/js/shared/types.ts'
import {
  Agent,
  type AIMessageChunk,
  type BaseMessage,
  ChatOpenAI,
  type FunctionTool,
  HumanMessage,
  OpenAIResponsesModel,
  Runner,
  ToolMessage,
} from '../providers/agents.ts'
import {
  Anthropic,
  type CallableTool,
  createOpenAICompatible,
  dynamicTool,
  generateText,
  GoogleGenAI,
  isStepCount,
  OpenAI,
  streamText,
  type ToolSet,
} from '../providers/clients.ts'
import { standIn, type Seen, type StandIn, type Turn } from '../providers/standin.ts'
import { sdkServer } from './servers/sdkserver.ts'

// The adapters, with the providers' own libraries, against an endpoint that speaks their formats.

// The libraries stand where the tests have theirs, and an app has them beside the package.
const providers = new URL('../providers/agents.ts', import.meta.url).href
registerHooks({
  resolve: (name, context, next) =>
    next(name, name.startsWith('@langchain/core/') ? { ...context, parentURL: providers } : context),
})
const { structuredTools } = await import('../../dist/npm/langchain.js')

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64')
const gif = 'R0lGODdhAQABAIABAP///wAAACwAAAAAAQABAAACAkQBADs='
const pdf = base64('%PDF-1.7\n%%EOF')
const results = {
  mixed: {
    content: [
      { type: 'text', text: 'A page:' },
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'application/pdf', blob: pdf } },
      { type: 'image', mimeType: 'image/gif', data: gif },
    ],
  },
}

/** The model's calls, by the question. It ends with the texts of the answers. */
const calls: Record<string, NonNullable<Turn['calls']>> = {
  Together: [['first', {}], ['second', {}]],
  Fail: [['demo__echo', { text: 'no' }], ['demo__fail', { reason: 'high tide' }], ['second', {}]],
  Look: [['s__mixed', {}]],
  Hang: [['hang', {}]],
  Add: [['demo__add', { a: 40, b: 2 }]],
  Stray: [['demo__add', '{"a": 4'], ['nowhere', {}]],
}

/** Searches, and calls what it has found: by its name if it is among the tools, or else by the tool for that. */
function find({ texts, tools }: Seen): Turn {
  if (!texts.length) return { calls: [['portolan_search_tools', { query: 'add two numbers' }]] }
  if (texts.length === 2) return { text: texts[1]! }
  assert.match(texts[0]!, /demo__add/)
  const args = { a: 40, b: 2 }
  return {
    calls: [
      tools.includes('demo__add') ? ['demo__add', args] : ['portolan_call_tool', {
        name: 'demo__add',
        arguments: args,
      }],
    ],
  }
}

function script(seen: Seen): Turn {
  if (seen.question === 'Find') return find(seen)
  const wanted = calls[seen.question]
  if (!wanted) return { text: 'What?' }
  return seen.texts.length ? { text: seen.texts.join(' | ') } : { calls: wanted }
}

let server: Awaited<ReturnType<typeof sdkServer>>
let api: StandIn, registry: Registry, view: View
/** Ends `first`, which waits for `second`: one call after the other would never end. */
let meet: PromiseWithResolvers<void>
/** The call of `hang` has begun, and has seen the end of its signal. */
let began: PromiseWithResolvers<void>, ended: PromiseWithResolvers<void>

const extra: LocalTool[] = [
  { name: 'first', run: async () => (await meet.promise, 'one') },
  { name: 'second', run: () => (meet.resolve(), 'two') },
  {
    name: 'hang',
    run: (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => (ended.resolve(), resolve('late')))
        began.resolve()
      }),
  },
]

before(async () => {
  server = await sdkServer([{ name: 'mixed', inputSchema: { type: 'object', properties: {} } }], { results })
  api = await standIn(script)
  registry = await createRegistry({
    storage: 'memory',
    servers: { demo: { url: 'builtin:demo' }, s: { url: server.url } },
    callTimeoutMs: 60_000, // longer than a test: no deadline does what a signal should do
    idleTimeoutMs: 60_000,
  })
  await registry.discover()
  view = registry.view({ exclude: ['s__wait'], extra, approve: ({ tool }) => tool !== 'echo' })
})
after(async () => {
  view?.close()
  await registry?.close()
  await Promise.all([server, api].map((s) => s?.close()))
})

interface Options {
  filter?: ToolFilter
  signal?: AbortSignal
}
type Source = Registry | View
/** Asks a model with a provider's library, and returns its last text. */
type Ask = (source: Source, question: string, options?: Options) => Promise<string | null>

const apiKey = 'sesame', model = 'any'
const aClient = () => new Anthropic({ apiKey, baseURL: api.url, maxRetries: 0 })
const oClient = () => new OpenAI({ apiKey, baseURL: `${api.url}/v1`, maxRetries: 0 })
const gClient = () => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: api.url } })
const ends = (signal?: AbortSignal) => (signal ? { signal } : {})

const asks: Record<string, Ask> = {
  'ai-sdk': async (source, prompt, { filter, signal } = {}) => {
    const provider = createOpenAICompatible({ name: 'scripted', apiKey, baseURL: `${api.url}/v1` })
    const tools: ToolSet = toolSet(source, filter)
    const { text } = await generateText({
      model: provider(model),
      prompt,
      tools,
      stopWhen: isStepCount(5),
      maxRetries: 0,
      abortSignal: signal,
    })
    return text
  },
  openai: (source, content, { filter, signal } = {}) =>
    oClient().chat.completions.runTools(
      { model, messages: [{ role: 'user', content }], tools: openai.runnableTools(source, filter) },
      ends(signal),
    ).finalContent(),
  'openai-responses': async (source, question, { filter, signal } = {}) => {
    const client = oClient()
    const tools = source.getTools({ ...filter, format: 'openai-responses' })
    let response = await client.responses.create({ model, input: question, tools })
    for (;;) {
      const input = await openai.answerCalls(source, response, ends(signal))
      if (!input.length) return response.output_text
      response = await client.responses.create({ model, previous_response_id: response.id, input, tools })
    }
  },
  anthropic: async (source, content, { filter, signal } = {}) => {
    const tools = anthropic.runnableTools(source, filter)
    const { content: [block] } = await aClient().beta.messages.toolRunner(
      { model, max_tokens: 99, messages: [{ role: 'user', content }], tools },
      ends(signal),
    )
    return block!.type === 'text' ? block!.text : null
  },
  gemini: async (source, contents, { filter, signal } = {}) => {
    const tool: CallableTool = gemini.callableTool(source, { ...filter, ...ends(signal) })
    const { text } = await gClient().models.generateContent({ model, contents, config: { tools: [tool] } })
    return text ?? null
  },
  'openai-agents': async (source, question, { filter, signal } = {}) => {
    const tools: FunctionTool[] = functionTools(source, filter)
    const agent = new Agent({ name: 'Harbour', tools, model: new OpenAIResponsesModel(oClient() as never, model) })
    const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, question, ends(signal))
    return finalOutput ?? null
  },
  langchain: async (source, question, { filter, signal } = {}) => {
    const tools = structuredTools(source, filter)
    const chat = new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL: `${api.url}/v1` } })
      .bindTools(tools)
    const messages: BaseMessage[] = [new HumanMessage(question)]
    for (;;) {
      const answer = await chat.invoke(messages)
      if (!answer.tool_calls?.length) return answer.text
      const answers = await Promise.all(
        answer.tool_calls.map((call) =>
          tools.find(({ name }) => name === call.name)!.invoke({ ...call, type: 'tool_call' }, ends(signal))
        ),
      )
      messages.push(answer, ...answers as BaseMessage[])
    }
  },
  'ai-sdk, streamed': async (source, prompt, { filter, signal } = {}) => {
    const provider = createOpenAICompatible({ name: 'scripted', apiKey, baseURL: `${api.url}/v1` })
    const tools: ToolSet = toolSet(source, filter)
    const { fullStream } = streamText({
      model: provider(model),
      prompt,
      tools,
      stopWhen: isStepCount(5),
      maxRetries: 0,
      abortSignal: signal,
      onError: () => {},
    })
    let text = ''
    for await (const part of fullStream) {
      if (part.type === 'text-delta') text += part.text
      if (part.type === 'error') throw part.error
      if (part.type === 'abort') throw new Error('aborted')
    }
    return text
  },
  'openai, streamed': (source, content, { filter, signal } = {}) =>
    oClient().chat.completions.runTools(
      { model, stream: true, messages: [{ role: 'user', content }], tools: openai.runnableTools(source, filter) },
      ends(signal),
    ).finalContent(),
  'openai-responses, streamed': async (source, question, { filter, signal } = {}) => {
    const client = oClient()
    const tools = source.getTools({ ...filter, format: 'openai-responses' })
    let response = await client.responses.stream({ model, input: question, tools }).finalResponse()
    for (;;) {
      const input = await openai.answerCalls(source, response, ends(signal))
      if (!input.length) return response.output_text
      const previous_response_id = response.id
      response = await client.responses.stream({ model, previous_response_id, input, tools }).finalResponse()
    }
  },
  'anthropic, streamed': async (source, content, { filter, signal } = {}) => {
    const tools = anthropic.runnableTools(source, filter)
    const runner = aClient().beta.messages.toolRunner(
      { model, max_tokens: 99, stream: true, messages: [{ role: 'user', content }], tools },
      ends(signal),
    )
    let text = ''
    for await (const stream of runner) {
      text = ''
      for await (const event of stream) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
      }
    }
    return text
  },
  'gemini, streamed': async (source, contents, { filter, signal } = {}) => {
    const tool: CallableTool = gemini.callableTool(source, { ...filter, ...ends(signal) })
    let text = ''
    for await (
      const chunk of await gClient().models.generateContentStream({ model, contents, config: { tools: [tool] } })
    ) text += chunk.candidates?.[0]?.content?.parts?.map((part) => part.text ?? '').join('') ?? ''
    return text
  },
  'openai-agents, streamed': async (source, question, { filter, signal } = {}) => {
    const tools: FunctionTool[] = functionTools(source, filter)
    const agent = new Agent({ name: 'Harbour', tools, model: new OpenAIResponsesModel(oClient() as never, model) })
    const result = await new Runner({ tracingDisabled: true }).run(agent, question, { stream: true, ...ends(signal) })
    await result.completed
    signal?.throwIfAborted()
    return result.finalOutput ?? null
  },
  'langchain, streamed': async (source, question, { filter, signal } = {}) => {
    const tools = structuredTools(source, filter)
    const chat = new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL: `${api.url}/v1` } })
      .bindTools(tools)
    const messages: BaseMessage[] = [new HumanMessage(question)]
    for (;;) {
      let answer: AIMessageChunk | undefined
      for await (const chunk of await chat.stream(messages)) answer = answer?.concat(chunk) ?? chunk
      if (!answer!.tool_calls?.length) return answer!.text
      const answers = await Promise.all(
        answer!.tool_calls.map((call) =>
          tools.find(({ name }) => name === call.name)!.invoke({ ...call, type: 'tool_call' }, ends(signal))
        ),
      )
      messages.push(answer!, ...answers as BaseMessage[])
    }
  },
  'a loop on Chat Completions': (source, prompt, options) =>
    looped(source, prompt, openai.model(oClient(), { model }), 'openai', options),
  'a loop on Messages': (source, prompt, options) =>
    looped(source, prompt, anthropic.model(aClient(), { model, view: source }), 'anthropic', options),
  'a loop on Gemini': (source, prompt, options) =>
    looped(source, prompt, gemini.model(gClient(), { model, view: source }), 'gemini', options),
}

async function looped(
  source: Source,
  prompt: string,
  model: LoopOptions['model'],
  format: NonNullable<LoopOptions['format']>,
  { filter, signal }: Options = {},
): Promise<string> {
  const view = {
    has: (name: string) => source.has(name),
    call: (name: string, args: Record<string, unknown> | string, options: object) => source.call(name, args, options),
    getTools: (options: object) => source.getTools({ ...options, ...filter }),
  }
  for await (const event of loop({ view, model, prompt, format, ...ends(signal) })) {
    if (event.type === 'done') return event.text
    if (event.type === 'stopped') throw event.error ?? new Error(event.why)
  }
  return ''
}

for (const [name, ask] of Object.entries(asks)) {
  test(`${name}: calls of one turn run together, and keep their order`, { timeout: 20_000 }, async () => {
    meet = Promise.withResolvers()
    if (name === 'gemini, streamed') meet.resolve() // its library makes one call after the other
    assert.equal(await ask(view, 'Together'), 'one | two')
    assert.ok(api.last().tools.includes('second') && !api.last().tools.includes('s__wait'))
  })

  test(`${name}: what fails is an answer for the model, with its code`, async () => {
    meet = Promise.withResolvers()
    const [denied, broken, fine] = (await ask(view, 'Fail'))!.split(' | ')
    assert.match(denied!, /^(Error: )?denied: /)
    assert.equal(broken, 'Error: high tide')
    assert.equal(fine, 'two')
  })

  test(`P46: ${name}: a long list is searched, and what is found is called`, async () => {
    assert.equal(await ask(view, 'Find', { filter: { deferred: { keep: ['hang'], budgetTokens: 1 } } }), '42')
    const { tools } = api.last()
    assert.ok(tools.includes('hang') && tools.includes('portolan_search_tools'))
    const all = /anthropic|on Messages/.test(name)
    assert.equal(tools.includes('demo__add'), all)
    assert.equal(tools.includes('portolan_call_tool'), !all)
  })

  test(`${name}: the end of a run ends its calls`, { timeout: 20_000 }, async () => {
    began = Promise.withResolvers()
    ended = Promise.withResolvers()
    const stop = new AbortController()
    const asking = assert.rejects(ask(view, 'Hang', { signal: stop.signal }))
    await began.promise
    stop.abort()
    await ended.promise
    await asking
  })

  test(`${name}: a registry does as well as a view`, async () => {
    assert.equal(await ask(registry, 'Add', { filter: { include: ['demo__*'] } }), '42')
    assert.ok(api.last().tools.every((tool) => tool.startsWith('demo__')))
  })
}

const stray = Object.entries(asks).filter(([name]) => /^(openai-responses|gemini|a loop.*)$/.test(name))
for (const [name, ask] of stray) {
  test(`${name}: calls that the model made up are answered`, async () => {
    const [first, nowhere] = (await ask(view, 'Stray'))!.split(' | ')
    if (/responses|Chat/.test(name)) assert.match(first!, /invalid_arguments/)
    assert.match(nowhere!, /nowhere/)
  })
}

const png = async () => (await registry.call('demo__picture', {})).content[1] as { data: string }

test('the Responses API gets images and documents by answerCalls', async () => {
  await asks['openai-responses']!(view, 'Look')
  const [golden] = api.last().answers as OpenAI.Responses.ResponseInputItem.FunctionCallOutput[]
  const { call_id } = golden!
  assert.deepEqual(
    golden,
    {
      type: 'function_call_output',
      call_id,
      output: [
        { type: 'input_text', text: 'A page:' },
        { type: 'input_file', filename: 'document.pdf', file_data: `data:application/pdf;base64,${pdf}` },
        { type: 'input_image', image_url: `data:image/gif;base64,${gif}`, detail: 'auto' },
      ],
    } satisfies OpenAI.Responses.ResponseInputItem.FunctionCallOutput,
  )
})

test('the agents of OpenAI give their model images and documents', async () => {
  await asks['openai-agents']!(view, 'Look')
  const { output } = api.last().answers[0] as OpenAI.Responses.ResponseInputItem.FunctionCallOutput
  assert.deepEqual(output, [
    { type: 'input_text', text: 'A page:' },
    { type: 'input_file', filename: 'document.pdf', file_data: `data:application/pdf;base64,${pdf}` },
    { type: 'input_image', image_url: `data:image/gif;base64,${gif}`, detail: 'auto' },
  ])
})

for (const name of ['anthropic', 'a loop on Messages']) {
  test(`P19: ${name}: results have images and documents, and failures are marked`, async () => {
    await asks[name]!(view, 'Look')
    const [{ tool_use_id, ...block }] = api.last().answers as [Anthropic.ToolResultBlockParam]
    assert.match(tool_use_id, /^call_/)
    assert.deepEqual(
      block,
      {
        type: 'tool_result',
        content: [
          { type: 'text', text: 'A page:' },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf } },
          { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: gif } },
        ],
      } satisfies Omit<Anthropic.ToolResultBlockParam, 'tool_use_id'>,
    )
    meet = Promise.withResolvers()
    await asks[name]!(view, 'Fail')
    const answers = api.last().answers as Anthropic.ToolResultBlockParam[]
    assert.deepEqual(answers.map((a) => a.is_error), [true, true, undefined])
  })
}

test('two agents of one registry find the tools of their own deferred lists', async () => {
  const deferred = { budgetTokens: 1 }
  const [demo, s] = ['demo', 's'].map((server) => anthropic.runnableTools(registry, { servers: [server], deferred }))
  for (const [tools, query] of [[demo!, 'add two numbers'], [s!, 'mixed']] as const) {
    const search = tools.find(({ name }) => name === 'portolan_search_tools')!
    const found = await search.run({ query, limit: 20 }, { toolUse: { id: 'a' } })
    assert.ok(Array.isArray(found), query)
    for (const block of found) assert.ok(tools.some((t) => 'tool_name' in block && t.name === block.tool_name))
  }
})

test('a loop on Anthropic sends no blank text back, which the API refuses', async () => {
  const use = { type: 'tool_use', id: 'a', name: 'demo__add', input: { a: 40, b: 2 } }
  const says = [[{ type: 'text', text: '\n\n' }, use], [{ type: 'text', text: '' }], [{ type: 'text', text: '42' }]]
  const sent: { messages: Anthropic.MessageParam[] }[] = []
  const create = async (body: never) => (sent.push(body), { content: says[sent.length - 1] })
  const asked = anthropic.model({ messages: { create } }, { model: 'any' })
  const events = loop({
    view: registry,
    model: asked,
    prompt: 'Add',
    format: 'anthropic',
    done: (text) => text === '42',
  })
  for await (const event of events) if (event.type === 'stopped') assert.fail(String(event.error ?? event.why))
  assert.equal(sent.length, 3)
  const blocks = sent.flatMap(({ messages }) =>
    messages.flatMap(({ content }) => content as Anthropic.ContentBlockParam[])
  )
  for (const block of blocks) assert.ok(block.type !== 'text' || block.text.trim(), 'a blank text')
  assert.deepEqual(sent.at(-1)!.messages[1], { role: 'assistant', content: [use] })
})

test('the search of a deferred list answers Anthropic with references', async () => {
  await asks['anthropic']!(view, 'Find', { filter: { deferred: { budgetTokens: 1 } } })
  const { tools } = api.bodies.findLast((body) => body['tools']) as unknown as { tools: Anthropic.Beta.BetaTool[] }
  const atOnce = tools.filter((t) => !t.defer_loading).map((t) => t.name)
  // No search finds the view's own tools.
  assert.deepEqual(atOnce, ['first', 'second', 'hang', 'portolan_search_tools'])
  assert.ok(tools.every((t) => !('run' in t) && t.input_schema.type === 'object'))
  const [{ content }] = api.last().answers as [Anthropic.Beta.BetaToolResultBlockParam]
  assert.ok(Array.isArray(content))
  assert.deepEqual(content[0], { type: 'tool_reference', tool_name: 'demo__add' })
})

test('a loop on Anthropic sends no reference to a found tool that is not in the request, which the API refuses', async () => {
  const agent = registry.view({ servers: ['demo'] })
  const use = { type: 'tool_use', id: 'a', name: 'portolan_search_tools', input: { query: 'add or echo' } }
  type Answers = { content: Anthropic.Beta.BetaToolResultBlockParam[] }
  for (const format of ['anthropic', 'openai'] as const) {
    const sent: { messages: Anthropic.MessageParam[] }[] = []
    const create = async (body: never) => (sent.push(body), { content: sent.length < 2 ? [use] : [] })
    const found = () => (sent.at(-1)!.messages[2] as Answers).content[0]!.content
    const excludes = [['demo__add'], ['demo__add', 'demo__echo']]
    const events = loop({
      view: {
        getTools: (options) => agent.getTools({ ...options, deferred: { budgetTokens: 1 } }),
        has: (name) => agent.has(name),
        call: (...call) => agent.call(...call),
      },
      model: anthropic.model({ messages: { create } }, { model: 'any', view: agent }),
      prompt: 'Add',
      format,
      done: () => {
        const references = ['demo__add', 'demo__echo'].slice(sent.length - 2)
          .map((tool_name) => ({ type: 'tool_reference', tool_name }))
        if (format === 'anthropic' && references.length) assert.deepEqual(found(), references)
        else assert.match(String(found()), /"demo__add"/)
        const exclude = excludes.shift()
        if (exclude) agent.update({ exclude })
        return !exclude
      },
    })
    for await (const event of events) if (event.type === 'stopped') assert.fail(String(event.error ?? event.why))
    assert.equal(sent.length, 4)
    agent.update({ exclude: [] })
  }
})

for (const name of ['gemini', 'a loop on Gemini']) {
  test(`${name}: answers have the names that were called, and no made-up ids`, async () => {
    await asks[name]!(view, 'Look')
    assert.deepEqual(api.last().answers, [{
      name: 's__mixed',
      response: { output: 'A page:\n[image: image/gif, 35 B]' }, // it takes no GIF
      parts: [{ inlineData: { mimeType: 'application/pdf', data: pdf } }],
    }])
    await asks[name]!(view, 'Find', { filter: { deferred: { budgetTokens: 1 } } })
    const names = (api.last().answers as { name: string }[]).map((a) => a.name)
    assert.deepEqual(names, ['portolan_search_tools', 'portolan_call_tool'])
    meet = Promise.withResolvers()
    await asks[name]!(view, 'Fail')
    const marks = (api.last().answers as { response: object }[]).map((a) => Object.keys(a.response).join())
    assert.deepEqual(marks, ['error', 'error', 'output'])
  })
}

test('two callable tools of Gemini share the calls of a turn', async () => {
  const demo = gemini.callableTool(registry, { include: ['demo__*'] })
  const mine = gemini.callableTool(registry.view({ servers: [], extra }), { others: true })
  meet = Promise.withResolvers()
  meet.resolve()
  const turn = [{ name: 'demo__add', args: { a: 1, b: 2 } }, { name: 'second' }, { id: 'x', name: 'nowhere' }]
  assert.deepEqual(await mine.callTool(turn), [{ functionResponse: { name: 'second', response: { output: 'two' } } }])
  const all = await demo.callTool(turn)
  assert.deepEqual(all[0], { functionResponse: { name: 'demo__add', response: { output: '3' } } })
  assert.equal(all.length, 3)
  assert.equal(all[2]!.functionResponse.id, 'x')
})

test('a dynamic tool is what dynamicTool of the AI SDK makes', async () => {
  const tool = toolSet(view, { dynamic: true, include: ['demo__add'] })['demo__add']!
  assert.equal(tool.type, 'dynamic')
  assert.deepEqual(dynamicTool(tool as never), tool as unknown)
  const tools: ToolSet = toolSet(view, { dynamic: true })
  const provider = createOpenAICompatible({ name: 'scripted', apiKey, baseURL: `${api.url}/v1` })
  const { text, steps } = await generateText({
    model: provider(model),
    prompt: 'Add',
    tools,
    stopWhen: isStepCount(2),
    maxRetries: 0,
  })
  assert.equal(text, '42')
  assert.equal(steps[0]!.toolCalls[0]!.dynamic, true)
})

test('a message of LangChain has the blocks, the status and the whole result', async () => {
  const tools = structuredTools(view)
  const call = async (name: string, args: object = {}) => {
    const tool = tools.find((t) => t.name === name)!
    return await tool.invoke({ type: 'tool_call', id: 'c1', name, args } as never) as unknown as ToolMessage
  }
  const mixed = await call('s__mixed')
  assert.ok(ToolMessage.isInstance(mixed))
  assert.deepEqual([mixed.status, mixed.tool_call_id, mixed.name], ['success', 'c1', 's__mixed'])
  assert.deepEqual(mixed.content, [
    { type: 'text', text: 'A page:' },
    { type: 'file', source_type: 'base64', mime_type: 'application/pdf', data: pdf },
    { type: 'image', source_type: 'base64', mime_type: 'image/gif', data: gif },
  ])
  assert.equal((mixed.artifact as ToolResult).content.length, 3)
  const broken = await call('demo__fail', { reason: 'fog' })
  assert.deepEqual([broken.status, broken.content], ['error', 'Error: fog'])
  assert.equal((broken.artifact as ToolResult).isError, true)
  const denied = await call('demo__echo', { text: 'x' })
  assert.equal(denied.status, 'error')
  assert.match(String(denied.content), /^Error: denied: /)
  const add = tools.find((t) => t.name === 'demo__add')!
  assert.equal(await add.invoke({ a: 1, b: 2 }), '3', 'without a call, the content alone')
  await assert.rejects(add.invoke({ a: 'x' }), /did not match expected schema/)
})

test('a loop without a format has the tools of a provider all the same', async () => {
  for (const model of [anthropic.model(aClient(), { model: 'any' }), gemini.model(gClient(), { model: 'any' })]) {
    const events = []
    for await (const event of loop({ view, model, prompt: 'Add' })) events.push(event)
    const end = events.at(-1)!
    assert.ok(end.type === 'done', JSON.stringify(end))
    assert.equal(end.text, '42')
    assert.equal(end.state.tokens, 14, 'the tokens of both requests')
  }
  const { tools } = api.bodies.at(-1) as { tools: { functionDeclarations: { parametersJsonSchema: object }[] }[] }
  assert.ok(tools[0]!.functionDeclarations.every((f) => f.parametersJsonSchema))
})

test('tokens that Anthropic writes to its cache or reads from it count', async () => {
  const usage = {
    input_tokens: 5,
    output_tokens: 2,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 4000,
  } as Anthropic.Usage
  const client = { messages: { create: async () => ({ content: [], usage }) } }
  const { signal } = new AbortController()
  const answer = await anthropic.model(client, { model })([{ role: 'user', content: 'Hi' }], { tools: [], signal })
  assert.deepEqual((answer as ModelAnswer).usage, { input: 4305, output: 2 })
})

test('the calls of an answer that the provider cut do not run', async () => {
  const cut = (status: object) => async () => structuredClone(status) as never
  const call = { name: 'demo__add', arguments: '{"a": 40}' }
  const message = { content: 'I add', tool_calls: [{ id: '1', type: 'function', function: call }] }
  const blocks = [{ type: 'text', text: 'I add' }, { type: 'tool_use', id: '1', name: call.name, input: { a: 40 } }]
  const parts = [{ text: 'I add' }, { functionCall: { name: call.name, args: { a: 40 } } }]
  const ask = (client: object) => openai.model({ chat: { completions: client } } as never, { model: 'any' })
  const claude = (answer: object) => anthropic.model({ messages: { create: cut(answer) } }, { model: 'any' })
  const google = (answer: object) => gemini.model({ models: { generateContent: cut(answer) } }, { model: 'any' })
  const cases: [LoopOptions['model'], reason: string, text: string][] = [
    [ask({ create: cut({ choices: [{ finish_reason: 'length', message }] }) }), 'length', 'I add'],
    [ask({ create: cut({ error: { message: 'no credit' } }) }), 'no credit', ''],
    [claude({ stop_reason: 'max_tokens', content: blocks }), 'max_tokens', 'I add'],
    [claude({ stop_reason: 'refusal', content: [] }), 'refusal', ''],
    [claude({ stop_reason: 'pause_turn', content: blocks.slice(0, 1) }), 'pause_turn', 'I add'],
    [claude({ type: 'error', error: { message: 'Overloaded' } }), 'Overloaded', ''],
    [claude({ content: null }), 'no content', ''],
    [google({ candidates: [{ finishReason: 'MAX_TOKENS', content: { parts } }] }), 'MAX_TOKENS', 'I add'],
    [google({ promptFeedback: { blockReason: 'SAFETY' } }), 'SAFETY', ''],
  ]
  for (const [model, reason, text] of cases) {
    const events = []
    for await (const event of loop({ view, model, prompt: 'Add', format: 'openai' })) events.push(event)
    const end = events.at(-1)!
    assert.ok(end.type === 'stopped' && end.why === 'incomplete', JSON.stringify(end))
    assert.ok(String(end.error).endsWith(`: ${reason}.`), String(end.error))
    assert.deepEqual([end.state.calls, end.state.text], [0, text])
    assert.ok(!end.state.messages.some((m) => 'calls' in m || 'raw' in m), 'the conversation can go on')
  }
  const refused = ask({ create: cut({ choices: [{ finish_reason: 'stop', message: { refusal: 'I do not.' } }] }) })
  const { signal } = new AbortController()
  const said = await refused([{ role: 'user', content: 'Hi' }], { tools: [], signal }) as ModelAnswer
  assert.deepEqual(said, { text: 'I do not.', calls: [] })
})

test('arguments of another model that are no object go on as an empty one, which the APIs take', async () => {
  const bodies: object[] = []
  const send = (answer: object) => async (body: object) => (bodies.push(body), answer)
  const claude = anthropic.model({ messages: { create: send({ content: [] }) } }, { model: 'any' })
  const google = gemini.model({ models: { generateContent: send({ candidates: [] }) } }, { model: 'any' })
  const calls = ['["a"]', '"b"', '3', 'null', '{broken', '{"a":1}'].map((args, i) => (
    { id: `${i}`, name: 'demo__add', arguments: args }
  ))
  const { signal } = new AbortController()
  for (const model of [claude, google]) await model([{ role: 'assistant', content: '', calls }], { tools: [], signal })
  const sent = JSON.parse(JSON.stringify(bodies)) as [
    { messages: { content: { input: object }[] }[] },
    { contents: { parts: { functionCall: { args: object } }[] }[] },
  ]
  const want = [{}, {}, {}, {}, {}, { a: 1 }]
  assert.deepEqual(sent[0].messages[0]!.content.map((block) => block.input), want)
  assert.deepEqual(sent[1].contents[0]!.parts.map((part) => part.functionCall.args), want)
})

test('a name that a model of OpenAI has made up goes back in characters that the API takes', async () => {
  const made = { id: 'a', function: { name: 'multi_tool_use.parallel', arguments: '{}' } }
  const sent: OpenAI.ChatCompletionCreateParams[] = []
  const create = async (body: never) => {
    sent.push(body)
    return { choices: [{ message: sent.length < 2 ? { tool_calls: [made] } : { content: 'Oh.' } }] }
  }
  const model = openai.model({ chat: { completions: { create } } }, { model: 'any' })
  for await (const event of loop({ view: registry, model, prompt: 'Add' }))
    if (event.type === 'stopped') assert.fail(String(event.error ?? event.why))
  const { tool_calls: [call] } = sent[1]!.messages[1] as { tool_calls: OpenAI.ChatCompletionMessageFunctionToolCall[] }
  assert.match(call!.function.name, /^[a-zA-Z0-9_-]{1,64}$/)
})

test('a conversation of another model goes on with Claude, also when its tools are gone', async () => {
  const call = { functionCall: { name: 'demo__add', args: {} } }
  const google = gemini.model(
    { models: { generateContent: async () => ({ candidates: [{ content: { parts: [call, call] } }] }) } },
    { model: 'any' },
  )
  let sent!: Anthropic.MessageCreateParams
  const claude = anthropic.model({ messages: { create: async (body: never) => (sent = body, { content: [] }) } }, {
    model: 'any',
  })
  const { signal } = new AbortController()
  const said = await google([{ role: 'user', content: 'Add' }], { tools: [], signal }) as ModelAnswer
  const calls = [...said.calls!, { id: 'functions.Bash:0', name: 'demo.add', arguments: '{}' }]
  const answers = calls.map(({ id: callId, name }) => (
    { role: 'tool' as const, callId, name, content: '42', isError: false }
  ))
  await claude([{ role: 'assistant', content: '', calls, raw: said.raw }, ...answers], { tools: [], signal })
  const [asked, answered] = sent.messages.map(({ content }) => content) as [
    Anthropic.ToolUseBlockParam[],
    Anthropic.ToolResultBlockParam[],
  ]
  const ids = asked.map(({ id }) => id)
  assert.equal(new Set(ids).size, 3)
  for (const id of [...ids, ...asked.map(({ name }) => name)]) assert.match(id, /^[a-zA-Z0-9_-]+$/)
  assert.deepEqual(answered.map((block) => block.tool_use_id), ids)
  // The API refuses calls where the request has no tools.
  assert.deepEqual((sent.tools as Anthropic.Tool[]).map((tool) => tool.name), ['demo__add', 'demo_2eadd'])
  assert.deepEqual(sent.tool_choice, { type: 'none' })
})

test('a call of the Responses API that was cut does not run, and the model reads why', async () => {
  let calls = 0
  const counted = {
    call: (...args: Parameters<typeof view.call>) => {
      calls++
      return view.call(...args)
    },
    toMessage: view.toMessage,
  }
  const item = { type: 'function_call', call_id: 'c1', name: 'demo__echo', arguments: '' }
  const output = [{ ...item, status: 'incomplete' }, { ...item, call_id: 'c2', status: 'completed' }]
  const [cut, whole] = await openai.answerCalls(counted, { output })
  assert.equal(calls, 1)
  assert.deepEqual(cut, { type: 'function_call_output', call_id: 'c1', output: 'Error: the call was cut' })
  assert.equal(whole!.call_id, 'c2')
})

test('images can be left out', async () => {
  const [tool] = anthropic.runnableTools(registry, { include: ['demo__picture'], modalities: { image: false } })
  assert.equal(await tool!.run({}), 'One pixel:\n[image: image/png, 70 B]')
  const [seeing] = anthropic.runnableTools(registry, { include: ['demo__picture'] })
  assert.deepEqual((await seeing!.run({}) as object[])[1], {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: (await png()).data },
  })
  assert.throws(() => anthropic.runnableTools(registry, { server: 's' } as never), { code: 'invalid_option' })
})
