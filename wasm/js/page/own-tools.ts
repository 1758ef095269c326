// The names of the tools that the registry answers itself. No server's tool has such a name, because theirs have two
// underscores in a row or a hash.

/** The name of the tool that reads more of a result that was cut. */
export const readTool = 'portolan_read_result'

/** Whether it is one of offertools.ts, with which models list and read what servers offer beside tools. */
export const isOffering = (name: string): boolean =>
  /^portolan_(list_(resource|skill)s|read_resource|load_skill)$/.test(name)

/** The names of the tools with which models find and call tools that are not in their list. */
export const searchTool = 'portolan_search_tools', callTool = 'portolan_call_tool'

/** Whether the registry answers a tool of this name itself. */
export const isOwn = (name: string): boolean =>
  name === readTool || name === searchTool || name === callTool || isOffering(name)
