import { address, also, escape, inlineCode, joined } from './escape.ts'
import { formula } from './math.ts'
import { children, isBlock, lineBreak, tagOf, type Reader } from './tree.ts'

/** What is around a run of text. */
export interface Around {
  bold?: boolean
  italic?: boolean
  strike?: boolean
  link?: boolean
  cell?: boolean
}

/** Text of nodes that make no lines of their own, as Markdown; white space is not folded yet. */
export function inline(nodes: Iterable<Node>, reader: Reader, depth: number, around: Around = {}): string {
  let out = ''
  for (const node of nodes) {
    if (!reader.enter(node, depth)) continue
    let part = ''
    if (node instanceof Text) part = escape(reader.take(node.data))
    else if (node instanceof Element) part = element(node, reader, depth + 1, around)
    out = joined(out, part)
  }
  return out
}

function element(el: Element, reader: Reader, depth: number, around: Around): string {
  const math = formula(el)
  if (math)
    return math.display && !around.cell
      ? `${lineBreak}$$${reader.take(math.tex)}$$${lineBreak}`
      : `$${reader.take(math.tex)}$`
  const inner = (more?: Around) => inline(children(el), reader, depth, { ...around, ...more })
  switch (tagOf(el)) {
    case 'br':
      return lineBreak
    case 'strong':
    case 'b':
      return around.bold ? inner() : wrap('**', inner({ bold: true }))
    case 'em':
    case 'i':
      return around.italic ? inner() : wrap('*', inner({ italic: true }))
    case 'del':
    case 's':
    case 'strike':
      return around.strike ? inner() : wrap('~~', inner({ strike: true }))
    case 'code':
    case 'kbd':
    case 'samp':
    case 'tt':
      return code(el, reader, around)
    case 'a':
      return link(el, reader, inner, around)
    case 'img':
      return image(el, reader)
    case 'sup':
      return isFootnote(el) ? '' : inner()
    case 'input':
      return el.hasAttribute('checked') || (el as HTMLInputElement).checked ? '[x] ' : '[ ] '
    case 'wbr':
    case 'rt':
    case 'rp':
      return ''
    default: {
      const text = inner()
      return isBlock(el) && text.trim() ? `${lineBreak}${text}${lineBreak}` : text
    }
  }
}

/** Marks cling to the words: white space inside would make them text. */
function wrap(mark: string, text: string): string {
  const words = text.replaceAll(lineBreak, ' ')
  const trimmed = words.trim()
  if (!trimmed) return words
  const lead = words.slice(0, words.length - words.trimStart().length)
  return lead + mark + trimmed + mark + words.slice(words.trimEnd().length)
}

function code(el: Element, reader: Reader, around: Around): string {
  const text = inlineCode(reader.take(el.textContent ?? ''))
  return around.cell ? text.replace(/\|/g, '\\|') : text
}

function link(el: Element, reader: Reader, inner: (more?: Around) => string, around: Around): string {
  const href = address(el.getAttribute('href'), reader.base)
  const anchor = el.getAttribute('href')?.startsWith('#')
  const text = inner({ link: true })
  if (anchor && /^\s*(?:\\?\[?[\d*†‡↩^]+\\?\]?|)\s*$/u.test(text)) return ''
  const words = text.replaceAll(lineBreak, ' ').trim()
  if (!href || anchor || around.link || !words) return text
  return `[${balanced(words)}](${reader.take(href)})`
}

/** Brackets in a link's text must pair. */
function balanced(text: string): string {
  let open = 0
  for (const [found] of text.matchAll(/\\.|[[\]]/gs))
    if (found.length === 1 && (open += found === '[' ? 1 : -1) < 0) break
  return open === 0 ? text : also(/[[\]]/, text)
}

function image(el: Element, reader: Reader): string {
  const alt = also(/[[\]]/, escape(reader.take((el.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim())))
  const src = address(el.getAttribute('src'), reader.base, /^https?:$/)
  return src || alt ? `![${alt}](${src ? reader.take(src) : ''})` : ''
}

/** A superscript that only leads to a note. */
const isFootnote = (el: Element) => {
  const anchor = el.querySelector('a')
  return anchor !== null && (anchor.getAttribute('href') ?? '#').startsWith('#') &&
    /^[\s\d[\],*†‡]*$/u.test(el.textContent ?? '')
}

const breaks = / *\u0001[ \u0001]*/g
const ends = /^[ \u0001]+|[ \u0001]+$/g

/** Folds white space as a browser does; a break is two spaces and a line feed, or what `as` says. */
export const fold = (text: string, as = '  \n') =>
  text.replace(/[ \t\r\n\f]+/g, ' ').replace(breaks, lineBreak).replace(ends, '').replaceAll(lineBreak, as)
