import { cutBytes } from '../text.ts'
import { blocks } from './blocks.ts'
import { Reader } from './tree.ts'

export interface Markdown {
  text: string
  truncated: boolean
}

const maxBytes = 1 << 20

/**
 * What elements of a page say, as Markdown. The page is not trusted: at most 100,000
 * nodes, 100 deep, and 1 MiB are read, and nothing is taken for HTML.
 */
export function markdown(elements: Element[], o: { base: string; omit?: string[]; notes?: RegExp }): Markdown {
  const reader = new Reader(o.base, o.omit ?? [], maxBytes)
  const parts: string[] = []
  for (const el of elements) {
    const found = blocks([el], reader, 0)
    // "Thought for 5 seconds" stands before an answer, not in it.
    while (o.notes && found[0] !== undefined && o.notes.test(found[0])) found.shift()
    parts.push(...found)
  }
  const whole = parts.join('\n\n')
  const text = cutBytes(whole, maxBytes)
  return { text, truncated: reader.truncated || text.length < whole.length }
}
