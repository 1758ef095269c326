/**
 * Searches a document and the open shadow roots in it. The roots are learnt once and
 * from what is added; only `rescan` walks the tree, for hosts that got theirs late.
 */
export class Deep {
  /** Told of each shadow root, once. */
  onroot: ((root: ShadowRoot) => void) | null = null
  readonly document: Document
  #roots = new Set<ShadowRoot>()

  constructor(document: Document) {
    this.document = document
  }

  /** Learns the shadow roots at and below a node. */
  learn(node: Node): void {
    if (!(node instanceof Element || node instanceof Document || node instanceof ShadowRoot)) return
    const rest: (Element | Document | ShadowRoot)[] = [node]
    for (let top = rest.pop(); top; top = rest.pop()) {
      if (top instanceof Element && top.shadowRoot) this.#add(top.shadowRoot, rest)
      const walker = this.document.createTreeWalker(top, NodeFilter.SHOW_ELEMENT)
      for (let el = walker.nextNode() as Element | null; el; el = walker.nextNode() as Element | null)
        if (el.shadowRoot) this.#add(el.shadowRoot, rest)
    }
  }

  #add(root: ShadowRoot, rest: (Element | Document | ShadowRoot)[]): void {
    if (this.#roots.has(root)) return
    this.#roots.add(root)
    this.onroot?.(root)
    rest.push(root)
  }

  rescan(): void {
    for (const root of this.#roots) if (!root.isConnected) this.#roots.delete(root)
    this.learn(this.document)
    for (const root of [...this.#roots]) this.learn(root)
  }

  /** In the page's order; `a >>> b` crosses from a host into its shadow trees. */
  all(selector: string, scope: Document | Element = this.document): Element[] {
    let scopes: (Document | Element)[] = [scope]
    for (const part of selector.split('>>>')) {
      const found = new Set<Element>()
      let trees = 0
      for (const s of scopes)
        for (const tree of this.trees(s)) {
          const before = found.size
          for (const el of tree.querySelectorAll(part)) found.add(el)
          if (found.size > before) trees++
        }
      scopes = trees > 1 ? [...found].sort(order) : [...found]
    }
    return scopes as Element[]
  }

  /** Of the first selector that matches anything that is wanted. */
  first(selectors: string[], wanted: (el: Element) => boolean = () => true, scope?: Document | Element): Element[] {
    for (const selector of selectors) {
      const found = this.all(selector, scope).filter(wanted)
      if (found.length) return found
    }
    return []
  }

  /** A scope and the shadow trees in it. */
  trees(scope: Document | Element): (Document | Element | ShadowRoot)[] {
    if (scope === this.document) return [this.document, ...this.#live()]
    return [scope, ...this.#live().filter((root) => contains(scope, root.host))]
  }

  #live = () => [...this.#roots].filter((root) => root.isConnected)
}

const hostOf = (node: Node): Element | null => {
  const root = node.getRootNode()
  return root instanceof ShadowRoot ? root.host : null
}

/** Whether a node is within another, shadow trees included. */
export function contains(outer: Node, node: Node): boolean {
  for (let n: Node | null = node; n; n = hostOf(n)) if (outer.contains(n)) return true
  return false
}

/** The nearest element at or above that matches, out of shadow trees too. */
export function closest(el: Element, selector: string): Element | null {
  for (let e: Element | null = el; e; e = hostOf(e)) {
    const found = e.closest(selector)
    if (found) return found
  }
  return null
}

/** The element that is around this one, out of shadow trees too. */
export const around = (el: Element): Element | null => el.parentElement ?? hostOf(el)

/**
 * Compares places in the page, as Array.sort wants it; a host comes before its shadow tree, that before its children.
 */
export function order(a: Element, b: Element): number {
  if (a === b) return 0
  for (let x: Element | null = a, depth = 0; x; x = hostOf(x), depth++) {
    for (let y: Element | null = b, other = 0; y; y = hostOf(y), other++) {
      if (x.getRootNode() !== y.getRootNode()) continue
      if (x === y) return depth - other
      const place = x.compareDocumentPosition(y)
      if (depth && place & Node.DOCUMENT_POSITION_CONTAINED_BY) return -1
      if (other && place & Node.DOCUMENT_POSITION_CONTAINS) return 1
      return place & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1
    }
  }
  return 0
}
