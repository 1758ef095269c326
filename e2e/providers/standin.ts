import { listen, type Listening } from '../rig/harness.ts'
import type { Anthropic, GenerateContentResponse, OpenAI } from './clients.ts'
import { chatPieces, geminiPieces, messagePieces, responsePieces, type Piece } from './streams.ts'

/** The input of a scripted model. */
export interface Seen {
  /** The last thing that the user wrote. */
  question: string
  /** The answers to its calls since, as they came, and their texts. */
  answers: object[]
  texts: string[]
  /** The names of the tools. */
  tools: string[]
}

/** The output of a scripted model. */
export interface Turn {
  text?: string
  calls?: [name: string, args: Record<string, unknown> | string][]
}

export interface StandIn extends Listening {
  /** The bodies of its requests, in order. */
  bodies: Record<string, unknown>[]
  /** The last input of the model. */
  last(): Seen
}

type Call = { id: string; name: string; args: Record<string, unknown> | string }
type Body = Record<string, unknown>

/** The form of a provider's requests and answers. */
interface Wire {
  read(body: Body, earlier: Map<string, object[]>): Seen & { asked: Asked[] }
  write(text: string | undefined, calls: Call[], id: string, earlier: Map<string, object[]>, body: Body): object
  /** The same as a stream. */
  stream(answer: object): Piece[]
}

/** The calls of one turn by their ids, and the ids of the answers that came right after. */
type Asked = { calls: string[]; answers: string[] }

/**
 * An endpoint that speaks the formats of Chat Completions, Responses, Messages and Gemini, whose model does what the
 * script says. As the real ones, it refuses calls that are not answered, each once.
 */
export async function standIn(script: (seen: Seen) => Turn, origin = '*'): Promise<StandIn> {
  const bodies: Body[] = []
  const earlier = new Map<string, object[]>()
  let last: Seen
  const { url, close } = await listen(async (req, res) => {
    res.setHeader('access-control-allow-origin', origin)
    res.setHeader('access-control-allow-headers', '*, authorization')
    if (req.method === 'OPTIONS') return void res.writeHead(204).end()
    let text = ''
    for await (const chunk of req) text += chunk
    const send = (status: number, body: object) =>
      void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const path = new URL(req.url!, 'http://x').pathname
    const wire = Object.entries(wires).find(([end]) => path.endsWith(end))?.[1]
    if (!wire) return send(404, { error: { message: `no such path: ${path}` } })
    const body = JSON.parse(text) as Body
    bodies.push(body)
    try {
      const { asked, ...seen } = wire.read(body, earlier)
      last = seen
      const wrong = asked.find(({ calls, answers }) => calls.join() !== answers.join())
      if (wrong) throw new Error(`the calls ${wrong.calls} have the answers ${wrong.answers}`)
      const { text: said, calls = [] } = script(seen)
      const made = calls.map(([name, args], i): Call => ({ id: `call_${bodies.length}_${i}`, name, args }))
      const answer = wire.write(said, made, `r${bodies.length}`, earlier, body)
      if (!body['stream'] && !path.endsWith(':streamGenerateContent')) return send(200, answer)
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const { event, data } of wire.stream(answer)) {
        const written = typeof data === 'string' ? data : JSON.stringify(data)
        res.write(`${event ? `event: ${event}\n` : ''}data: ${written}\n\n`)
      }
      res.end()
    } catch (e) {
      send(400, { error: { message: `${(e as Error).message}: ${text}` } })
    }
  })
  return { url, close, bodies, last: () => last }
}

const json = (args: Call['args']) => (typeof args === 'string' ? args : JSON.stringify(args))
const object = (args: Call['args']) => (typeof args === 'string' ? {} : args)
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : (content as { text?: string; tool_name?: string }[]).map((part) => part.text ?? part.tool_name ?? '').join('')

