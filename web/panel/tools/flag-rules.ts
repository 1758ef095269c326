import { scanDefinition } from '../../../wasm/js/shared/scan.ts'
import type { ToolInfo } from '../../../wasm/js/shared/types.ts'
import type { Steps } from '../../../wasm/js/shared/yield.ts'
import { line } from '../../ui/text.ts'
import type { wordsOfRule } from './flag-words.ts'

export { inTurns } from '../../../wasm/js/shared/yield.ts'

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

/** The flags of tools by their model names. Tools that have none are left out. `wordsOf` finds the words for a rule. */
export function* flags(tools: readonly ToolInfo[], wordsOf: typeof wordsOfRule): Steps<Map<string, Flag[]>> {
  const found = new Map<string, Flag[]>()
  const add = (tool: ToolInfo, flag: Flag) => {
    const list = found.get(tool.name) ?? []
    if (list.length < maxFlags && !list.some((f) => f.code === flag.code && f.why === flag.why)) list.push(flag)
    found.set(tool.name, list)
  }
  for (const alike of Map.groupBy(tools, (tool) => foldName(tool.tool)).values())
    across(alike, (tool, other) =>
      add(tool, {
        code: 'duplicate',
        why: tool.tool === other.tool ? 'same_name' : 'similar_name',
        other: other.name,
        excerpt: line(other.tool, 80),
      }))
  for (const [text, alike] of Map.groupBy(tools, textOf))
    if (text)
      across(alike, (tool, other) => add(tool, { code: 'duplicate', why: 'same_description', other: other.name }))

  let others: Set<string>, server: string | undefined // the tools of a server are together
  for (const tool of tools) {
    yield
    if (tool.server !== server) {
      server = tool.server
      others = new Set(tools.flatMap((t) => (t.server === server ? [] : [t.name, t.tool])))
    }
    for (const { rule, where, excerpt } of [...tool.flags ?? [], ...scanDefinition(tool.definition, others!)]) {
      add(tool, { code: 'suspicious', why: wordsOf(rule), where, excerpt: line(excerpt, 80) })
    }
  }
  return found
}

/** The description of a tool, if it is long enough to compare. */
function textOf({ definition: { description } }: ToolInfo): string {
  if (typeof description !== 'string' || description.length < telling) return ''
  return description.slice(0, 4000).replace(/\s+/g, ' ').trim().toLowerCase()
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
function foldName(name: string): string {
  const plain = name.slice(0, 200).normalize('NFKD').toLowerCase().replace(/[\p{M}\p{P}\p{S}\p{Z}\p{C}]+/gu, '')
  return [...plain].map((c) => latin.get(c) ?? c).join('').replaceAll('0', 'o').replace(/[1i]/g, 'l')
}
