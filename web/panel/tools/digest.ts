import type { ToolDefinition } from '../../../wasm/js/types.ts'
import type { Flag } from './flags.ts'

const parts = ['name', 'description', 'schema', 'annotations'] as const
export type Part = (typeof parts)[number]

/**
 * A fingerprint of what a model and its user are told of a tool: SHA-256 of
 * canonical JSON, a part each for name, description, schema and annotations.
 * undefined where the page may not hash (http:// on another host).
 */
export async function digest(tool: ToolDefinition): Promise<string | undefined> {
  const subtle = globalThis.crypto?.subtle
  if (!subtle) return undefined
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  const said: Record<Part, unknown> = { name: [name, title], description, schema: [inputSchema, outputSchema], annotations }
  const hashes = await Promise.all(parts.map((part) => subtle.digest('SHA-256', new TextEncoder().encode(canonical(said[part])))))
  return ['1', ...hashes.map((h) => btoa(String.fromCharCode(...new Uint8Array(h, 0, 16))).slice(0, 22))].join('.')
}

/** What differs between two fingerprints; nothing when one of them cannot be compared. */
export function changes(before: string, now: string): Part[] {
  const [a, b] = [before.split('.'), now.split('.')]
  if (a[0] !== b[0] || a.length !== parts.length + 1 || b.length !== a.length) return []
  return parts.filter((_, i) => a[i + 1] !== b[i + 1])
}

/** The same as flags. */
export const changeFlags = (before: string, now: string): Flag[] => changes(before, now).map((why) => ({ code: 'changed', why }))

/** JSON with its members in order and no space: equal values have equal texts. */
export function canonical(v: unknown): string {
  if (Array.isArray(v)) return '[' + v.map(canonical).join() + ']'
  if (typeof v !== 'object' || v === null) return JSON.stringify(v) ?? 'null'
  const o = v as Record<string, unknown>
  return '{' + Object.keys(o).filter((k) => o[k] !== undefined).sort().map((k) => JSON.stringify(k) + ':' + canonical(o[k])).join() + '}'
}
