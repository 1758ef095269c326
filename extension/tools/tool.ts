import type { ElicitationAnswer, Flag } from '../../wasm/js/shared/types.ts'

/** Bookmarks and pages answer at once, so a longer silence is a fault. In ms. */
export const idleMs = 30_000

/** A tool for desktop MCP clients. */
export interface Tool {
  name: string
  /** The tool that this one is under another name. Its grants hold here too. */
  of?: string
  title?: string
  description: string
  /** JSON Schema of an object. Arguments are checked, and have the schema's defaults. */
  inputSchema: object
  outputSchema?: object
  annotations?: ToolAnnotations
  /** `optional`: the bridge makes a task of a call, if the client asks for one or declares the tasks extension. */
  execution?: { taskSupport: 'optional' }
  /** The longest time without an answer or progress, in ms. Without it, the tool has bounds of its own. */
  idleMs?: number
  /** Finds suspicious text in the definition, for the user who approves a call. */
  flags?(call: ToolCall): readonly Flag[]
  /** The subject of a client's `always` and `never`, in place of the whole tool. Rejects as `run` does. */
  scope?(call: ToolCall): Promise<string>
  /** Says what a call will do, in a sentence for the user who approves it. */
  summary?(call: ToolCall): Promise<string>
  /** Rejects with a {@link ToolFault} if the user or the model can do something about it. */
  run(call: ToolCall): Promise<ToolOutput>
}

/** The spec's hints (2025-11-25, server/tools). */
export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

export interface ToolCall {
  /** Unique while the extension is installed. */
  readonly id: string
  readonly tool: string
  readonly args: Record<string, unknown>
  readonly client: Client
  /** Aborts if the client cancels or leaves, or the user stops everything. */
  readonly signal: AbortSignal
  progress(progress: number, total?: number, message?: string): void
  /** Asks the client's user: ElicitRequestParams and ElicitResult of the spec. */
  elicit(params: object): Promise<unknown>
  /** Asks the client's model, if `client.samples`: CreateMessageRequestParams and CreateMessageResult of the spec. */
  sample(params: object): Promise<unknown>
}

/** The user's setting of a tool for a client. */
export type Grant = 'allow' | 'ask' | 'deny'

/**
 * A desktop client, by its own claim. `key` tells it from others of the same name, and outlives its session: grants,
 * conversations and history are kept by it.
 */
export interface Client {
  /** The pairing with its bridge. */
  pairing: string
  key: string
  name: string
  /** The user's settings of tools, at the beginning of a call. */
  grants: Readonly<Record<string, Grant>>
  /** The client's model can be asked (sampling). */
  samples: boolean
  project?: string
}

/** The spec's CallToolResult. */
export interface ToolOutput {
  content: { type: string; [field: string]: unknown }[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: Record<string, unknown>
}

/** A failure with a code. The result's text ends with the code. */
export class ToolFault extends Error {
  readonly code: string
  readonly details: Record<string, unknown> | undefined
  constructor(code: string, message: string, details?: Record<string, unknown>) {
    super(message)
    this.name = 'ToolFault'
    this.code = code
    this.details = details
  }
}

/** A server's question to the user, by a form or by an address. */
export interface ServerQuestion {
  server: string
  tool?: string | undefined
  message: string
  mode: 'form' | 'url'
  requestedSchema?: object | undefined
  url?: string
  elicitationId?: string
  awaitsEnd?: boolean | undefined
}

/** Asks the user in the side panel. */
export type AskUser = (question: ServerQuestion, signal: AbortSignal) => Promise<ElicitationAnswer>
