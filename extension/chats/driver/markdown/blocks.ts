import { codeBlock } from './code.ts'
import { escapeLines } from './escape.ts'
import { fold, inline } from './inline.ts'
import { formula } from './math.ts'
import { table } from './table.ts'
import { children, isBlock, tagOf, type Reader } from './tree.ts'

/** The blocks that nodes make, each as Markdown without lines around it. */
export function blocks(nodes: Iterable<Node>, reader: Reader, depth: number): string[] {
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
    if (reader.enter(node, depth)) out.push(...block(node, reader, depth + 1))
  }
  paragraph()
  return separated(out)
}

function block(el: Element, reader: Reader, depth: number): string[] {
  const math = formula(el)
  if (math) return [math.display ? `$$\n${reader.take(math.tex)}\n$$` : `$${reader.take(math.tex)}$`]
  const tag = tagOf(el)
  switch (tag) {
    case 'h1':
    case 'h2':
    case 'h3':
    case 'h4':
    case 'h5':
    case 'h6': {
      const text = fold(inline(children(el), reader, depth), ' ').replace(/(^|\s)(#+)$/, '$1\\$2')
      return text ? ['#'.repeat(Number(tag[1])) + ' ' + text] : []
    }
    case 'hr':
      return ['---']
    case 'pre': {
      const code = codeBlock(el, reader)
      return code ? [code] : []
    }
    case 'table': {
      const text = table(el, reader, depth)
      return text ? [text] : []
    }
    case 'ul':
    case 'ol':
    case 'menu':
      return list(el, reader, depth)
    case 'blockquote': {
      const inner = blocks(children(el), reader, depth).join('\n\n')
      return inner ? [inner.replace(/^(?=.)/gm, '> ').replace(/^$/gm, '>')] : []
    }
    case 'dt': {
      const text = fold(inline(children(el), reader, depth, { bold: true }), ' ')
      return text ? [`**${text}**`] : []
    }
    default:
      return blocks(children(el), reader, depth)
  }
}

/** Two lists in a row would be read as one, were it not for another mark. */
const separated = (all: string[]) =>
  all.map((text, i) => i && text.startsWith('- ') && all[i - 1]!.startsWith('- ') ? text.replace(/^- /gm, '* ') : text)

function list(el: Element, reader: Reader, depth: number): string[] {
  const ordered = tagOf(el) === 'ol'
  let number = ordered ? Math.max(0, Math.min(999_999_999, (el as HTMLOListElement).start)) : 0
  const items: string[] = []
  let loose = false
  for (const child of children(el)) {
    if (!(child instanceof Element) || !reader.enter(child, depth)) continue
    // A list right in a list belongs to the item before it.
    const nested = /^(?:ul|ol|menu)$/.test(tagOf(child))
    const parts = nested ? list(child, reader, depth + 1) : blocks(children(child), reader, depth + 1)
    if (nested && items.length) {
      items.push(items.pop() + '\n' + parts.join('\n').replace(/^(?=.)/gm, '  '.padEnd(ordered ? 3 : 2)))
      continue
    }
    const value = child.getAttribute('value')
    if (ordered && value && /^\d{1,9}$/.test(value)) number = Number(value)
    const mark = ordered ? `${number++}. ` : '- '
    const separate = parts.length > 1 && !parts.slice(1).every((part) => /^(?:[-*] |\d+\. )/.test(part))
    loose ||= separate
    const text = parts.join(separate ? '\n\n' : '\n')
    items.push((mark + text.replace(/\n(?=.)/g, '\n' + ' '.repeat(mark.length))).trimEnd())
  }
  return items.length ? [items.join(loose ? '\n\n' : '\n')] : []
}
