import type { JSONSchema, MediaOptions, ToolFilter, View } from '../../wasm/js/shared/types.ts'

/**
 * The tools of a registry or a view, for an `Agent` of `@openai/agents`. Results have their images and documents. A
 * call that fails is an answer for the model, with the error's code. Throws `invalid_option`.
 *
 * ```ts
 * const agent = new Agent({ name: 'Harbour', instructions, tools: functionTools(registry) })
 * ```
 */
export declare function functionTools(
  source: Pick<View, 'getTools' | 'call' | 'toMessage'>,
  options?: ToolFilter & MediaOptions,
): FunctionTool[]

/** `FunctionTool` of `@openai/agents`. */
export interface FunctionTool {
  type: 'function'
  name: string
  description: string
  parameters: {
    type: 'object'
    properties: Record<string, JSONSchema>
    required: string[]
    /** The claim of the schema; an absent one is true. */
    additionalProperties: true
  }
  strict: false
  /** Calls the tool with the model's JSON text. */
  invoke(
    context: unknown,
    input: string,
    details?: { toolCall?: { callId: string }; signal?: AbortSignal },
  ): Promise<string | ToolOutput[]>
  /** False: the registry asks, by its own `onApprove` or the view's `approve`. */
  needsApproval(): Promise<boolean>
  /** Whether the model gets the tool: always. */
  isEnabled(): Promise<boolean>
}

/** A part of an answer. */
export type ToolOutput =
  | { type: 'text'; text: string }
  | { type: 'image'; image: string; detail: 'auto' }
  | { type: 'file'; file: { data: string; mediaType: string; filename: string } }
