import { ToolMessage } from '@langchain/core/messages'
import { DynamicStructuredTool } from '@langchain/core/tools'
import type { JSONSchema, ToolMessages } from '../../wasm/js/shared/types.ts'
import { given, resultOf, split } from './common.ts'
import type * as types from './langchain-types.ts'

const format = 'ai-sdk'

export const structuredTools: typeof types.structuredTools = (source, options) => {
  const [filter, media] = split(options)
  return given(source).getTools({ ...filter, format: 'openai' }).map((
    { function: { name, description, parameters } },
  ) =>
    new DynamicStructuredTool<JSONSchema>({
      name,
      description,
      schema: parameters,
      responseFormat: 'content_and_artifact',
      func: async (args, _, config) => {
        const { signal, toolCall } = (config ?? {}) as { signal?: AbortSignal; toolCall?: { id?: string } }
        const callId = toolCall?.id
        const result = await resultOf(source, name, args as Record<string, unknown>, {
          ...(callId && { callId }),
          ...(signal && { signal }),
        })
        const content = contentOf(await source.toMessage(result, { ...media, format }))
        if (!callId || !result.isError) return [content, result]
        const error = { status: 'error' as const, tool_call_id: callId, name, content, artifact: result }
        return [new ToolMessage(error), result]
      },
    })
  )
}

function contentOf(message: ToolMessages['ai-sdk']) {
  if (message.type !== 'content') return message.value
  return message.value.map((part) => {
    if (part.type === 'text') return part
    const { mediaType: mime_type, data: { data } } = part
    const [kind] = mime_type.split('/')
    return {
      type: kind === 'image' || kind === 'audio' ? kind : 'file',
      source_type: 'base64' as const,
      mime_type,
      data,
    }
  })
}
