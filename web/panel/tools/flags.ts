import type { ToolInfo } from '../../../wasm/js/types.ts'
import { line } from '../text.ts'
import { foldName } from './confusable.ts'
import { parametersOf, stringsOf } from './strings.ts'
import { suspicionIn, suspiciousParameter } from './suspicious.ts'

/** A hint about a tool, not a verdict. */
export interface Flag {
  code: 'duplicate' | 'suspicious' | 'changed'
  /**
   * duplicate: same_name, similar_name, same_description. suspicious: bidi, tags,
   * ansi, hidden, override, secrecy, pseudo_tag, path, exfil, parameter,
   * other_tool. changed: name, description, schema, annotations.
   */
  why: string
  /** Which part of the definition, as a JSON pointer. */
  where?: string
  /** Made harmless, at most 80 characters. */
  excerpt?: string
  /** The model name of the other tool. */
  other?: string
}

/** Which of the panel's words fit a rule of the registry's own. */
const ruleWords: Record<string, string> = {
  hidden_text: 'hidden', concealment: 'secrecy', pseudo_tag: 'pseudo_tag', override: 'override', sensitive_path: 'path', exfiltration: 'exfil', data_url: 'exfil', shadowing: 'other_tool', parameter: 'parameter',
}
export const wordsOfRule = (rule: string): string => ruleWords[rule] ?? 'else'

const maxFlags = 8
/** Shorter descriptions are alike by chance. */
const telling = 40

/** The flags of tools by their model names. Tools that have none are left out. */
export function flags(tools: readonly ToolInfo[]): Map<string, Flag[]> {
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
    if (typeof description === 'string' && description.length >= telling) push(byText, description.slice(0, 4000).replace(/\s+/g, ' ').trim().toLowerCase(), tool)
  }
  for (const alike of byName.values()) across(alike, (tool, other) => add(tool, {
    code: 'duplicate', why: tool.tool === other.tool ? 'same_name' : 'similar_name', other: other.name, excerpt: line(other.tool, 80),
  }))
  for (const alike of byText.values()) across(alike, (tool, other) => add(tool, { code: 'duplicate', why: 'same_description', other: other.name }))

  const owners = ownersOf(tools)
  for (const tool of tools) {
    for (const { rule, where, excerpt } of tool.flags ?? []) add(tool, { code: 'suspicious', why: wordsOfRule(rule), where, excerpt })
    for (const { where, text } of stringsOf(tool.definition)) {
      const s = suspicionIn(text)
      if (s) add(tool, { code: 'suspicious', why: s.why, where, excerpt: s.excerpt })
    }
    for (const name of parametersOf(tool.definition.inputSchema)) {
      if (suspiciousParameter(name)) add(tool, { code: 'suspicious', why: 'parameter', where: '/inputSchema', excerpt: line(name, 80) })
    }
    const other = mentioned(tool, owners)
    if (other) add(tool, { code: 'suspicious', why: 'other_tool', where: '/description', other: other.name, excerpt: line(other.tool, 80) })
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

/** Names that can only mean a tool: with a case change, a digit or a joint in them. */
const nameLike = /^(?=.{6,64}$)[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+|[A-Z0-9])[A-Za-z0-9_-]*$/
const word = /[A-Za-z][A-Za-z0-9_-]{5,130}/g

function ownersOf(tools: readonly ToolInfo[]): Map<string, ToolInfo[]> {
  const owners = new Map<string, ToolInfo[]>()
  for (const tool of tools) {
    if (tool.tool.length <= 64 && nameLike.test(tool.tool)) push(owners, tool.tool, tool)
    push(owners, tool.name, tool)
  }
  return owners
}

/** A tool of another server that the description speaks of. */
function mentioned(tool: ToolInfo, owners: Map<string, ToolInfo[]>): ToolInfo | undefined {
  const { description } = tool.definition
  if (typeof description !== 'string') return undefined
  for (const [name] of description.slice(0, 20_000).matchAll(word)) {
    const those = owners.get(name)
    if (those && name !== tool.tool && name !== tool.name && !those.some((t) => t.server === tool.server)) return those[0]
  }
  return undefined
}
