import type { scanDefinition } from '../../../wasm/js/shared/scan.ts'
import type { ToolInfo, ToolDefinition } from '../../../wasm/js/shared/types.ts'
import { sortedJSON } from '../../ui/sorted-json.ts'
import { line } from '../../ui/text.ts'
import type { Listed } from './ledger.ts'
import { wordsOfRule } from './flag-words.ts'

/** A hint about a tool, not a verdict. */
export interface Flag {
  code: 'duplicate' | 'suspicious' | 'changed'
  /**
   * duplicate: same_name, similar_name, same_description. suspicious: a rule of the
   * registry's scanner that there are words for, or else. changed: name,
   * description, schema, annotations.
   */
  why: string
  /** Which part of the definition, as a JSON pointer. */
  where?: string
  /** Made harmless, at most 80 characters. */
  excerpt?: string
  /** The model name of the other tool. */
  other?: string
}

const maxFlags = 8
/** Shorter descriptions are alike by chance. */
const telling = 40

/**
 * The flags of tools by their model names, with what `scan` finds in their definitions. Tools that have none are left
 * out.
 */
export function flags(tools: readonly ToolInfo[], scan: typeof scanDefinition): Map<string, Flag[]> {
  const found = new Map<string, Flag[]>()
  const add = (tool: ToolInfo, flag: Flag) => {
    const list = found.get(tool.name) ?? []
    if (list.length < maxFlags && !list.some((f) => f.code === flag.code && f.why === flag.why)) list.push(flag)
    found.set(tool.name, list)
  }
  const byName = new Map<string, ToolInfo[]>()
  const byText = new Map<string, ToolInfo[]>()
  for (const tool of tools) {
    push(byName, foldName(tool.tool), tool)
    const { description } = tool.definition
    if (typeof description === 'string' && description.length >= telling)
      push(byText, description.slice(0, 4000).replace(/\s+/g, ' ').trim().toLowerCase(), tool)
  }
  for (const alike of byName.values())
    across(alike, (tool, other) =>
      add(tool, {
        code: 'duplicate',
        why: tool.tool === other.tool ? 'same_name' : 'similar_name',
        other: other.name,
        excerpt: line(other.tool, 80),
      }))
  for (const alike of byText.values())
    across(alike, (tool, other) => add(tool, { code: 'duplicate', why: 'same_description', other: other.name }))

  const others = new Map<string, Set<string>>()
  for (const tool of tools) {
    const { server } = tool
    if (!others.has(server))
      others.set(server, new Set(tools.flatMap((t) => (t.server === server ? [] : [t.name, t.tool]))))
    for (const { rule, where, excerpt } of [...tool.flags ?? [], ...scan(tool.definition, others.get(server))]) {
      add(tool, { code: 'suspicious', why: wordsOfRule(rule), where, excerpt: line(excerpt, 80) })
    }
  }
  return found
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

/** Pairs each tool of a group with the first one of another server. */
function across(group: ToolInfo[], pair: (tool: ToolInfo, other: ToolInfo) => void): void {
  const first = group[0]!
  const second = group.find((t) => t.server !== first.server)
  if (!second) return
  for (const tool of group) pair(tool, tool.server === first.server ? second : first)
}

// Letters that look like Latin ones: Cyrillic and Greek, as far as names of tools could use them.
const lookalikes =
  'аa еe оo рp сc уy хx іi јj ѕs ԁd һh кk мm тt вb нh гr пn ӏl αa εe οo ρp νv ιi κk τt υu χx γy ηn ωw ßb'
const latin = new Map(lookalikes.split(' ').map((pair) => [[...pair][0]!, [...pair][1]!]))

/** Names that look alike, or differ in case and joints only, fold to the same. */
export function foldName(name: string): string {
  const plain = name.slice(0, 200).normalize('NFKD').toLowerCase().replace(/[\p{M}\p{P}\p{S}\p{Z}\p{C}]+/gu, '')
  return [...plain].map((c) => latin.get(c) ?? c).join('').replaceAll('0', 'o').replace(/[1i]/g, 'l')
}

const parts = ['name', 'description', 'schema', 'annotations'] as const
export type Part = (typeof parts)[number]

/** The parts of a definition that a model or its user sees. */
const said = (
  { name, title, description, inputSchema, outputSchema, annotations }: ToolDefinition,
): Record<Part, unknown> => ({ name: [name, title], description, schema: [inputSchema, outputSchema], annotations })

/** What differs between two definitions of a tool. */
export function changes(before: ToolDefinition, now: ToolDefinition): Part[] {
  const [a, b] = [said(before), said(now)]
  return parts.filter((part) => sortedJSON(a[part]) !== sortedJSON(b[part]))
}

/** The same as flags. */
export const changeFlags = (before: ToolDefinition, now: ToolDefinition): Flag[] =>
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
    idle(() => void this.judge().catch(() => (this.waiting = false)), { timeout: 1000 })
  }

  private async judge(): Promise<void> {
    const { scanDefinition } = await import('../../../wasm/js/shared/scan.ts')
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
