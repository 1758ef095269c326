import type { ToolInfo, ToolDefinition } from '../../../wasm/js/shared/types.ts'
import { sortedJSON } from '../../ui/json.ts'
import type { Flag } from './flag-rules.ts'
import { wordsOfRule } from './flag-words.ts'
import type { Listed } from './ledger.ts'

const parts = ['name', 'description', 'schema', 'annotations'] as const
export type Part = (typeof parts)[number]

/** The parts of a definition that a model or its user sees. */
const said = (
  { name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition,
): Record<Part, unknown> => ({ name: [name, title], description, schema: [inputSchema, outputSchema], annotations })

/** The difference between two definitions of a tool. */
export function changes(before: ToolDefinition, now: ToolDefinition): Part[] {
  const [a, b] = [said(before), said(now)]
  return parts.filter((part) => sortedJSON(a[part]) !== sortedJSON(b[part]))
}

/** The same as flags. */
const changeFlags = (before: ToolDefinition, now: ToolDefinition): Flag[] =>
  changes(before, now).map((why) => ({ code: 'changed', why, where: why === 'schema' ? '/inputSchema' : `/${why}` }))

const none: readonly Flag[] = []

/** The flags of all tools, found while the page is idle, with the changes since the panel first saw each tool. */
export class Flags {
  /** Grows when more is known. */
  version = 0
  private found = new Map<string, readonly Flag[]>()
  private readonly first = new Map<string, ToolDefinition>()
  private waiting = false
  private looked: readonly ToolInfo[] = []
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  /** By a tool's model name. */
  of(tool: ToolInfo): readonly Flag[] {
    return this.found.get(tool.name) ?? none
  }

  look(listed: Map<string, Listed[]>): void {
    const tools = [...listed.values()].flatMap((list) => list.map((l) => l.info))
    if (tools.length === this.looked.length && tools.every((tool, i) => tool === this.looked[i])) return
    this.looked = tools
    if (this.waiting) return
    this.waiting = true
    const idle = globalThis.requestIdleCallback ?? ((fn: () => void) => setTimeout(fn, 50))
    idle(() => void this.judge().catch(() => {}).finally(() => (this.waiting = false)), { timeout: 1000 })
  }

  /** Ends with the flags of the last list: another one may come meanwhile. */
  private async judge(): Promise<void> {
    const { flags, inTurns } = await import('./flag-rules.ts')
    const { looked } = this
    const found: Map<string, Flag[]> = await inTurns(flags(looked, wordsOfRule))
    for (const { name, definition } of looked) {
      const before = this.first.get(name)
      if (!before) this.first.set(name, definition)
      else if (before !== definition) {
        const changes = changeFlags(before, definition)
        if (changes.length) found.set(name, [...changes, ...(found.get(name) ?? [])])
      }
    }
    this.found = found
    this.version++
    this.changed()
    if (looked !== this.looked) await this.judge()
  }
}
