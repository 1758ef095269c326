import type { ToolDefinition } from '../../../wasm/js/shared/types.ts'
import type { Flag } from './flags.ts'

const parts = ['name', 'description', 'schema', 'annotations'] as const
export type Part = (typeof parts)[number]

/** What a model and its user are told of a tool, a part each. */
const said = (
  { name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition,
): Record<Part, unknown> => ({ name: [name, title], description, schema: [inputSchema, outputSchema], annotations })

/** What differs between two definitions of a tool. */
export function changes(before: ToolDefinition, now: ToolDefinition): Part[] {
  const [a, b] = [said(before), said(now)]
  return parts.filter((part) => canonical(a[part]) !== canonical(b[part]))
}

/** The same as flags. */
export const changeFlags = (before: ToolDefinition, now: ToolDefinition): Flag[] =>
  changes(before, now).map((why) => ({ code: 'changed', why, where: why === 'schema' ? '/inputSchema' : `/${why}` }))

/** JSON with its members in order and no space: equal values have equal texts. */
export function canonical(v: unknown): string {
  if (Array.isArray(v)) return '[' + v.map(canonical).join() + ']'
  if (typeof v !== 'object' || v === null) return JSON.stringify(v) ?? 'null'
  const o = v as Record<string, unknown>
  return '{' +
    Object.keys(o).filter((k) => o[k] !== undefined).sort().map((k) => JSON.stringify(k) + ':' + canonical(o[k]))
      .join() +
    '}'
}
