import { parse, print, wordsOf, type Admit, type Block, type Inline } from './markdown.ts'
import { normalised } from './results.ts'
import type { RunItem } from './types.ts'

const summaryWords = 120
/** A word. Letters of languages without spaces count as words. */
const word = /[\u3040-\u9fff]|[^\s\u3040-\u9fff]+/g

/** Admits the links of results, in the form that the results have. */
export function linksOf(items: readonly RunItem[], url: string): Admit {
  const known = new Map([...items.map((item) => item.url), url].map((u) => [normalised(u), u]))
  known.delete(undefined)
  return (place) => known.get(normalised(place))
}

const text = (words: string): Inline => ({ kind: 'text', text: words })
const heading = (words: string): Block => ({ kind: 'heading', parts: [text(words)] })
const paragraph = (...parts: Inline[]): Block => ({ kind: 'paragraph', parts })

/** The results as a list of links. */
const listOf = (items: readonly RunItem[]): Block[] =>
  items.length
    ? [{ kind: 'list', items: items.map(({ title, url }) => [{ kind: 'link', url, parts: [text(title)] }]) }]
    : []

const link = (url: string): Block[] => url ? [paragraph({ kind: 'link', url, parts: [text(url)] })] : []

/** The answer without a model: the results, and why there is no summary. */
export const listAnswer = (items: readonly RunItem[], url: string, why: string): string =>
  print([
    heading('Summary'),
    paragraph(text(why)),
    ...(items.length ? [heading('Key Cases'), ...listOf(items)] : []),
    ...link(url),
  ])

/** The model's text as an answer; undefined if it has no summary. */
export function answerOf(
  written: string,
  items: readonly RunItem[],
  url: string,
): { markdown: string; removed: number } | undefined {
  const links = linksOf(items, url)
  let removed = 0
  const admit: Admit = (place) => {
    const known = links(place)
    if (!known) removed++
    return known
  }
  let blocks = parse(written, admit)
  // Where a link was taken out, the words around it may form another one.
  for (let before = -1, times = 0; before !== removed; times++) {
    if (times > 9) return undefined
    before = removed
    blocks = parse(print(blocks), admit)
  }
  const sections: Record<'summary' | 'cases' | 'notes', Block[]> = { summary: [], cases: [], notes: [] }
  let at: keyof typeof sections = 'summary'
  for (const block of blocks) {
    if (block.kind !== 'heading') sections[at].push(block)
    else at = /summary/i.test(wordsOf(block.parts))
        ? 'summary'
        : /key|cases/i.test(wordsOf(block.parts))
        ? 'cases'
        : 'notes'
  }
  if (!sections.summary.length) return undefined
  const cases = sections.cases.some((block) => block.kind === 'list') ? sections.cases : listOf(items.slice(0, 5))
  const markdown = print([
    heading('Summary'),
    ...cut(sections.summary),
    heading('Key Cases'),
    ...cases,
    heading('Notes'),
    ...(sections.notes.length ? sections.notes : [paragraph(text('None.'))]),
    ...link(url),
  ])
  return { markdown, removed }
}

/** The blocks up to the most words of a summary. */
function cut(blocks: Block[]): Block[] {
  let left = summaryWords
  const take = (text: string): string => {
    const words = [...text.matchAll(word)]
    const end = words[left]?.index
    left -= Math.min(words.length, left)
    return end === undefined ? text : `${text.slice(0, end).trimEnd()}…`
  }
  const shorten = (parts: Inline[]): Inline[] =>
    parts.flatMap((part) =>
      left ? 'text' in part ? { ...part, text: take(part.text) } : { ...part, parts: shorten(part.parts) } : []
    )
  return blocks.flatMap((block) =>
    !left
      ? []
      : block.kind === 'list'
      ? { ...block, items: block.items.map(shorten).filter((item) => item.length) }
      : { ...block, parts: shorten(block.parts) }
  )
}
