import type { OpenAITool, Tool, View } from '../../wasm/js/shared/types.ts'
import type { ModelMessage, ToolCall } from '../loop/types.ts'
import type * as types from './anthropic-types.ts'
import { argumentsOf, given, legal, resultOf, split } from './common.ts'

const format = 'anthropic'

export const runnableTools: typeof types.runnableTools = (source, options) => {
  const [filter, media] = split(options)
  // A search finds the tools of the last deferred list, so each has a view of its own.
  const own = filter.deferred ? (given(source) as Partial<View>).view?.() ?? source : given(source)
  return own.getTools({ ...filter, format }).map((tool) => ({
    ...tool,
    input_schema: { ...tool.input_schema, type: 'object' },
    parse: (content) => content as Record<string, unknown>,
    run: async (args, context) => {
      const callId = context?.toolUse.id ?? ''
      const result = await resultOf(own, tool.name, args, {
        callId,
        ...(context?.signal && { signal: context.signal }),
      })
      const { is_error, content } = await own.toMessage(result, { ...media, format, callId })
      // The runner writes `Error: ` before the message.
      if (is_error) throw new Error(String(content).replace(/^Error: /, ''))
      return content
    },
  }))
}

/** The tokens that the model read. Those of its cache are counted apart. */
const inputOf = (usage: NonNullable<ModelReply['usage']>) =>
  usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0)

/** The stop reasons of an answer that is not whole. The input of its last call may be cut. */
const early = ['max_tokens', 'refusal', 'model_context_window_exceeded', 'pause_turn']

type Block = Record<string, unknown> & { type: string }
interface ModelReply {
  /** Some services answer a failure with the status 200. */
  error?: { message?: string }
  stop_reason?: string | null
  content?: (Block & { text?: string; id?: string; name?: string; input?: Record<string, unknown> })[]
  usage?: {
    input_tokens: number
    output_tokens: number
    cache_creation_input_tokens?: number | null
    cache_read_input_tokens?: number | null
  }
}

export const model: typeof types.model = (client, { model, request, view }) => async (messages, { tools, signal }) => {
  const system = messages.flatMap((m) => m.role === 'system' ? m.content : []).join('\n\n')
  const answer = await client.messages.create(
    {
      max_tokens: 8192,
      ...request,
      model,
      ...(system && { system }),
      messages: await turnsOf(messages, view, tools),
      ...(tools.length ? { tools: tools.map(toolOf) } : usedIn(messages)),
    } as never,
    { signal },
  ) as ModelReply
  const { usage, error } = answer
  const content = Array.isArray(answer.content) ? answer.content : []
  const incomplete = content === answer.content
    ? early.find((reason) => reason === answer.stop_reason)
    : error?.message ?? 'no content'
  return {
    text: content.flatMap((block) => block.type === 'text' ? block.text! : []).join(''),
    calls: content.flatMap((block): ToolCall[] =>
      block.type === 'tool_use' ? [{ id: block.id!, name: block.name!, arguments: block.input! }] : []
    ),
    ...(usage && { usage: { input: inputOf(usage), output: usage.output_tokens } }),
    ...(incomplete && { incomplete }),
    raw: content,
  }
}

/** The tool of a loop without `format`. */
function toolOf(tool: Tool): object {
  const { function: f } = tool as OpenAITool
  return f ? { name: f.name, description: f.description, input_schema: f.parameters } : tool
}

/** The tools that were called. The API wants them where there are none now, as after the last server was removed. */
function usedIn(messages: readonly ModelMessage[]): object {
  const calls = messages.flatMap((m) => m.role === 'assistant' && m.calls || [])
  const names = [...new Set(calls.map(({ name }) => legal(name)))]
  const tools = names.map((name) => ({ name, input_schema: { type: 'object' } }))
  return names.length ? { tools, tool_choice: { type: 'none' } } : {}
}

/** The messages after the system's. The answers to the calls of one turn are one message. */
async function turnsOf(
  messages: readonly ModelMessage[],
  view: types.ModelSettings['view'],
  tools: readonly Tool[],
): Promise<object[]> {
  const names = new Set<unknown>(tools.map((tool) => (tool as { name?: string }).name))
  const turns: { role: string; content: string | Block[] }[] = []
  let answers: Block[] | undefined
  for (const message of messages) {
    const { role, content } = message
    if (role === 'tool') {
      if (!answers) turns.push({ role: 'user', content: answers = [] })
      const { isError, result } = message
      const callId = legal(message.callId)
      const answer = view && result
        ? await view.toMessage(result, { format, callId })
        : { type: 'tool_result' as const, tool_use_id: callId, content, ...(isError && { is_error: true as const }) }
      // The API refuses references to tools that are not in the request. They may be gone since the search.
      const isThere = (block: Block) => block.type !== 'tool_reference' || names.has(block['tool_name'])
      if (Array.isArray(answer.content)) {
        const there = answer.content.filter(isThere)
        answer.content = there.length ? there : content
      }
      answers.push(answer)
      continue
    }
    answers = undefined
    if (role === 'user') turns.push({ role, content })
    if (role === 'assistant') {
      const blocks: (Block & { text?: string })[] = Array.isArray(message.raw) ? message.raw : blocksOf(message)
      // The API gives texts that are blank, and refuses a request with one.
      turns.push({ role, content: blocks.filter(({ type, text }) => type !== 'text' || text?.trim()) })
    }
  }
  return turns.filter((turn) => turn.content.length)
}

function blocksOf({ content, calls = [] }: ModelMessage & { role: 'assistant' }): Block[] {
  return [
    ...(content ? [{ type: 'text', text: content }] : []),
    ...calls.map(({ id, name, arguments: args }) => (
      { type: 'tool_use', id: legal(id), name: legal(name), input: argumentsOf(args) }
    )),
  ]
}
