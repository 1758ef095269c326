import { h, type Child } from './dom.ts'
import { inline, type Dress } from './inline.ts'

export type { Dress }

/** Paints Markdown into an element. Only changed blocks are replaced. */
export class Markdown {
  readonly element: HTMLElement
  #dress: Dress
  #painted: { source: string; node: HTMLElement }[] = []

  constructor(element: HTMLElement, dress: Dress) {
    this.element = element
    this.#dress = dress
  }

  paint(source: string): void {
    const sources = blocks(source)
    sources.forEach((each, n) => {
      const old = this.#painted[n]
      if (old?.source === each) return
      const node = block(each, this.#dress)
      if (old) old.node.replaceWith(node)
      else this.element.append(node)
      this.#painted[n] = { source: each, node }
    })
    for (const { node } of this.#painted.splice(sources.length)) node.remove()
  }
}

/** Splits a document into blocks at blank lines, except in fences, display math and lists. */
function blocks(source: string): string[] {
  const found: string[] = []
  let open: string[] = []
  let until: RegExp | undefined
  const end = (): void => {
    if (open.length) found.push(open.join('\n'))
    open = []
  }
  for (const line of source.split('\n')) {
    const fence = /^(```|\$\$)/.exec(line)?.[1]
    if (until) {
      open.push(line)
      if (until.test(line)) {
        until = undefined
        end()
      }
    } else if (fence) {
      end()
      open.push(line)
      until = fence === '$$' ? /^\$\$\s*$/ : /^```\s*$/
    } else if (line.trim() === '') end()
    else if (/^#{1,6} /.test(line)) {
      end()
      found.push(line)
    } else open.push(line)
  }
  end()
  return found
}

function block(source: string, dress: Dress): HTMLElement {
  const lines = source.split('\n')
  const first = lines[0]!
  const fence = /^```(\S*)/.exec(first)
  if (fence)
    return dress.code(
      fence[1]!,
      lines.slice(1).filter((line, n, all) => n < all.length - 1 || !/^```\s*$/.test(line)).join('\n'),
    )
  if (first.startsWith('$$'))
    return h(
      'p',
      {},
      dress.math(lines.slice(1).filter((line) => line !== '$$').join('\n'), true),
    )
  const heading = /^(#{1,6}) (.*)/.exec(first)
  if (heading) return h(`h${heading[1]!.length}`, {}, ...inline(heading[2]!, dress))
  if (/^---+$/.test(source)) return h('hr')
  if (first.startsWith('>'))
    return h(
      'blockquote',
      {},
      h('p', {}, ...inline(lines.map((line) => line.replace(/^> ?/, '')).join('\n'), dress)),
    )
  if (first.startsWith('|') && /^\|[-:| ]+\|$/.test(lines[1] ?? '')) return dress.table(table(lines, dress))
  if (item.test(first)) return list(lines, dress)
  return h('p', {}, ...inline(source, dress))
}

const item = /^(\s*)([-*]|\d+\.) (?:\[([ x])\] )?(.*)/

/** A list and the lists in its items, which are indented further. */
function list(lines: string[], dress: Dress): HTMLElement {
  const [, indent, bullet] = item.exec(lines[0]!)!
  const made = h(/\d/.test(bullet!) ? 'ol' : 'ul', {})
  for (let n = 0; n < lines.length;) {
    const [, , , box, text] = item.exec(lines[n]!) ?? [, , , undefined, lines[n]!.trim()]
    let next = n + 1
    while (next < lines.length && /^\s*/.exec(lines[next]!)![0].length > indent!.length) next++
    const inner = lines.slice(n + 1, next)
    const check: Child = box !== undefined && h('input', { type: 'checkbox', disabled: true, checked: box === 'x' })
    made.append(
      h(
        'li',
        {},
        check,
        check && ' ',
        ...inline(text!, dress),
        inner.length > 0 && item.test(inner[0]!) && list(inner, dress),
      ),
    )
    n = next
  }
  return made
}

function table([head, rule, ...rows]: string[], dress: Dress): HTMLTableElement {
  const cells = (line: string): string[] => line.replace(/^\||\|\s*$/g, '').split('|').map((cell) => cell.trim())
  const align = cells(rule!).map((cell) => cell.endsWith(':') ? 'text-align: right' : undefined)
  const row = (tag: 'th' | 'td', line: string): HTMLElement =>
    h('tr', {}, ...cells(line).map((cell, n) => h(tag, { style: align[n] }, ...inline(cell, dress))))
  return h('table', {}, h('thead', {}, row('th', head!)), h('tbody', {}, ...rows.map((line) => row('td', line))))
}
