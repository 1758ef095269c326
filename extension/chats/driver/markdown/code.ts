import { fence } from './escape.ts'
import { children, type Reader } from './tree.ts'

/** A `pre` as a fenced block. Where it has a `code`, what stands beside that is a toolbar. */
export function codeBlock(pre: Element, reader: Reader): string {
  const codes = [...pre.querySelectorAll('code')].filter((code) => !code.parentElement!.closest('code'))
  const text = reader.take((codes.length ? codes : [pre]).map((el) => plain(el, reader)).join('\n').replace(/\n+$/, ''))
  if (!text.trim()) return ''
  const ticks = fence(text, 3)
  return `${ticks}${language([...codes, pre])}\n${text}\n${ticks}`
}

function language(els: Element[]): string {
  for (const el of els) {
    const name =
      /(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]{1,30})/.exec(el.getAttribute('class') ?? '')?.[1] ??
        el.getAttribute('data-language') ?? el.getAttribute('data-lang')
    if (name && /^[\w+#.-]{1,30}$/.test(name) && !/^(?:none|plaintext|text|undefined)$/i.test(name))
      return name.toLowerCase()
  }
  return ''
}

/** Text with its lines. Lines are text here, elements of their own in some highlighters. */
function plain(el: Element, reader: Reader): string {
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
