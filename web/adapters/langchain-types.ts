import type { DynamicStructuredTool } from '@langchain/core/tools'
import type { JSONSchema, MediaOptions, ToolFilter, View } from '../../wasm/js/shared/types.ts'

/**
 * The tools of a registry or a view, for models and agents of LangChain.js. A tool answers a tool call with a
 * `ToolMessage`. Its content is for the model, with images and documents as standard blocks. Its `artifact` is the
 * whole `ToolResult`. A call that fails has the status `error`, and the error's code in its text.
 *
 * LangChain checks arguments itself, and rejects those that do not fit the schema. Throws `invalid_option`.
 *
 * ```ts
 * const model = chatModel.bindTools(structuredTools(registry))
 * ```
 */
export declare function structuredTools(
  source: Pick<View, 'getTools' | 'call' | 'toMessage'>,
  options?: ToolFilter & MediaOptions,
): DynamicStructuredTool<JSONSchema>[]
