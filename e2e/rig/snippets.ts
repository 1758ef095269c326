import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { root } from './harness.ts'

/** A fenced block of the documentation. */
export interface Block {
  /** The document and the line at which it begins. */
  at: string
  file: string
  /** The nearest heading above it. */
  section: string
  lang: string
  /** The words after the language: a file name, a place to run, given values. */
  words: string[]
  text: string
}

/** The documents whose blocks run here; bundlers.md's run in e2e/bundlers. */
export const documents = [
  'README.md',
  ...readdirSync(`${root}docs`).filter((f) => f.endsWith('.md') && f !== 'bundlers.md').map((f) => `docs/${f}`),
  'CHANGELOG.md',
]

export const textOf = (file: string): string => readFileSync(root + file, 'utf8')

export function blocksOf(file: string): Block[] {
  const blocks: Block[] = []
  let section = '', open: Block | undefined
  for (const [i, line] of textOf(file).split('\n').entries()) {
    const fence = line.match(/^```(\w*)\s*(.*)$/)
    if (fence && open) {
      blocks.push(open)
      open = undefined
    } else if (fence) {
      open = {
        at: `${file}:${i + 1}`,
        file,
        section,
        lang: fence[1]!,
        words: fence[2]!.split(/\s+/).filter(Boolean),
        text: '',
      }
    } else if (open) {
      open.text += `${line}\n`
    } else if (line.startsWith('#')) {
      section = line.replace(/^#+\s*/, '')
    }
  }
  if (open) throw new Error(`${open.at}: the block is not closed`)
  return blocks
}

/** The lines that a program is said to print: `// → 42` behind the statement, or `# → 42`. */
export const said = (text: string): string[] =>
  [...text.matchAll(/(?:\/\/|#) → (.*)$/gm)].map(([, line]) => line!.trim())

/** The name of the file that a block is, if it is one. */
export const nameOf = (b: Block): string | undefined => b.words.find((w) => /^[\w-]+\.\w+$/.test(w))

/** As script elements have it. */
export const digestOf = (bytes: Uint8Array): string => `sha384-${createHash('sha384').update(bytes).digest('base64')}`
