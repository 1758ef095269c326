// The names of the tools that the registry answers itself. No server's tool has such a name, because theirs have two
// underscores in a row or a hash.

/** The name of the tool that reads more of a result that was cut. */
export const readTool = 'portolan_read_result'

/** Whether it is one of offertools.ts, with which models list and read what servers offer beside tools. */
export const isOffering = (name: string): boolean =>
  /^portolan_(list_(resource|skill)s|read_resource|load_skill)$/.test(name)

const answered = ['portolan_search_tools', 'portolan_call_tool', 'portolan_search_api', 'portolan_run_code'] as const

/**
 * The names of the tools with which models find and call tools that are not in their list, and of those for code: one
 * declares tools, and one runs it.
 */
export const [searchTool, callTool, apiTool, codeTool] = answered

/** Whether `ModelTools.answer` answers a tool of this name. */
export const isAnswered = (name: string): boolean => answered.includes(name as never)

/** Whether the registry answers a tool of this name itself. */
export const isOwn = (name: string): boolean => name === readTool || isAnswered(name) || isOffering(name)
