import type { OpenAITool } from 'portolan'

/** Where the model is: any endpoint that speaks OpenAI's chat completions. */
export interface Model {
  baseURL: string
  key: string
  name: string
  streaming: boolean
}

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** A message as the endpoint takes it. */
export type Message =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: ToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string }

export type Answer = Extract<Message, { role: 'assistant' }>

export interface Ask {
  messages: Message[]
  tools: OpenAITool[]
  signal: AbortSignal
  onText(text: string): void
}

/** Asks the model for its next message. `onText` receives the text so far. */
export async function complete(model: Model, { messages, tools, signal, onText }: Ask): Promise<Answer> {
  const response = await fetch(`${model.baseURL.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', ...model.key && { authorization: `Bearer ${model.key}` } },
    body: JSON.stringify({ model: model.name, messages, stream: model.streaming, ...tools.length > 0 && { tools } }),
  })
  if (!response.ok)
    throw new Error(`The model's endpoint answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  if (response.headers.get('content-type')?.includes('text/event-stream')) return streamed(response.body!, onText)
  const { choices } = await response.json() as {
    choices: { message: { content: string | null; tool_calls?: ToolCall[] } }[]
  }
  const { content, tool_calls } = choices[0]!.message
  onText(content ?? '')
  return { role: 'assistant', content: content ?? '', ...tool_calls?.length && { tool_calls } }
}

interface Chunk {
  choices: {
    delta: {
      content?: string | null
      tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[]
    }
  }[]
  error?: { message: string }
}

/** Puts a message together of the pieces that arrive as server-sent events. */
async function streamed(body: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<Answer> {
  let content = ''
  const calls: ToolCall[] = []
  for await (const { choices, error } of chunks(body)) {
    if (error) throw new Error(error.message)
    const delta = choices[0]?.delta
    if (delta?.content) onText(content += delta.content)
    for (const piece of delta?.tool_calls ?? []) {
      const call = calls[piece.index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } }
      call.id ||= piece.id ?? ''
      call.function.name += piece.function?.name ?? ''
      call.function.arguments += piece.function?.arguments ?? ''
    }
  }
  const tool_calls = calls.filter(Boolean)
  return { role: 'assistant', content, ...tool_calls.length > 0 && { tool_calls } }
}

async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Chunk> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const lines = (rest + piece.value).split(/\r?\n/)
    rest = lines.pop()!
    for (const line of lines) {
      const text = line.match(/^data: ?(.*)$/)?.[1]
      if (text && text !== '[DONE]') yield JSON.parse(text) as Chunk
    }
  }
}
