import { cutBytes } from '../text.ts'
import { codeText, escapeLines, fence, fold, formula, inline } from './inline.ts'
import { children, isBlock, Reader, tagOf } from './reader.ts'

export interface Markdown {
  text: string
  truncated: boolean
}

const maxBytes = 1 << 20
const maxColumns = 100

/**
 * Converts elements of a page to Markdown. The page is untrusted: at most 100,000 nodes, 100 levels and 1 MiB are read,
 * and no text becomes HTML.
 */
export function markdown(elements: Element[], o: { base: string; omit?: string[]; notes?: RegExp }): Markdown {
  const reader = new Reader(o.base, o.omit ?? [], maxBytes)
  const whole = elements.flatMap((el) => {
    const found = blocks([el], reader, 0)
    // "Thought for 5 seconds" stands before an answer, and is not part of it.
    while (o.notes && found[0] !== undefined && o.notes.test(found[0])) found.shift()
    return found
  }).join('\n\n')
  const text = cutBytes(whole, maxBytes)
  return { text, truncated: reader.truncated || text.length < whole.length }
}

/** Returns the blocks of nodes, each as Markdown without lines around it. */
function blocks(nodes: Iterable<Node>, reader: Reader, depth: number): string[] {
  const out: string[] = []
  let run: Node[] = []
  const paragraph = () => {
    const text = escapeLines(fold(inline(run, reader, depth)))
    if (text) out.push(text)
    run = []
  }
  for (const node of nodes) {
    if (!isBlock(node)) {
      run.push(node)
      continue
    }
    paragraph()
    if (reader.enter(node, depth)) out.push(...block(node, reader, depth + 1).filter((text) => text !== ''))
  }
  paragraph()
  // Two lists in a row need different marks, or they would be one list.
  for (let i = 1; i < out.length; i++)
    if (out[i]!.startsWith('- ') && out[i - 1]!.startsWith('- ')) out[i] = out[i]!.replace(/^- /gm, '* ')
  return out
}

