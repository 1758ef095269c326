/** The nodes that a reader sees below one: shadow trees and what is slotted into them. */
export function children(node: Node): NodeList | Node[] {
  if (!(node instanceof Element)) return node.childNodes
  if (node.shadowRoot) return node.shadowRoot.childNodes
  if (node instanceof HTMLSlotElement) {
    const assigned = node.assignedNodes()
    if (assigned.length) return assigned
  }
  return node.childNodes
}

/** The name in lower case; '' for what is no element of HTML. */
export const tagOf = (node: Node) => node instanceof HTMLElement || node instanceof MathMLElement ? node.localName : ''

const blockTags = new Set(['p', 'li', 'ul', 'ol', 'div', 'h1', 'h2', 'h3', 'pre', 'table', 'blockquote', 'hr'])
const blocks =
  'address, article, aside, blockquote, dd, details, dialog, div, dl, dt, fieldset, figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hgroup, hr, li, main, menu, ol, p, pre, section, summary, table, ul, .katex-display, math[display="block"]'

/** Whether an element makes lines of its own, by itself or by what it holds. */
export function isBlock(node: Node): node is Element {
  if (!(node instanceof Element)) return false
  const name = node.localName
  if (blockTags.has(name) || node.matches(blocks)) return true
  if (!node.firstElementChild && !node.shadowRoot && name !== 'slot') return false
  if (name === 'math' || name === 'code' || node.matches('.katex')) return false
  const inner = node instanceof HTMLSlotElement ? node.assignedElements() : []
  return node.querySelector(blocks) !== null ||
    (node.shadowRoot !== null && [...node.shadowRoot.children].some(isBlock)) || inner.some(isBlock)
}

/** Without attributes nothing but an omitted name would silence them. */
const usual = new Set(['p', 'li', 'ul', 'ol', 'div', 'span', 'strong', 'em', 'code', 'br', 'td', 'th', 'tr'])
const silent =
  'button, [role="button"], script, style, template, noscript, select, textarea, input, svg, canvas, iframe, object, audio, video, nav, [hidden], [role="toolbar"], [role="tooltip"], .sr-only, .cdk-visually-hidden'

/** A line break, until white space has been folded. No text has it. */
export const lineBreak = '\u0001'

/** What bounds a reading, and what it passes over. */
export class Reader {
  nodes = 100_000
  /** UTF-16 units that may still be written; the bytes are counted at the end. */
  room: number
  truncated = false
  readonly base: string
  readonly #omit: string
  readonly #usual: Set<string>

  constructor(base: string, omit: string[], room: number) {
    this.base = base
    this.#omit = [silent, ...omit].join(',')
    this.room = room
    this.#usual = new Set(
      [...usual].filter((name) =>
        !omit.some((selector) => new RegExp(`(?:^|[^\\w-])${name}(?![\\w-])`).test(selector))
      ),
    )
  }

  /** Takes a node from what may be read; false: it is not read. */
  enter(node: Node, depth: number): boolean {
    if (
      node instanceof Element && !(this.#usual.has(node.localName) && !node.hasAttributes()) &&
      node.matches(this.#omit) &&
      !node.matches('li > input[type="checkbox"], li > p > input[type="checkbox"], li > label > input[type="checkbox"]')
    ) return false
    if (this.nodes-- <= 0 || depth > 100 || this.room <= 0) {
      this.truncated = true
      return false
    }
    return true
  }

  /** Text to write, as much as there is room for. */
  take(text: string): string {
    text = text.replaceAll(lineBreak, '')
    if (text.length > this.room) {
      this.truncated = true
      text = text.slice(0, this.room)
    }
    this.room -= text.length
    return text
  }
}
