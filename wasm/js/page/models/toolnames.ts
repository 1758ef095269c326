/** The names of the tools with which models list and read resources. */
export const resourceTools = ['portolan_list_resources', 'portolan_read_resource'] as const

/** The names of the tools with which models list and load skills. */
export const skillTools = ['portolan_list_skills', 'portolan_load_skill'] as const

/** The names of the tools with which models find and call tools that are not in their list. */
export const searchTool = 'portolan_search_tools', callTool = 'portolan_call_tool'

/** The names of the tools with which models find declarations of tools, and run code. */
export const apiTool = 'portolan_search_api', codeTool = 'portolan_run_code'
