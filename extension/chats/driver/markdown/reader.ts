/** Returns a node's children as the page shows them, with shadow trees and slotted nodes. */
export function children(node: Node): NodeList | Node[] {
  if (!(node instanceof Element)) return node.childNodes
  if (node.shadowRoot) return node.shadowRoot.childNodes
  const assigned = node instanceof HTMLSlotElement ? node.assignedNodes() : []
  return assigned.length ? assigned : node.childNodes
}

/** Returns an element's name in lower case, or '' for a node outside HTML and MathML. */
export const tagOf = (node: Node) => node instanceof HTMLElement || node instanceof MathMLElement ? node.localName : ''

const frequentBlocks = new Set('p li ul ol div h1 h2 h3 pre table blockquote hr'.split(' '))
const blocks = ('address article aside blockquote dd details dialog div dl dt fieldset figcaption figure footer form ' +
  'h1 h2 h3 h4 h5 h6 header hgroup hr li main menu ol p pre:not(ms-katex>*) section summary table ul .katex-display ' +
  'ms-katex.display math[display="block"]').replaceAll(' ', ', ')

/** Reports whether an element makes lines of its own, by itself or by its content. */
export function isBlock(node: Node): node is Element {
  if (!(node instanceof Element)) return false
  const name = node.localName
  if (frequentBlocks.has(name) || node.matches(blocks)) return true
  if (!node.firstElementChild && !node.shadowRoot && name !== 'slot') return false
  if (name === 'math' || name === 'code' || name === 'ms-katex' || node.matches('.katex')) return false
  const inner = node instanceof HTMLSlotElement ? node.assignedElements() : []
  return node.querySelector(blocks) !== null ||
    (node.shadowRoot !== null && [...node.shadowRoot.children].some(isBlock)) || inner.some(isBlock)
}

/** Without attributes, only an omitted name could hide these elements. */
const frequent = 'p li ul ol div span strong em code br td th tr'.split(' ')
const silent = 'button, [role="button"], script, style, template, noscript, select, textarea, input, svg, canvas, ' +
  'iframe, object, audio, video, nav, [hidden], [role="toolbar"], [role="tooltip"], .sr-only, .cdk-visually-hidden'
const checkboxes = ['li', 'li > p', 'li > label'].map((parent) => `${parent} > input[type="checkbox"]`).join(', ')

/** A line break, until white space has been folded. No text contains it. */
export const lineBreak = '\u0001'

/** Limits one reading, and skips elements that are no text. */
export class Reader {
  nodes = 100_000
  /** UTF-16 units that may still be written. Bytes are counted at the end. */
  room: number
  truncated = false
  readonly base: string
  readonly #most: number
  readonly #omit: string
  readonly #plain: Set<string>

  constructor(base: string, omit: string[], room: number) {
    this.base = base
    this.room = this.#most = room
    this.#omit = [silent, ...omit].join(',')
    const named = (name: string, selector: string) => new RegExp(`(?:^|[^\\w-])${name}(?![\\w-])`).test(selector)
    this.#plain = new Set(frequent.filter((name) => !omit.some((selector) => named(name, selector))))
  }

  /** Counts a node. Returns false if the node must not be read. */
  enter(node: Node, depth: number): boolean {
    const plain = !(node instanceof Element) || (this.#plain.has(node.localName) && !node.hasAttributes())
    if (!plain && node.matches(this.#omit) && !node.matches(checkboxes)) return false
    if (this.nodes-- <= 0 || depth > 100 || this.room <= 0) {
      this.truncated = true
      return false
    }
    return true
  }

  /** Returns the part of a text that there is room for. */
  take(text: string): string {
    text = text.replaceAll(lineBreak, '')
    if (text.length > this.room) {
      this.truncated = true
      text = text.slice(0, this.room)
    }
    this.room -= text.length
    return text
  }

  /** Returns the part of `text` that there is room for in place of a text that was taken before. */
  retake(taken: string, text: string): string {
    this.room = Math.min(this.room + taken.length, this.#most)
    return this.take(text)
  }
}