const chat: Wire = {
  read(body) {
    const { messages, tools = [] } = body as unknown as OpenAI.ChatCompletionCreateParams
    const asked: Asked[] = []
    for (const m of messages) {
      if (m.role === 'assistant' && m.tool_calls) asked.push({ calls: m.tool_calls.map((c) => c.id), answers: [] })
      if (m.role === 'tool') asked.at(-1)!.answers.push(m.tool_call_id)
    }
    const at = messages.findLastIndex((m) => m.role === 'user')
    const answers = messages.slice(at).filter((m) => m.role === 'tool')
    return {
      question: textOf(messages[at]!.content),
      answers,
      texts: answers.map((m) => textOf(m.content)),
      tools: tools.map((t) => (t.type === 'function' ? t.function.name : '')),
      asked,
    }
  },
  write(text = '', calls, id) {
    const message: OpenAI.ChatCompletionMessage = {
      role: 'assistant',
      content: text,
      refusal: null,
      ...(calls.length && {
        tool_calls: calls.map((c) => ({
          id: c.id,
          type: 'function' as const,
          function: { name: c.name, arguments: json(c.args) },
        })),
      }),
    }
    const choice = { index: 0, message, logprobs: null, finish_reason: calls.length ? 'tool_calls' : 'stop' } as const
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    return {
      id,
      object: 'chat.completion',
      created: 0,
      model: 'any',
      choices: [choice],
      usage,
    } satisfies OpenAI.ChatCompletion
  },
  stream: (answer) => chatPieces(answer as OpenAI.ChatCompletion),
}

type Item = OpenAI.Responses.ResponseInputItem
const inputOf = (body: Body, earlier: Map<string, object[]>): Item[] => {
  const { input, previous_response_id } = body as unknown as OpenAI.Responses.ResponseCreateParams
  const before = previous_response_id ? earlier.get(previous_response_id) as Item[] : []
  return [...before, ...(typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input!)]
}

const responses: Wire = {
  read(body, earlier) {
    const input = inputOf(body, earlier)
    const asked: Asked = { calls: [], answers: [] }
    for (const item of input) {
      if (item.type === 'function_call') asked.calls.push(item.call_id)
      if (item.type === 'function_call_output') asked.answers.push(item.call_id!)
    }
    const at = input.findLastIndex((item) => 'role' in item && item.role === 'user')
    const answers = input.slice(at).filter((item) => item.type === 'function_call_output')
    const { tools = [] } = body as unknown as OpenAI.Responses.ResponseCreateParams
    return {
      question: textOf((input[at] as { content: unknown }).content),
      answers,
      texts: answers.map((item) => textOf(item.output)),
      tools: tools!.map((t) => (t.type === 'function' ? t.name : '')),
      asked: [asked],
    }
  },
  write(text, calls, id, earlier, body) {
    const output: OpenAI.Responses.ResponseOutputItem[] = [
      ...(text === undefined ? [] : [{
        id: `m${id}`,
        type: 'message' as const,
        role: 'assistant' as const,
        status: 'completed' as const,
        content: [{ type: 'output_text' as const, text, annotations: [] }],
      }]),
      ...calls.map((c) => ({
        type: 'function_call' as const,
        id: `f${c.id}`,
        call_id: c.id,
        name: c.name,
        arguments: json(c.args),
        status: 'completed' as const,
      })),
    ]
    earlier.set(id, [...inputOf(body, earlier), ...output])
    return { id, object: 'response', created_at: 0, status: 'completed', model: 'any', output, usage: null }
  },
  stream: (answer) => responsePieces(answer as Parameters<typeof responsePieces>[0]),
}

type Thread = Pick<Anthropic.MessageCreateParams, 'messages' | 'tools'>
/** The tool runner sends what is new. The API keeps the rest. */
const threadOf = (body: Body, earlier: Map<string, object[]>): Thread => {
  const { previous_message_id: id } = (body['thread'] ?? {}) as { previous_message_id?: string }
  const { messages, tools } = body as unknown as Thread
  const [before] = (id ? earlier.get(id) : []) as Thread[]
  return { messages: [...before?.messages ?? [], ...messages], tools: tools ?? before?.tools ?? [] }
}

