// The names of the tools that the registry answers itself. No server's tool has such a name, because theirs have two
// underscores in a row or a hash.

/** The name of the tool that reads more of a result that was cut. */
export const readTool = 'portolan_read_result'

/** The names of the tools with which models list and read resources. */
export const resourceTools = ['portolan_list_resources', 'portolan_read_resource'] as const

/** The names of the tools with which models find and call tools that are not in their list. */
export const searchTool = 'portolan_search_tools', callTool = 'portolan_call_tool'

/** The names of the tools with which models write code: one declares tools for it, and one runs it. */
export const apiTool = 'portolan_search_api', codeTool = 'portolan_run_code'

/** Whether `ModelTools.answer` answers a tool of this name. */
export const isAnswered = (name: string): boolean =>
  name === searchTool || name === callTool || name === apiTool || name === codeTool

/** Whether the registry answers a tool of this name itself. */
export const isOwn = (name: string): boolean =>
  name === readTool || isAnswered(name) || resourceTools.includes(name as never)
