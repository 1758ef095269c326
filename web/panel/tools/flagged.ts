import type { ToolDefinition, ToolInfo } from '../../../wasm/js/shared/types.ts'
import { changeFlags } from './changed.ts'
import { flags, type Flag } from './flags.ts'
import type { Listed } from './ledger.ts'

const none: readonly Flag[] = []

/** The flags of all tools, looked for while the page is idle; and what changed since the panel first saw a tool. */
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
    idle(() =>
      void this.judge().catch(() => {
        this.waiting = false
      }), { timeout: 1000 })
  }

  private async judge(): Promise<void> {
    const { scanDefinition } = await import('../../../wasm/js/page/scan.ts')
    this.waiting = false
    const found: Map<string, Flag[]> = flags(this.looked, scanDefinition)
    for (const { name, definition } of this.looked) {
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
  }
}
