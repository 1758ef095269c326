import type { MediaOptions, RunnableAISDKTool, ToolFilter, View } from '../../wasm/js/shared/types.ts'

/**
 * The tools of a registry or a view, for `generateText`, `streamText` and agents of the AI SDK 7 (`ai`). It is a
 * `ToolSet`. A call that fails is an answer for the model, with the error's code. Throws `invalid_option`.
 *
 * ```ts
 * await generateText({ model, prompt, tools: toolSet(registry), stopWhen: isStepCount(5) })
 * ```
 */
export declare function toolSet(
  source: Pick<View, 'toolsFor'>,
  options?: ToolFilter & MediaOptions & { dynamic?: false },
): Record<string, RunnableAISDKTool>
/** The same as `dynamicTool()` makes: the parts of messages have the type `dynamic-tool`. */
export declare function toolSet(
  source: Pick<View, 'toolsFor'>,
  options: ToolFilter & MediaOptions & { dynamic: true },
): Record<string, DynamicAISDKTool>

/** A tool whose name and arguments no type knows. */
export interface DynamicAISDKTool extends RunnableAISDKTool {
  type: 'dynamic'
}
