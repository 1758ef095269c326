/**
 * Searches a document and its open shadow roots. Roots are learnt once, and from added nodes. Only `rescan` walks the
 * whole tree, because a host may attach its root late.
 */
export class ShadowDom {
  /** Called once for each shadow root. */
  onroot: ((root: ShadowRoot) => void) | null = null
  readonly document: Document
  #roots = new Set<ShadowRoot>()

  constructor(document: Document) {
    this.document = document
  }

  /** Learns the shadow roots at and below a node. */
  learn(node: Node): void {
    if (!(node instanceof Element || node instanceof Document || node instanceof ShadowRoot)) return
    const trees: Node[] = [node]
    for (const tree of trees) { // grows on the way
      const walker = this.document.createTreeWalker(tree, NodeFilter.SHOW_ELEMENT)
      for (let at: Node | null = tree; at; at = walker.nextNode()) {
        const root = at instanceof Element ? at.shadowRoot : null
        if (!root || this.#roots.has(root)) continue
        this.#roots.add(root)
        this.onroot?.(root)
        trees.push(root)
      }
    }
  }

  rescan(): void {
    for (const root of this.#roots) if (!root.isConnected) this.#roots.delete(root)
    this.learn(this.document)
    for (const root of [...this.#roots]) this.learn(root)
  }

  /** Returns matches in the page's order. `a >>> b` crosses from a host into its shadow trees. */
  all(selector: string, scope: Document | Element = this.document): Element[] {
    let scopes: (Document | Element)[] = [scope]
    for (const part of selector.split('>>>')) {
      const found = new Set<Element>()
      let trees = 0
      for (const tree of scopes.flatMap((s) => this.trees(s))) {
        const before = found.size
        for (const el of tree.querySelectorAll(part)) found.add(el)
        if (found.size > before) trees++
      }
      scopes = trees > 1 ? [...found].sort(order) : [...found]
    }
    return scopes as Element[]
  }

  /** Returns the wanted matches of the first selector that has any. */
  first(selectors: string[], wanted: (el: Element) => boolean = () => true, scope?: Document | Element): Element[] {
    for (const selector of selectors) {
      const found = this.all(selector, scope).filter(wanted)
      if (found.length) return found
    }
    return []
  }

  /** Returns a scope and the shadow trees in it. */
  trees(scope: Document | Element): (Document | Element | ShadowRoot)[] {
    const connected = [...this.#roots].filter((root) => root.isConnected)
    return [scope, ...scope === this.document ? connected : connected.filter((root) => contains(scope, root.host))]
  }
}

const hostOf = (node: Node): Element | null => {
  const root = node.getRootNode()
  return root instanceof ShadowRoot ? root.host : null
}

/** Reports whether a node is within another, shadow trees included. */
export function contains(outer: Node, node: Node): boolean {
  for (let n: Node | null = node; n; n = hostOf(n)) if (outer.contains(n)) return true
  return false
}

/** Returns the nearest match at or above an element, out of shadow trees too. */
export function closest(el: Element, selector: string): Element | null {
  for (let e: Element | null = el; e; e = hostOf(e)) {
    const found = e.closest(selector)
    if (found) return found
  }
  return null
}

/** Returns an element's parent, or the host of its shadow tree. */
export const parentOf = (el: Element): Element | null => el.parentElement ?? hostOf(el)

/** Compares positions for Array.sort. A host comes before its shadow tree, and the tree before the host's children. */
export function order(a: Element, b: Element): number {
  if (a === b) return 0
  for (let x: Element | null = a, depth = 0; x; x = hostOf(x), depth++) {
    for (let y: Element | null = b, other = 0; y; y = hostOf(y), other++) {
      if (x.getRootNode() !== y.getRootNode()) continue
      if (x === y) return depth - other
      const position = x.compareDocumentPosition(y)
      if (depth && position & Node.DOCUMENT_POSITION_CONTAINED_BY) return -1
      if (other && position & Node.DOCUMENT_POSITION_CONTAINS) return 1
      return position & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1
    }
  }
  return 0
}
