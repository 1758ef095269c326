import type { scanDefinition } from '../../../wasm/js/page/scan.ts'
import type { ToolInfo } from '../../../wasm/js/shared/types.ts'
import { line } from '../text.ts'
import { foldName } from './confusable.ts'

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

const worded = new Set([
  'hidden_text',
  'lookalike',
  'concealment',
  'override',
  'pseudo_tag',
  'sensitive_path',
  'exfiltration',
  'data_url',
  'shadowing',
  'parameter',
  'blob',
])
/** Which of the panel's words fit a rule of the registry's scanner. */
export const wordsOfRule = (rule: string): string => (worded.has(rule) ? rule : 'else')

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
