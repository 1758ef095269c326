import type { ModelMessage } from '../loop/types.ts'
import { given, legal, resultOf } from './common.ts'
import type * as types from './openai-types.ts'

export const runnableTools: typeof types.runnableTools = (source, options = {}) =>
  given(source).getTools({ ...options, format: 'openai' }).map((tool) => ({
    ...tool,
    function: {
      ...tool.function,
      function: async (args, { controller: { signal } }) =>
        (await resultOf(source, tool.function.name, args, { signal })).text,
    },
  }))

export const answerCalls: typeof types.answerCalls = (source, response, { signal, ...media } = {}) => {
  given(source, 'call')
  const items = Array.isArray(response) ? response : (response as { output?: typeof response } | undefined)?.output
  if (!Array.isArray(items)) throw new TypeError('the second argument is no response, and no array of its output')
  const calls = items.filter((item) => item.type === 'function_call')
  return Promise.all(calls.map(async (item) => {
    const [callId, name] = [String(item.call_id), String(item.name)]
    // A cut call may have arguments that pass, such as none.
    const from = item.status === 'incomplete' ? { call: () => Promise.reject(new Error('the call was cut')) } : source
    const result = await resultOf(from, name, String(item.arguments), { callId, ...(signal && { signal }) })
    return source.toMessage(result, { ...media, format: 'openai-responses', callId })
  }))
}

interface Completion {
  /** Some services answer a failure with the status 200. */
  error?: { message?: string }
  choices?: {
    finish_reason?: string
    message: {
      content?: string | null
      refusal?: string | null
      tool_calls?: { id: string; function?: { name: string; arguments: string } }[] | null
    }
  }[]
  usage?: { prompt_tokens: number; completion_tokens: number }
}

export const model: typeof types.model = (client, { model, request }) => async (messages, { tools, json, signal }) => {
  const { choices, usage, error } = await client.chat.completions.create(
    {
      ...request,
      model,
      messages: messages.map(messageOf),
      ...(tools.length && { tools }),
      ...(json && { response_format: { type: 'json_object' } }),
    } as never,
    { signal },
  ) as Completion
  const { message, finish_reason: end = 'stop' } = choices?.[0] ?? {}
  const incomplete = message
    ? ['length', 'content_filter'].find((reason) => reason === end)
    : error?.message ?? 'no choice'
  return {
    text: message?.content || message?.refusal || '',
    calls: (message?.tool_calls ?? []).flatMap(({ id, function: f }) =>
      f ? { id, name: f.name, arguments: f.arguments } : []
    ),
    ...(usage && { usage: { input: usage.prompt_tokens, output: usage.completion_tokens } }),
    ...(incomplete && { incomplete }),
  }
}

function messageOf(message: ModelMessage): object {
  const { role, content } = message
  if (role === 'tool') return { role, content, tool_call_id: message.callId }
  if (role !== 'assistant' || !message.calls?.length) return { role, content }
  return {
    role,
    content,
    tool_calls: message.calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name: legal(name), arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    })),
  }
}
