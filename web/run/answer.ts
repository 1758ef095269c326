import { parse, plain, print, wordsOf, type Admit, type Block, type Inline } from './markdown.ts'
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

const linkTo = (url: string, words: string): Inline => ({ kind: 'link', url, parts: [plain(words)] })
const paragraph = (part: Inline): Block => ({ kind: 'paragraph', lines: [[part]] })

/** The results as a list of links. */
const listOf = (items: readonly RunItem[]): Block[] =>
  items.length ? [{ kind: 'list', lines: items.map(({ title, url }) => [linkTo(url, title)]) }] : []

/** An answer of sections, with the address at its end. Sections without blocks are left out. */
function printAnswer(sections: Record<string, Block[]>, url: string): string {
  const blocks = Object.entries(sections).flatMap(([name, blocks]): Block[] =>
    blocks.length ? [{ kind: 'heading', lines: [[plain(name)]] }, ...blocks] : []
  )
  return print(url ? [...blocks, paragraph(linkTo(url, url))] : blocks)
}

/** The answer without a model: the results, and why there is no summary. */
export const listAnswer = (items: readonly RunItem[], url: string, why: string): string =>
  printAnswer({ Summary: [paragraph(plain(why))], 'Key Cases': listOf(items) }, url)

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
  const summary: Block[] = [], cases: Block[] = [], notes: Block[] = []
  let section = summary
  for (const block of blocks) {
    const words = wordsOf(block.lines.flat())
    if (block.kind !== 'heading') section.push(block)
    else section = /summary/i.test(words) ? summary : /key|cases/i.test(words) ? cases : notes
  }
  const short = cut(summary)
  if (!short.length) return undefined
  const markdown = printAnswer({
    Summary: short,
    'Key Cases': cases.some((block) => block.kind === 'list') ? cases : listOf(items.slice(0, 5)),
    Notes: notes.length ? notes : [paragraph(plain('None.'))],
  }, url)
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
  return blocks.map(({ kind, lines }) => ({ kind, lines: lines.map(shorten).filter((parts) => parts.length) }))
    .filter(({ lines }) => lines.length)
}
