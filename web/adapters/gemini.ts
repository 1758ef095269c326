import type { OpenAITool, Tool, ToolMessages } from '../../wasm/js/shared/types.ts'
import type { ModelMessage } from '../loop/types.ts'
import { argumentsOf, given, resultOf, split } from './common.ts'
import type * as types from './gemini-types.ts'

const format = 'gemini'

/** Begins the ids of calls that the API gave none. It gets none back. */
const made = 'portolan:'

/** An answer has the name that the model called, also where another tool made the result. */
const named = ({ functionResponse }: ToolMessages['gemini'], name: string) => ({
  functionResponse: { ...functionResponse, name },
})

export const callableTool: typeof types.callableTool = (source, { signal, others, ...options } = {}) => {
  const [filter, media] = split(options)
  given(source)
  return {
    tool: async () => ({ functionDeclarations: source.getTools({ ...filter, format }) }),
    callTool: (calls) =>
      Promise.all(
        calls.filter(({ name = '' }) => !others || source.has(name)).map(
          async ({ id: callId, name = '', args = {} }) => {
            const id = callId ? { callId } : {}
            const result = await resultOf(source, name, args, { ...id, ...(signal && { signal }) })
            return named(await source.toMessage(result, { ...media, ...id, format }), name)
          },
        ),
      ),
  }
}

interface Part {
  text?: string
  thought?: boolean
  functionCall?: { id?: string; name: string; args?: Record<string, unknown> }
}
interface ModelReply {
  candidates?: { content?: { parts?: Part[] }; finishReason?: string }[]
  promptFeedback?: { blockReason?: string }
  usageMetadata?: { promptTokenCount?: number; candidatesTokenCount?: number; thoughtsTokenCount?: number }
}

export const model: typeof types.model =
  (client, { model, request, view }) => async (messages, { tools, json, signal }) => {
    const system = messages.flatMap((m) => m.role === 'system' ? m.content : []).join('\n\n')
    const { candidates, promptFeedback, usageMetadata: usage } = await client.models.generateContent(
      {
        model,
        contents: await contentsOf(messages, view),
        config: {
          ...request,
          abortSignal: signal,
          ...(system && { systemInstruction: system }),
          ...(tools.length && { tools: [{ functionDeclarations: tools.map(declarationOf) }] }),
          ...(json && !tools.length && { responseMimeType: 'application/json' }),
        },
      } as never,
    ) as ModelReply
    const [candidate] = candidates ?? []
    const raw = candidate?.content
    const end = candidate ? candidate.finishReason ?? 'STOP' : promptFeedback?.blockReason ?? 'no candidate'
    const parts = raw?.parts ?? []
    return {
      text: parts.map(({ text = '', thought }) => thought ? '' : text).join(''),
      calls: parts.flatMap(({ functionCall: call }, i) =>
        call ? { id: call.id || `${made}${messages.length}.${i}`, name: call.name, arguments: call.args ?? {} } : []
      ),
      ...(usage && {
        usage: {
          input: usage.promptTokenCount ?? 0,
          output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
        },
      }),
      ...(end !== 'STOP' && { incomplete: end }),
      raw,
    }
  }

/** The tool of a loop without `format`. */
function declarationOf(tool: Tool): object {
  const { function: f } = tool as OpenAITool
  return f ? { name: f.name, description: f.description, parametersJsonSchema: f.parameters } : tool
}

const idOf = (id: string) => id.startsWith(made) ? {} : { id }

/** The messages after the system's. The answers to the calls of one turn are one content. */
async function contentsOf(messages: readonly ModelMessage[], view: types.ModelSettings['view']): Promise<object[]> {
  const contents: { role: string; parts: object[] }[] = []
  let answers: object[] | undefined
  for (const message of messages) {
    const { role, content } = message
    if (role === 'tool') {
      if (!answers) contents.push({ role: 'user', parts: answers = [] })
      const { callId, name, isError, result } = message
      const response = isError ? { error: content } : { output: content }
      const answer = view && result
        ? await view.toMessage(result, { format })
        : { functionResponse: { name, response } }
      answers.push({ functionResponse: { ...idOf(callId), ...answer.functionResponse, name } })
      continue
    }
    answers = undefined
    if (role === 'user') contents.push({ role, parts: [{ text: content }] })
    if (role === 'assistant') contents.push(turnOf(message))
  }
  return contents.filter(({ parts }) => parts.length)
}

function turnOf({ content, calls = [], raw }: ModelMessage & { role: 'assistant' }): { role: string; parts: object[] } {
  // Its parts have signatures that the API wants back.
  const { parts } = (raw ?? {}) as { parts?: object[] }
  return {
    role: 'model',
    parts: Array.isArray(parts) ? parts : [
      ...(content ? [{ text: content }] : []),
      ...calls.map(({ id, name, arguments: args }) => ({
        functionCall: { ...idOf(id), name, args: argumentsOf(args) },
      })),
    ],
  }
}
