// The answers of the stand-in as streams: what each provider sends for it, in small pieces.
import type { Anthropic, GenerateContentResponse, OpenAI } from './clients.ts'

/** A server-sent event. */
export interface Piece {
  event?: string
  data: object | string
}

/** A text in two pieces, so that nobody can rely on whole ones. */
const halves = (text: string): string[] => {
  const half = Math.ceil(text.length / 2)
  return [text.slice(0, half), text.slice(half)]
}

export function chatPieces({ choices: [choice], usage, ...rest }: OpenAI.ChatCompletion): Piece[] {
  const { message: { content, tool_calls: calls = [] }, finish_reason } = choice!
  const chunk = (delta: OpenAI.ChatCompletionChunk.Choice.Delta, end: typeof finish_reason | null = null): Piece => ({
    data: {
      ...rest,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: end }],
    } satisfies OpenAI.ChatCompletionChunk,
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...halves(content ?? '').map((text) => chunk({ content: text })),
    ...calls.flatMap((call, index) => {
      const { id, type, function: f } = call as OpenAI.ChatCompletionMessageFunctionToolCall
      return [
        chunk({ tool_calls: [{ index, id, type, function: { name: f.name, arguments: '' } }] }),
        ...halves(f.arguments).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
      ]
    }),
    chunk({}, finish_reason),
    { data: { ...rest, object: 'chat.completion.chunk', choices: [], usage } },
    { data: '[DONE]' },
  ]
}

type Response = Pick<OpenAI.Responses.Response, 'id' | 'output'>

export function responsePieces(response: Response): Piece[] {
  const pieces: Piece[] = []
  const add = (type: string, more: object) =>
    void pieces.push({ event: type, data: { type, sequence_number: pieces.length, ...more } })
  add('response.created', { response: { ...response, status: 'in_progress', output: [] } })
  for (const [output_index, item] of response.output.entries()) {
    const at = { output_index, item_id: item.id }
    if (item.type === 'function_call') {
      const { arguments: args } = item
      add('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } })
      for (const delta of halves(args)) add('response.function_call_arguments.delta', { ...at, delta })
      add('response.function_call_arguments.done', { ...at, name: item.name, arguments: args })
    } else if (item.type === 'message') {
      const [part] = item.content as [OpenAI.Responses.ResponseOutputText]
      const inPart = { ...at, content_index: 0 }
      add('response.output_item.added', { output_index, item: { ...item, content: [], status: 'in_progress' } })
      add('response.content_part.added', { ...inPart, part: { ...part, text: '' } })
      for (const delta of halves(part.text)) add('response.output_text.delta', { ...inPart, delta, logprobs: [] })
      add('response.output_text.done', { ...inPart, text: part.text, logprobs: [] })
      add('response.content_part.done', { ...inPart, part })
    }
    add('response.output_item.done', { output_index, item })
  }
  add('response.completed', { response })
  return pieces
}

type Message = Pick<Anthropic.Message, 'stop_reason' | 'stop_sequence'> & {
  content: ({ type: 'text'; text: string } | { type: 'tool_use'; input: unknown })[]
  usage: object
}

export function messagePieces(message: Message): Piece[] {
  const { content, stop_reason, stop_sequence, usage } = message
  const named = (type: string, more: object = {}): Piece => ({ event: type, data: { type, ...more } })
  return [
    named('message_start', { message: { ...message, content: [], stop_reason: null } }),
    ...content.flatMap((block, index) => {
      const [empty, pieces] = block.type === 'text'
        ? [{ ...block, text: '' }, halves(block.text).map((text) => ({ type: 'text_delta', text }))]
        : [
          { ...block, input: {} },
          halves(JSON.stringify(block.input)).map((partial_json) => ({
            type: 'input_json_delta',
            partial_json,
          })),
        ]
      return [
        named('content_block_start', { index, content_block: empty }),
        ...pieces.map((delta) => named('content_block_delta', { index, delta })),
        named('content_block_stop', { index }),
      ]
    }),
    named('message_delta', { delta: { stop_reason, stop_sequence }, usage }),
    named('message_stop'),
  ]
}

type Generated = Pick<GenerateContentResponse, 'candidates' | 'usageMetadata'>

/** Gemini streams texts in pieces. The calls of a turn come whole, in one piece. */
export function geminiPieces({ candidates, usageMetadata }: Generated): Piece[] {
  const all = candidates![0]!.content!.parts!
  const calls = all.filter((part) => part.functionCall)
  const pieces = [
    ...all.flatMap((part) => part.text ? halves(part.text).map((text) => [{ ...part, text }]) : []),
    ...(calls.length ? [calls] : []),
  ]
  return pieces.map((parts, i) => ({
    data: {
      candidates: [{ content: { role: 'model', parts }, index: 0 }],
      ...(i === pieces.length - 1 && { usageMetadata }),
    },
  }))
}
