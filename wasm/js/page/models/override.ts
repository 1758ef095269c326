import { isObject } from '../../shared/object.ts'
import type { JSONSchema, ToolInfo, ToolOverride } from '../../shared/types.ts'

/** The tool as models see it, or the tool itself if its definition is as the server's. */
export function overridden(tool: ToolInfo, override: ToolOverride | undefined): ToolInfo {
  const { original = tool.definition } = tool
  if (!override && !tool.original) return tool
  // The flags may be a getter that has not scanned yet.
  const { original: _, ...properties } = Object.getOwnPropertyDescriptors(tool)
  const now = Object.defineProperties({}, properties as PropertyDescriptorMap) as ToolInfo
  if (!override) return Object.assign(now, { definition: original })
  const { title, description, hideParams = [], fixed = {} } = override
  const hidden = new Set([...hideParams, ...Object.keys(fixed)])
  const definition = {
    ...original,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(hidden.size && { inputSchema: without(original.inputSchema, hidden) }),
  }
  return Object.assign(now, { definition, original })
}

/** A schema without some of its parameters. */
function without(schema: JSONSchema, names: ReadonlySet<string>): JSONSchema {
  if (!isObject(schema)) return schema
  const { properties, required } = schema
  return {
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name))),
    }),
    ...(Array.isArray(required) && { required: required.filter((name) => !names.has(name)) }),
  }
}
