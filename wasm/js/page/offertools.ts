/** The names of the tools with which models list and read resources. */
export const resourceTools = ['portolan_list_resources', 'portolan_read_resource'] as const

/** The names of the tools with which models list and load skills. */
export const skillTools = ['portolan_list_skills', 'portolan_load_skill'] as const
