import type { JSONSchema, MediaOptions, ToolFilter, ToolMessages, View } from '../../wasm/js/shared/types.ts'
import type { Model } from '../loop/types.ts'

/**
 * The tools of a registry or a view, for `client.chat.completions.runTools()` of `openai`. Chat Completions take texts
 * only. A call that fails is an answer for the model, with the error's code. Throws `invalid_option`.
 *
 * ```ts
 * const runner = client.chat.completions.runTools({ model, messages, tools: runnableTools(registry) })
 * console.log(await runner.finalContent())
 * ```
 */
export declare function runnableTools(source: Pick<View, 'getTools' | 'call'>, options?: ToolFilter): RunnableTool[]

/** A tool that `openai` can run (`RunnableToolFunctionWithoutParse`). */
export interface RunnableTool {
  type: 'function'
  function: {
    name: string
    description: string
    parameters: JSONSchema
    /** Calls the tool with the model's JSON text. The runner's end is the call's. */
    function(args: string, runner: { controller: AbortController }): Promise<string>
  }
}

/**
 * Answers the function calls of a response of the Responses API. They run at the same time, and the answers have their
 * order. They are the next `input`. Without calls, the array is empty. A call that was cut (`status: 'incomplete'`)
 * does not run, and its answer says so. Rejects only with the end of `signal`.
 *
 * Pass the response, or the items of its output that you want answered. The tools of the request are
 * `getTools({ format: 'openai-responses' })`.
 */
export declare function answerCalls(
  source: Pick<View, 'call' | 'toMessage'>,
  response: { output: readonly ResponseItem[] } | readonly ResponseItem[],
  options?: MediaOptions & { signal?: AbortSignal },
): Promise<ToolMessages['openai-responses'][]>

/** The members of an item of a response's output that are read. All but function calls is left alone. */
export interface ResponseItem {
  type: string
  call_id?: unknown
  name?: unknown
  arguments?: unknown
  status?: unknown
}

/** Makes a model for `portolan/loop` and `portolan/run`, on Chat Completions. */
export declare function model(client: ChatClient, options: ModelSettings): Model

/** The members of a client of `openai` that are used. */
export interface ChatClient {
  chat: {
    completions: {
      /** Asks the model. */
      create(body: never, options: { signal: AbortSignal }): PromiseLike<unknown>
    }
  }
}

/** Options of {@link model}. */
export interface ModelSettings {
  /** The provider's name of the model. */
  model: string
  /** More fields of each request, such as `temperature`. */
  request?: Record<string, unknown>
}
