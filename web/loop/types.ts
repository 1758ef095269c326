import type { Dialect, DispatchOptions, Tool, ToolProgress, ToolResult } from '../../wasm/js/shared/types.ts'

/**
 * Asks a model again and again, and runs the tools that it calls, until the work is done or a budget is spent. Every
 * end is an event. Only wrong options throw, a `RegistryError` with the code `invalid_option`. To stop early,
 * abort `signal` or leave the `for await`. Both end the model's request, the tools and the loop.
 *
 * ```ts
 * for await (const event of loop({ view: registry, model, prompt: 'What is 40 + 2?' }))
 *   if (event.type === 'done') console.log(event.text)
 * ```
 */
export declare function loop(options: LoopOptions): AsyncIterable<LoopEvent>

/** Options of {@link loop}. */
export interface LoopOptions {
  /** The tools: a registry, a view of one, or an object of yours with the same methods. */
  view: ToolView
  model: Model
  /**
   * The task: a text, or messages. A function is asked at the begin of each conversation, so that its text
   * can hold the state of your work.
   */
  prompt: Prompt | ((state: LoopState) => Prompt | Promise<Prompt>)
  /**
   * Whether the work is done. It is asked after each answer without calls. If it is not, the model goes on.
   * Default: the first answer without calls is the end.
   */
  done?: (text: string, state: LoopState) => boolean | Promise<boolean>
  /**
   * The most rounds. A round is one answer of the model with the calls in it. With `fresh` it is a whole conversation,
   * until an answer without calls. Default: 20.
   */
  rounds?: number
  /** The most tokens of all requests. A model without `usage` is counted by its characters. Default: no limit. */
  tokens?: number
  /** The longest time. Default: no limit. */
  seconds?: number
  /**
   * Each round begins with the prompt and the state only, as the method Ralph does. With a prompt that is no function,
   * the state is the last text of the round before. A round has at most 50 answers. Default: false.
   */
  fresh?: boolean
  /** The form of the tools that the model gets. Default: `openai`. */
  format?: Dialect
  signal?: AbortSignal
}

/** The beginning of a conversation. */
export type Prompt = string | readonly ModelMessage[]

/**
 * Your model: a function that asks a provider, with your key, and returns what it said. It gets the messages so far.
 * It must obey `signal`. A text alone is an answer without calls. Its exception ends the loop.
 */
export type Model = (
  messages: readonly ModelMessage[],
  options: ModelOptions,
) => ModelAnswer | string | Promise<ModelAnswer | string>

/** The surroundings of a request to a {@link Model}. */
export interface ModelOptions {
  /** The tools that it may call now, in the loop's `format`. Empty: none. */
  tools: Tool[]
  /** The answer is to be one JSON value. Use the provider's JSON mode, if there is one. */
  json?: boolean
  signal: AbortSignal
}

/** A message of a conversation, in no provider's form. */
export type ModelMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; calls?: readonly ToolCall[]; raw?: unknown }
  | {
    role: 'tool'
    /** The `id` of the call that it answers. */
    callId: string
    /** The tool's name. */
    name: string
    /** The answer as text. It is a server's words, and untrusted. */
    content: string
    isError: boolean
    /** The whole result, for `registry.toMessage()`. Absent if the call failed, and for views without `call`. */
    result?: ToolResult
  }

/** A call that the model asks for. */
export interface ToolCall {
  /** The provider's. */
  id: string
  name: string
  /** An object, or its JSON text. */
  arguments: Record<string, unknown> | string
}

/** The answer of a model. */
export interface ModelAnswer {
  text?: string
  /** They run at the same time. The model gets the answers in this order. At most 100 run. */
  calls?: readonly ToolCall[]
  /** The cost of the request, in tokens. */
  usage?: { input?: number; output?: number }
  /**
   * The reason why the answer is not whole, in the provider's words, such as `max_tokens`. The loop stops.
   * Calls of such an answer do not run, because their arguments may be cut.
   */
  incomplete?: string
  /** The provider's own message. It comes back in the message of the assistant. */
  raw?: unknown
}

/** Options that a {@link ToolView} gets with a call. */
export type ToolViewOptions = Pick<DispatchOptions, 'signal' | 'onProgress' | 'callId'>

/** Tools, and the way to call them. A `Registry` is one. `call` counts more than `dispatch`. */
export type ToolView =
  & {
    /** The tools that a model may call now. */
    getTools(options: { format: Dialect }): Tool[]
    /** Whether a model may call a tool with this name now. */
    has(name: string): boolean
  }
  & (
    | {
      /** Calls a tool and returns the whole result. */
      call(name: string, args: Record<string, unknown> | string, options: ToolViewOptions): Promise<ToolResult>
    }
    | {
      /** Calls a tool and returns the text for the model. */
      dispatch(name: string, args: Record<string, unknown> | string, options: ToolViewOptions): Promise<string>
    }
  )

/** The progress of a loop. Each event has a copy. */
export interface LoopState {
  /** The round that runs or ran last, from 1. */
  round: number
  /** The last text of the model. */
  text: string
  /** The conversation so far; with `fresh`, that of this round. */
  messages: readonly ModelMessage[]
  /** The number of answered calls. */
  calls: number
  /** The tokens of all requests. */
  tokens: number
  /** The time since the begin. */
  seconds: number
}

/** The events of a loop. The last event is `done` or `stopped`. */
export type LoopEvent =
  /** A round begins. */
  | { type: 'round'; round: number; state: LoopState }
  /** A call begins. */
  | { type: 'tool'; phase: 'begin'; call: ToolCall }
  /** A server tells how far a call is. */
  | { type: 'tool'; phase: 'progress'; call: ToolCall; progress: ToolProgress }
  /** A call was answered. A failure is a text for the model too: then `isError` is true. */
  | {
    type: 'tool'
    phase: 'end'
    call: ToolCall
    text: string
    isError: boolean
    durationMs: number
    result?: ToolResult
  }
  /** The model said something. */
  | { type: 'text'; text: string }
  /** The work is done. */
  | { type: 'done'; text: string; state: LoopState }
  /** The loop ended before. `error` is what the model, `prompt` or `done` threw, or why an answer is incomplete. */
  | { type: 'stopped'; why: StopReason; state: LoopState; error?: unknown }

/**
 * The reason why a loop stopped.
 * - `rounds`, `tokens`, `seconds`: a budget is spent
 * - `same_call`: in one conversation, the same call got the same answer three times
 * - `no_progress`: three rounds in a row had no new text and no new answer of a tool
 * - `incomplete`: the provider ended the model's answer early; `error` says why
 * - `aborted`: by the signal
 * - `error`: the model failed, or `prompt` or `done` did
 */
export type StopReason =
  | 'rounds'
  | 'tokens'
  | 'seconds'
  | 'same_call'
  | 'no_progress'
  | 'incomplete'
  | 'aborted'
  | 'error'
