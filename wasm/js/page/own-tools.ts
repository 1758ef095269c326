/**
 * The name of the tool that reads more of a result that was cut. No server's tool has this name, because theirs have
 * two underscores or a hash.
 */
export const readTool = 'portolan_read_result'

/** The names of the tools with which models list and read resources. */
export const resourceTools = ['portolan_list_resources', 'portolan_read_resource'] as const
