import type { GeminiTool, MediaOptions, ToolFilter, ToolMessages, View } from '../../wasm/js/shared/types.ts'
import type { Model } from '../loop/types.ts'

/**
 * The tools of a registry or a view, for `config.tools` of `@google/genai`, which then calls them by itself. The list
 * is read again for each request of yours. The calls of one answer run at the same time, and keep their order. A call
 * that fails is an answer for the model, with the error's code.
 *
 * ```ts
 * const tools = [callableTool(registry)]
 * const { text } = await client.models.generateContent({ model, contents, config: { tools } })
 * ```
 */
export declare function callableTool(
  source: Pick<View, 'getTools' | 'has' | 'call' | 'toMessage'>,
  options?: CallableToolOptions,
): CallableTool

/** Options of {@link callableTool}. */
export interface CallableToolOptions extends ToolFilter, MediaOptions {
  /** Ends the calls. The library passes `config.abortSignal` to no tool, so give it here too. */
  signal?: AbortSignal
  /**
   * Leaves names that the source lacks to another callable tool of the same request. Default: false, which tells the
   * model that there is no such tool.
   */
  others?: boolean
}

/** `CallableTool` of `@google/genai`. */
export interface CallableTool {
  /** The declarations of the tools there are now. */
  tool(): Promise<{ functionDeclarations: (Omit<GeminiTool, 'parameters'> & { parameters?: object })[] }>
  /** Answers the calls in order. */
  callTool(calls: { id?: string; name?: string; args?: Record<string, unknown> }[]): Promise<ToolMessages['gemini'][]>
}

/** Makes a model for `portolan/loop` and `portolan/run`. */
export declare function model(client: GeminiClient, options: ModelSettings): Model

/** The members of a client of `@google/genai` that are used. */
export interface GeminiClient {
  models: {
    /** Asks the model. */
    generateContent(params: never): PromiseLike<unknown>
  }
}

/** Options of {@link model}. */
export interface ModelSettings {
  /** The provider's name of the model. */
  model: string
  /** More fields of `config` of each request, such as `temperature`. */
  request?: Record<string, unknown>
  /** The registry or view of the loop. With it, the model gets images and documents of results. */
  view?: Pick<View, 'toMessage'>
}
