import { html, nothing, type TemplateResult } from 'lit'
import type { ToolDefinition, ToolInfo } from '../../../wasm/js/types.ts'
import { flag as icon } from '../icons.ts'
import type { Desk } from '../piece.ts'
import type { Key } from '../words.ts'
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
    idle(() => this.judge(), { timeout: 1000 })
  }

  private judge(): void {
    this.waiting = false
    const found: Map<string, Flag[]> = flags(this.looked)
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

/** The flags of one tool, in words. */
export function flagsView(desk: Desk, tool: ToolInfo): TemplateResult | typeof nothing {
  const list = desk.flags.of(tool)
  if (!list.length) return nothing
  const { words: t } = desk
  return html`<div class="flags" part="flags"><strong class="badge warn">${icon}<span>${t('flags_title')}</span></strong>
    <ul>${list.map((f) => html`<li>${t(`flag_${f.code}_${f.why}` as Key)}${f.other ? html` <bdi class="mono">${f.other}</bdi>` : nothing}${f.excerpt ? html` <q><bdi class="mono">${f.excerpt}</bdi></q>` : nothing}${f.where ? html` <span class="dim" dir="ltr">${f.where}</span>` : nothing}</li>`)}</ul></div>`
}
