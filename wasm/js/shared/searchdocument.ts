import { isObject } from './object.ts'
import type { ToolInfo } from './types.ts'

/** The longest name, description, and texts of all parameters of a tool, in characters. */
const NAME = 200, DESCRIPTION = 4_000, PARAMETERS = 4_000
/** The most parameters of a tool, and how deep they nest. */
const MOST_PARAMETERS = 100, DEEPEST = 4

/** The index's record of a tool. */
export interface SearchDocument {
  /** The tool's name in the registry. */
  name: string
  /**
   * The server's own name of the tool, its title, its description, the names of its parameters and their descriptions,
   * both one a line.
   */
  texts: [tool: string, title: string, description: string, parameters: string, details: string]
}

/** A text of a definition, cut; empty if it is none. */
export const textOf = (value: unknown, most: number): string => typeof value === 'string' ? value.slice(0, most) : ''

/** The texts of a tool for the index. */
export function documentOf({ name, tool, definition }: ToolInfo): SearchDocument {
  const names: string[] = [], details: string[] = []
  for (const [parameter, schema] of parametersOf(definition.inputSchema, DEEPEST)) {
    if (names.length === MOST_PARAMETERS) break
    names.push(parameter.slice(0, 100))
    const { description, enum: values } = schema as { description?: unknown; enum?: unknown }
    const choices = Array.isArray(values) ? values.filter((v) => typeof v === 'string').slice(0, 20).join(' ') : ''
    const text = `${textOf(description, PARAMETERS)} ${choices}`.trim().replaceAll('\n', ' ')
    if (text) details.push(text)
  }
  return {
    name,
    texts: [
      textOf(tool, NAME),
      textOf(definition.title ?? definition.annotations?.title, NAME),
      textOf(definition.description, DESCRIPTION),
      names.join('\n'),
      details.join('\n').slice(0, PARAMETERS),
    ],
  }
}

/** The parameters of a schema: its properties, those of items and of alternatives. */
function* parametersOf(schema: unknown, depth: number): Generator<[name: string, schema: object]> {
  if (!depth || !isObject(schema)) return
  const { properties, items, anyOf, oneOf, allOf } = schema as Record<string, unknown>
  for (const [name, value] of isObject(properties) ? Object.entries(properties) : []) {
    yield [name, isObject(value) ? value : {}]
    yield* parametersOf(value, depth - 1)
  }
  for (const one of [items, anyOf, oneOf, allOf].flat().slice(0, 50)) yield* parametersOf(one, depth - 1)
}
