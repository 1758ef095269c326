import type {
  AnthropicTool,
  JSONSchema,
  MediaOptions,
  ToolFilter,
  ToolMessages,
  View,
} from '../../wasm/js/shared/types.ts'
import type { Model } from '../loop/types.ts'

/**
 * The tools of a registry or a view, for `client.beta.messages.toolRunner()` of `@anthropic-ai/sdk`. Results have their
 * images and documents. A call that fails is an answer with `is_error`, for the model. Throws `invalid_option`.
 *
 * With `deferred`, the API loads the tools that `portolan_search_tools` finds.
 *
 * ```ts
 * const message = await client.beta.messages.toolRunner({
 *   model, max_tokens, messages, tools: runnableTools(registry),
 * })
 * ```
 */
export declare function runnableTools(
  source: Pick<View, 'getTools' | 'call' | 'toMessage'>,
  options?: ToolFilter & MediaOptions,
): RunnableTool[]

/** A tool that the tool runner can run (`BetaRunnableTool`). */
export interface RunnableTool extends AnthropicTool {
  input_schema: JSONSchema & { type: 'object' }
  /** Calls the tool. It throws the text of a result with `isError`, because the runner marks what is thrown. */
  run(
    args: Record<string, unknown>,
    context?: { toolUse: { id: string }; signal?: AbortSignal | null | undefined },
  ): Promise<ToolMessages['anthropic']['content']>
  /** Gives the input as it is: the registry and the server check arguments. */
  parse(content: unknown): Record<string, unknown>
}

/** Makes a model for `portolan/loop` and `portolan/run`. */
export declare function model(client: MessagesClient, options: ModelSettings): Model

/** The members of a client of `@anthropic-ai/sdk` that are used. */
export interface MessagesClient {
  messages: {
    /** Asks the model. */
    create(body: never, options: { signal: AbortSignal }): PromiseLike<unknown>
  }
}

/** Options of {@link model}. */
export interface ModelSettings {
  /** The provider's name of the model. */
  model: string
  /** More fields of each request, such as `temperature`. The default of `max_tokens` is 8,192. */
  request?: Record<string, unknown>
  /** The registry or view of the loop. With it, the model gets images and documents of results. */
  view?: Pick<View, 'toMessage'>
}
