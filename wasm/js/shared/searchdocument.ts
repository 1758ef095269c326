import { isObject } from './object.ts'
import type { ToolInfo } from './types.ts'

/** The longest name, description, and texts of all parameters of a tool, in characters. */
const NAME = 200, DESCRIPTION = 4_000, PARAMETERS = 4_000
/** The most parameters of a tool, and how deep they nest. */
const MOST_PARAMETERS = 100, DEEPEST = 4

/** What the index has of a tool. */
export interface SearchDocument {
  /** The tool's name in the registry. */
  name: string
  /** The server's own name of the tool. */
  tool: string
  title: string
  description: string
  /** The names of the parameters, one a line. */
  parameters: string
  /** The descriptions of the parameters, one a line. */
  details: string
}

/** A text of a definition, cut; empty if it is none. */
export const textOf = (value: unknown, most: number): string => typeof value === 'string' ? value.slice(0, most) : ''

/** What a tool gives to the index. */
export function documentOf({ name, tool, definition }: ToolInfo): SearchDocument {
  const names: string[] = [], details: string[] = []
  const bounds = { parameters: MOST_PARAMETERS, chars: PARAMETERS }
  readParameters(definition.inputSchema, names, details, bounds, DEEPEST)
  return {
    name,
    tool: textOf(tool, NAME),
    title: textOf(definition.title ?? definition.annotations?.title, NAME),
    description: textOf(definition.description, DESCRIPTION),
    parameters: names.join('\n'),
    details: details.join('\n'),
  }
}

/** Collects the parameters of a schema: its properties, those of items and of alternatives. */
function readParameters(
  schema: unknown,
  names: string[],
  details: string[],
  bounds: { parameters: number; chars: number },
  depth: number,
): void {
  if (!depth || !isObject(schema)) return
  const { properties, items, anyOf, oneOf, allOf } = schema as Record<string, unknown>
  for (const [name, value] of isObject(properties) ? Object.entries(properties) : []) {
    if (bounds.parameters-- <= 0) return
    names.push(name.slice(0, 100))
    const { description, enum: values } = isObject(value) ? value as Record<string, unknown> : {}
    const choices = Array.isArray(values) ? values.filter((v) => typeof v === 'string').slice(0, 20).join(' ') : ''
    const text = `${textOf(description, bounds.chars)} ${choices}`.trim().replaceAll('\n', ' ').slice(0, bounds.chars)
    if (text) details.push(text)
    bounds.chars -= text.length
    readParameters(value, names, details, bounds, depth - 1)
  }
  readParameters(items, names, details, bounds, depth - 1)
  for (const some of [anyOf, oneOf, allOf]) {
    if (Array.isArray(some)) {
      for (const one of some.slice(0, 20)) readParameters(one, names, details, bounds, depth - 1)
    }
  }
}
