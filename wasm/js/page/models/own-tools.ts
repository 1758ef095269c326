// The names of the tools that the registry answers itself. No server's tool has such a name, because theirs have two
// underscores in a row or a hash. The page's first script needs these rules only, and toolnames.ts has the names.

/** The name of the tool that reads more of a result that was cut. */
export const readTool = 'portolan_read_result'

/** Whether a model lists or reads with it what servers offer beside tools. */
export const isOffering = (name: string): boolean =>
  /^portolan_(list_(resource|skill)s|read_resource|load_skill)$/.test(name)

/** Whether `ModelTools.answer` answers a tool of this name. */
export const isAnswered = (name: string): boolean => /^portolan_(search_(tools|api)|call_tool|run_code)$/.test(name)

/** Whether the registry answers a tool of this name itself. */
export const isOwn = (name: unknown): boolean =>
  typeof name === 'string' && (name === readTool || isAnswered(name) || isOffering(name))
