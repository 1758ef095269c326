/** One client under test: how a page would use it for the main job. */
export interface Variant {
  /** Everything before the first server: load, compile, create. */
  open(): Promise<void>
  /** Connects to all servers, lists all tools, and makes the OpenAI list of them. Returns its length. */
  list(urls: string[]): Promise<number>
  /** The tools that are offered without asking a server. */
  offered?(): number
  /** Calls a tool on the server at index of the last list. */
  call(server: number, args: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

export interface Listed {
  name: string
  description?: string | undefined
  inputSchema: unknown
}

export const toOpenAI = (server: string, tools: Listed[]) =>
  tools.map((t) => ({
    type: 'function',
    function: {
      name: `${server}__${t.name}`,
      description: `[${server}] ${t.description ?? ''}`,
      parameters: t.inputSchema,
    },
  }))

declare global {
  var variant: Variant
}
