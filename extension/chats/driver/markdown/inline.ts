import { children, isBlock, lineBreak, tagOf, type Reader } from './reader.ts'

/** The markup around a run of text. */
interface Around {
  bold?: boolean
  italic?: boolean
  strike?: boolean
  link?: boolean
  cell?: boolean
}

/** Returns nodes without lines of their own as Markdown. White space is not folded yet. */
export function inline(nodes: Iterable<Node>, reader: Reader, depth: number, around: Around = {}): string {
  let out = ''
  for (const node of nodes) {
    if (!reader.enter(node, depth)) continue
    if (node instanceof Text) out = joined(out, escape(reader.take(node.data)))
    else if (node instanceof Element) out = joined(out, element(node, reader, depth + 1, around))
  }
  return out
}

/** Elements with the meaning of another one. */
const synonyms = new Map(Object.entries({
  ...{ b: 'strong', i: 'em', s: 'del', strike: 'del' },
  ...{ kbd: 'code', samp: 'code', tt: 'code', rt: 'wbr', rp: 'wbr' },
}))

function element(el: Element, reader: Reader, depth: number, around: Around): string {
  const math = formula(el)
  if (math)
    return math.display && !around.cell
      ? `${lineBreak}$$${reader.take(math.tex)}$$${lineBreak}`
      : `$${reader.take(math.tex)}$`
  const inner = (more?: Around) => inline(children(el), reader, depth, { ...around, ...more })
  const tag = tagOf(el)
  switch (synonyms.get(tag) ?? tag) {
    case 'br':
      return lineBreak
    case 'strong':
      return around.bold ? inner() : wrap('**', inner({ bold: true }))
    case 'em':
      return around.italic ? inner() : wrap('*', inner({ italic: true }))
    case 'del':
      return around.strike ? inner() : wrap('~~', inner({ strike: true }))
    case 'pre':
      if (el.querySelector('code')) return `${lineBreak}${inner()}${lineBreak}`
    // falls through
    case 'code': {
      const text = reader.take(codeText(el, reader))
      if (!around.cell) return inlineCode(text)
      return text.split('\n').map(inlineCode).filter(Boolean).join(lineBreak).replace(/\|/g, '\\|')
    }
    case 'a':
      return link(el, reader, inner({ link: true }), around)
    case 'img': {
      const alt = also(/[[\]]/, escape(reader.take((el.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim())))
      const src = address(el.getAttribute('src'), reader.base, /^https?:$/)
      return src || alt ? `![${alt}](${src ? reader.take(src) : ''})` : ''
    }
    case 'sup':
      return isFootnote(el) ? '' : small(inner(), '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ')
    case 'sub':
      return small(inner(), '₀₁₂₃₄₅₆₇₈₉₊₋ₙ')
    case 'input':
      return el.hasAttribute('checked') || (el as HTMLInputElement).checked ? '[x] ' : '[ ] '
    case 'wbr':
      return ''
    default: {
      const text = inner()
      return isBlock(el) && text.trim() ? `${lineBreak}${text}${lineBreak}` : text
    }
  }
}

/** Returns a number in small digits. Markdown has no other form, and 10² must not become 102. */
const small = (text: string, digits: string) =>
  /^[\d+\-−n]+$/.test(text) ? text.replace(/./g, (c) => digits['0123456789+-n'.indexOf(c)] ?? digits[11]!) : text

/** Puts marks right beside the words. White space inside would make the marks text. */
function wrap(mark: string, text: string): string {
  const words = text.replaceAll(lineBreak, ' ')
  const trimmed = words.trim()
  if (!trimmed) return words
  const lead = words.slice(0, words.length - words.trimStart().length)
  return lead + mark + trimmed + mark + words.slice(words.trimEnd().length)
}

function link(el: Element, reader: Reader, text: string, around: Around): string {
  const href = address(el.getAttribute('href'), reader.base)
  const anchor = el.getAttribute('href')?.startsWith('#')
  if (anchor && /^(?:\\?\[?[\d*†‡↩^]+\\?\]?|)$/u.test(text.trim())) return ''
  const words = text.replaceAll(lineBreak, ' ').trim()
  if (!href || anchor || around.link || !words) return text
  return `[${balanced(words)}](${reader.take(href)})`
}

/** Escapes the brackets in a link's text if they do not pair. */
function balanced(text: string): string {
  let open = 0
  for (const [found] of text.matchAll(/\\.|[[\]]/gs))
    if (found.length === 1 && (open += found === '[' ? 1 : -1) < 0) break
  return open === 0 ? text : also(/[[\]]/, text)
}

/** Reports whether a superscript only leads to a note. */
const isFootnote = (el: Element) => {
  const anchor = el.querySelector('a')
  return anchor !== null && (anchor.getAttribute('href') ?? '#').startsWith('#') &&
    /^[\s\d[\],*†‡]*$/u.test(el.textContent ?? '')
}

const formulas = 'math, .katex, .katex-display, mjx-container, .MathJax, ms-katex, .math-inline, .math-block'

/** Returns the TeX of a formula, or undefined for any other element. Pages hold a formula in several forms. */
export function formula(el: Element): { tex: string; display: boolean } | undefined {
  if (!el.matches(formulas)) return undefined
  const annotation = el.querySelector('annotation[encoding="application/x-tex"]')
  const tex = (el.getAttribute('data-math') ?? annotation?.textContent)?.trim()
  if (!tex) return undefined
  const display = el.matches('[display="true"], [display="block"], .math-block, ms-katex.display') ||
    el.closest('.katex-display') !== null || el.querySelector('.katex-display, math[display="block"]') !== null
  // A line feed is a space in TeX. A dollar would end the formula.
  return { tex: oneLine(tex).replace(/(?<!\\)\$/g, '\\$'), display }
}

const breaks = / *\u0001[ \u0001]*/g
const ends = /^[ \u0001]+|[ \u0001]+$/g

/** Folds white space as a browser does. A break becomes `as`, which is two spaces and a line feed by default. */
export const fold = (text: string, as = '  \n') =>
  text.replace(/[ \t\r\n\f]+/g, ' ').replace(breaks, lineBreak).replace(ends, '').replaceAll(lineBreak, as)

/** Escapes only the characters that Markdown would read as markup: people and models read the text as it is. */
function escape(text: string): string {
  if (!/[\\`*_~<&\]$]/.test(text)) return text
  const out = text
    .replace(/\\(?=[!-/:-@[-`{-~]|$)/g, '\\\\')
    .replace(/`/g, '\\`')
    .replace(/\*+/g, (run, at: number) => alone(text, at, run.length) ? run : run.replace(/\*/g, '\\*'))
    .replace(/_+/g, (run, at: number, whole: string) => {
      const harmless = withinWord(whole, at, run.length) || alone(whole, at, run.length)
      return harmless ? run : run.replace(/_/g, '\\_')
    })
    .replace(/~~+/g, (run) => run.replace(/~/g, '\\~'))
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replace(/&(?=#?\w{1,32};)/g, '\\&')
    .replace(/\](?=[([])/g, '\\]')
  // A dollar matters only in a pair that encloses a formula.
  return /\$\S[^$\n]*\S\$(?!\d)|\$[^\s$]\$(?!\d)|\$\$/.test(text) ? out.replace(/\$/g, '\\$') : out
}

/** Puts `part` after `text`. Two harmless ends may make markup where they meet. */
function joined(text: string, part: string): string {
  if (text.endsWith('`') && part.startsWith('`')) return `${text} ${part}`
  const seam = (text.endsWith('!') && part.startsWith('[')) || (text.endsWith('<') && /^[a-z/!?]/i.test(part)) ||
    (text.endsWith('&') && /^#?\w/.test(part)) || (text.endsWith(']') && /^[([]/.test(part))
  return seam && !/(?<!\\)(?:\\\\)*\\.$/.test(text.slice(-8))
    ? `${text.slice(0, -1)}\\${text.slice(-1)}${part}`
    : text + part
}

/** Escapes further characters in a text that is Markdown already. */
const also = (characters: RegExp, markdown: string) =>
  markdown.replace(new RegExp(`\\\\.|${characters.source}`, 'gs'), (found) => found.length > 1 ? found : '\\' + found)

const space = (c: string | undefined) => c === undefined || /\s/.test(c)

/** Reports white space at both sides within the text. No emphasis begins or ends there. */
const alone = (text: string, at: number, length: number) =>
  at > 0 && at + length < text.length && space(text[at - 1]) && space(text[at + length])

const letter = /[\p{L}\p{N}]/u
const withinWord = (text: string, at: number, length: number) =>
  letter.test(text[at - 1] ?? '') && letter.test(text[at + length] ?? '')

/** Escapes markup that counts only at the beginning of a line. `text` is a paragraph's Markdown. */
export function escapeLines(text: string): string {
  if (!/^[\s#+*>|~\d=_[-]/m.test(text)) return text
  return text.replace(/^[ \t]+/gm, '')
    .replace(/^(#{1,6})(?=\s|$)/gm, '\\$1')
    .replace(/^([-+])(?=\s|$)/gm, '\\$1')
    .replace(/^(\*)(?=\s)/gm, '\\$1')
    .replace(/^(>|\||~~~)/gm, '\\$1')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, '$1\\$2')
    .replace(/^([-=_])(?=(?:[ \t]*\1)+[ \t]*$)/gm, '\\$1')
    .replace(/^=$/gm, '\\=')
    .replace(/^\[(?=[^\]\n]+\]:)/gm, '\\[')
}

/** Returns at least `least` backticks, and more than the text has in a row. */
export function fence(text: string, least: number): string {
  const runs = (text.match(/`+/g) ?? []).map((run) => run.length + 1)
  return '`'.repeat(runs.reduce((a, b) => Math.max(a, b), least))
}

/** Returns text with its lines. A line is text, or an element of its own in some highlighters. */
export function codeText(el: Element, reader: Reader): string {
  let out = ''
  const walk = (node: Node, depth: number) => {
    if (out.length > reader.room || !reader.enter(node, depth)) return
    if (node instanceof Text) out += node.data.slice(0, reader.room)
    else if (node instanceof HTMLBRElement) out += '\n'
    else {
      const line = node instanceof HTMLDivElement || node instanceof HTMLParagraphElement
      if (line && out && !out.endsWith('\n')) out += '\n'
      for (const child of children(node)) walk(child, depth + 1)
      if (line && !out.endsWith('\n')) out += '\n'
    }
  }
  for (const child of children(el)) walk(child, 0)
  return out
}

/** Puts a space in place of white space with a line feed. Each run of white space is looked at once. */
const oneLine = (text: string) => text.replace(/\s+/g, (run) => run.includes('\n') ? ' ' : run)

function inlineCode(text: string): string {
  const code = oneLine(text)
  if (code === '') return ''
  const ticks = fence(code, 1)
  const isPadded = code.startsWith(' ') && code.endsWith(' ') && /\S/.test(code)
  const pad = isPadded || code.startsWith('`') || code.endsWith('`') ? ' ' : ''
  return ticks + pad + code + pad + ticks
}

/** Returns an address in its absolute form if it may stand in an answer, or null. */
function address(href: string | null, base: string, schemes = /^(?:https?|mailto):$/): string | null {
  if (!href || !URL.canParse(href, base)) return null
  const url = new URL(href, base)
  if (!schemes.test(url.protocol) || url.href.length > 2048) return null
  return url.href.replace(/[()<>\\`]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase())
}