function block(el: Element, reader: Reader, depth: number): string[] {
  const math = formula(el)
  if (math) return [math.display ? `$$\n${reader.take(math.tex)}\n$$` : `$${reader.take(math.tex)}$`]
  const tag = tagOf(el)
  if (/^h[1-6]$/.test(tag)) {
    const text = fold(inline(children(el), reader, depth), ' ').replace(/(^|\s)(#+)$/, '$1\\$2')
    return text ? ['#'.repeat(Number(tag[1])) + ' ' + text] : []
  }
  switch (tag) {
    case 'hr':
      return ['---']
    case 'pre':
      return [codeBlock(el, reader)]
    case 'table':
      return [table(el, reader, depth)]
    case 'ul':
    case 'ol':
    case 'menu':
      return list(el, reader, depth)
    case 'blockquote': {
      const inner = blocks(children(el), reader, depth).join('\n\n')
      return inner ? [reader.retake(inner, inner.replace(/^(?=.)/gm, '> ').replace(/^$/gm, '>'))] : []
    }
    case 'a':
      // A link holds no blocks in Markdown. Its words become one line, unless they have a form of their own.
      if (/^[^#]/.test(el.getAttribute('href') ?? '') && !el.querySelector('pre, table, ul, ol, blockquote'))
        return [escapeLines(fold(inline([el], reader, depth)))]
      return blocks(children(el), reader, depth)
    case 'dt': {
      const text = fold(inline(children(el), reader, depth, { bold: true }), ' ')
      return text ? [`**${text}**`] : []
    }
    default:
      return withoutName(el, blocks(children(el), reader, depth))
  }
}

/** Removes the language's name that sites show above code, in one box with it. The fence gets it if it has none. */
function withoutName(box: Element, inner: string[]): string[] {
  const [name = '', code = ''] = inner
  const isNamed = inner.length === 2 && named.test(name) && code.startsWith('```') && !box.querySelector(words)
  return isNamed ? [code.replace(/^(`+)\n/, `$1${languageOf(name)}\n`)] : inner
}

const named = /^[\w+#.-]{1,30}$/
/** Elements of an answer's own words. */
const words = 'p, li, h1, h2, h3, h4, h5, h6'

function list(el: Element, reader: Reader, depth: number): string[] {
  const ordered = tagOf(el) === 'ol'
  let number = ordered ? Math.max(0, Math.min(999_999_999, (el as HTMLOListElement).start)) : 0
  const items: string[] = []
  let loose = false
  for (const child of children(el)) {
    if (!(child instanceof Element) || !reader.enter(child, depth)) continue
    // A list directly in a list belongs to the item before it.
    const nested = /^(?:ul|ol|menu)$/.test(tagOf(child))
    const parts = nested ? list(child, reader, depth + 1) : blocks(children(child), reader, depth + 1)
    if (nested && items.length) {
      const inner = parts.join('\n')
      items.push(items.pop() + '\n' + reader.retake(inner, inner.replace(/^(?=.)/gm, ordered ? '   ' : '  ')))
      continue
    }
    const value = child.getAttribute('value')
    if (ordered && value && /^\d{1,9}$/.test(value)) number = Number(value)
    const mark = ordered ? `${number++}. ` : '- '
    const separate = parts.length > 1 && !parts.slice(1).every((part) => /^(?:[-*] |\d+\. )/.test(part))
    loose ||= separate
    const text = parts.join(separate ? '\n\n' : '\n')
    const indented = text.replace(/\n(?=.)/g, '\n' + ' '.repeat(mark.length))
    items.push(reader.retake(text, (mark + indented).trimEnd()))
  }
  return items.length ? [items.join(loose ? '\n\n' : '\n')] : []
}

/** Returns a table in GitHub's form. The first row is the head, because Markdown needs one. */
function table(el: Element, reader: Reader, depth: number): string {
  const rows = [...el.querySelectorAll('tr')].filter((row) => row.closest('table') === el)
  /** The number of further rows that a cell above covers, by column. */
  const covered: number[] = []
  const cells = rows.map((row) => {
    const out: string[] = []
    const skip = () => {
      for (; covered[out.length]! > 0; out.push('')) covered[out.length]!--
    }
    for (const cell of row.children) {
      if (!/^t[dh]$/.test(tagOf(cell)) || out.length >= maxColumns || !reader.enter(cell, depth)) continue
      skip()
      const { colSpan, rowSpan } = cell as HTMLTableCellElement
      const text = fold(inline(children(cell), reader, depth + 1, { cell: true }), '<br>').replace(/(?<!\\)\|/g, '\\|')
      for (let i = 0; i < colSpan && out.length < maxColumns; i++) {
        covered[out.length] = (rowSpan || Infinity) - 1
        out.push(i ? '' : text)
      }
    }
    skip()
    return out
  }).filter((row) => row.length)
  const [head, ...body] = cells
  if (!head) return ''
  const width = Math.max(...cells.map((row) => row.length))
  const line = (row: string[]) => `| ${Array.from({ length: width }, (_, i) => row[i] ?? '').join(' | ')} |`
  const marks = Array.from({ length: width }, (_, i) => alignment(rows[0]!.children[i]))
  return [line(head), line(marks), ...body.map(line)].join('\n')
}

const alignments: Record<string, string> = { center: ':---:', right: '---:', end: '---:', left: ':---', start: ':---' }

function alignment(cell: Element | undefined): string {
  const align = cell?.getAttribute('align') ?? (cell instanceof HTMLElement ? cell.style.textAlign : '')
  return alignments[align] ?? '---'
}

/** Returns a `pre` as a fenced block. Text beside a `code` in it is a toolbar. */
function codeBlock(pre: Element, reader: Reader): string {
  const codes = [...pre.querySelectorAll('code')].filter((code) => !code.parentElement!.closest('code'))
  const texts = (codes.length ? codes : [pre]).map((el) => codeText(el, reader))
  const text = reader.take(texts.join('\n').replace(/(?<!\n)\n+$/, ''))
  if (!text.trim()) return ''
  const ticks = fence(text, 3)
  return `${ticks}${language([...codes, pre])}\n${text}\n${ticks}`
}

function language(els: Element[]): string {
  const inClass = /(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]{1,30})/
  for (const el of els) {
    const name = languageOf(
      inClass.exec(el.getAttribute('class') ?? '')?.[1] ?? el.getAttribute('data-language') ??
        el.getAttribute('data-lang') ?? '',
    )
    if (name) return name
  }
  return ''
}

const languageOf = (name: string): string =>
  named.test(name) && !/^(?:none|plaintext|text|undefined)$/i.test(name) ? name.toLowerCase() : ''