const messages: Wire = {
  read(body, earlier) {
    const { messages, tools } = threadOf(body, earlier)
    const blocks = messages.map(({ content }) =>
      typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    )
    const asked = messages.flatMap(({ role }, i): Asked[] =>
      role === 'assistant' && blocks[i]!.some((b) => b.type === 'tool_use')
        ? [{
          calls: blocks[i]!.flatMap((b) => (b.type === 'tool_use' ? [b.id] : [])),
          answers: (blocks[i + 1] ?? []).flatMap((b) => (b.type === 'tool_result' ? [b.tool_use_id] : [])),
        }]
        : []
    )
    const at = messages.findLastIndex(({ role }, i) => role === 'user' && blocks[i]!.some((b) => b.type === 'text'))
    const answers = blocks.slice(at).flat().filter((b) => b.type === 'tool_result')
    return {
      question: textOf(blocks[at]),
      answers,
      texts: answers.map((b) => textOf(b.content)),
      tools: tools!.map((t) => ('name' in t ? t.name : '')),
      asked,
    }
  },
  write(text, calls, id, earlier, body) {
    const content = [
      ...(text === undefined ? [] : [{ type: 'text' as const, text, citations: null }]),
      ...calls.map((c) => ({ type: 'tool_use' as const, id: c.id, name: c.name, input: object(c.args) })),
    ]
    const { messages, tools } = threadOf(body, earlier)
    earlier.set(id, [{ messages: [...messages, { role: 'assistant', content }], tools }])
    return {
      id,
      type: 'message',
      role: 'assistant',
      model: 'any',
      content,
      stop_reason: calls.length ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 2 },
    } satisfies { [K in keyof Anthropic.Message]?: unknown }
  },
  stream: (answer) => messagePieces(answer as Parameters<typeof messagePieces>[0]),
}

const gemini: Wire = {
  read(body) {
    type Part = NonNullable<NonNullable<NonNullable<GenerateContentResponse['candidates']>[0]['content']>['parts']>[0]
    const { contents, tools = [] } = body as {
      contents: { role: string; parts: Part[] }[]
      tools?: { functionDeclarations: { name: string }[] }[]
    }
    const idOf = (part: { id?: string; name?: string } | undefined) => (part ? [`${part.name}:${part.id}`] : [])
    const asked = contents.map(({ parts }, i): Asked => ({
      calls: parts.flatMap((p) => idOf(p.functionCall)),
      answers: parts.some((p) => p.functionCall)
        ? (contents[i + 1]?.parts ?? []).flatMap((p) => idOf(p.functionResponse))
        : [],
    }))
    const at = contents.findLastIndex(({ role, parts }) => role === 'user' && parts.some((p) => p.text))
    const answers = contents.slice(at).flatMap((c) => c.parts.flatMap((p) => p.functionResponse ?? []))
    return {
      question: textOf(contents[at]!.parts),
      answers,
      texts: answers.map(({ response }) => String(response!['output'] ?? response!['error'])),
      tools: tools.flatMap((t) => t.functionDeclarations.map((f) => f.name)),
      asked,
    }
  },
  // Gemini gives calls no ids, as a rule.
  write(text, calls) {
    const parts = [
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map((c) => ({ functionCall: { name: c.name, args: object(c.args) }, thoughtSignature: 'c2lnbmVk' })),
    ]
    return {
      candidates: [{ content: { role: 'model', parts }, index: 0 }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
    } satisfies Pick<GenerateContentResponse, 'candidates' | 'usageMetadata'>
  },
  stream: (answer) => geminiPieces(answer as Parameters<typeof geminiPieces>[0]),
}

const wires: Record<string, Wire> = {
  '/chat/completions': chat,
  '/responses': responses,
  '/messages': messages,
  ':generateContent': gemini,
  ':streamGenerateContent': gemini,
}
