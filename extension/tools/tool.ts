/** What the extension offers to desktop MCP clients. */
export interface Tool {
  name: string
  title?: string
  description: string
  /** JSON Schema of an object. Arguments were checked against it, and have its defaults. */
  inputSchema: object
  outputSchema?: object
  annotations?: ToolAnnotations
  /** What a call will do, in a sentence for the person who is asked. */
  summary?(call: ToolCall): Promise<string>
  /** Rejects with a {@link ToolFault} for what a person or model can mend. */
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

/** A call, as a tool sees it. */
export interface ToolCall {
  /** Of this extension's life. */
  readonly id: string
  readonly tool: string
  readonly args: Record<string, unknown>
  readonly client: Client
  /** Aborted when the client cancels or leaves, or the person stops everything. */
  readonly signal: AbortSignal
  progress(progress: number, total?: number, message?: string): void
  /** Asks the client's person: ElicitRequestParams and ElicitResult of the spec. */
  elicit(params: object): Promise<unknown>
}

/** A desktop client, by its own word. `key` is what grants are kept by. */
export interface Client {
  id: string
  key: string
  name: string
  version?: string
}

/** The spec's CallToolResult. */
export interface ToolOutput {
  content: ContentBlock[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: Record<string, unknown>
}
export type ContentBlock = { type: string; [field: string]: unknown }

/** A failure with a code, which its text ends with. */
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
