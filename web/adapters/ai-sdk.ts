import type { MediaOptions, RunnableAISDKTool, ToolFilter, View } from '../../wasm/js/shared/types.ts'
import type * as types from './ai-sdk-types.ts'
import { given, resultOf } from './common.ts'

export const toolSet = ((
  source: Pick<View, 'toolsFor'>,
  { dynamic, ...options }: ToolFilter & MediaOptions & { dynamic?: boolean } = {},
) => {
  const tools = Object.entries(given(source, 'toolsFor').toolsFor('ai-sdk', options))
  return Object.fromEntries(tools.map(([name, tool]): [string, RunnableAISDKTool] => {
    const { execute } = tool
    return [name, {
      ...(dynamic && { type: 'dynamic' }),
      ...tool,
      execute: (args, options) => {
        const { abortSignal: signal } = options
        return resultOf({ call: () => execute(args, options) }, name, args, { ...(signal && { signal }) })
      },
    }]
  }))
}) as typeof types.toolSet
