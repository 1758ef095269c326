import { given, resultOf, split } from './common.ts'
import type * as types from './openai-agents-types.ts'

const format = 'openai-responses'

export const functionTools: typeof types.functionTools = (source, options) => {
  const [filter, media] = split(options)
  return given(source).getTools({ ...filter, format }).map(({ type, name, description, parameters }) => ({
    type,
    name,
    description,
    parameters: { properties: {}, required: [], ...parameters } as unknown as types.FunctionTool['parameters'],
    strict: false,
    invoke: async (_, input, { toolCall, signal } = {}) => {
      const callId = toolCall?.callId ?? ''
      const result = await resultOf(source, name, input, { callId, ...(signal && { signal }) })
      const { output } = await source.toMessage(result, { ...media, format, callId })
      if (typeof output === 'string') return output
      return output.map((part) => {
        if (part.type === 'input_text') return { type: 'text', text: part.text }
        if (part.type === 'input_image') return { type: 'image', image: part.image_url, detail: part.detail }
        const [head, data] = part.file_data.split(',') as [string, string]
        const mediaType = head.slice('data:'.length, -';base64'.length)
        return { type: 'file', file: { data, mediaType, filename: part.filename } }
      })
    },
    needsApproval: async () => false,
    isEnabled: async () => true,
  }))
}
