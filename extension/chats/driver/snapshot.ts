import type { SiteProfile } from '../profile.ts'
import type { Snapshot } from '../wire.ts'
import { Deep } from './deep.ts'
import { health } from './layout.ts'
import { children } from './markdown/tree.ts'
import { attributes, place } from './redact.ts'

const maxLength = 200 << 10
const maxDepth = 100

/** The page's elements without what people wrote: to see why a profile no longer fits. */
export function snapshot(document: Document, profile: SiteProfile): Snapshot {
  const deep = new Deep(document)
  deep.learn(document)
  const written = profile.layouts.flatMap(({ input, userText, answerText }) => [...input, ...userText, ...answerText])
  const closed = new Set(written.flatMap((selector) => deep.all(selector)))
  const words = new Set(
    profile.layouts.flatMap((l) =>
      [l.send, l.stop, l.thinking, l.skip].flatMap((mark) => mark?.words ?? []).concat(l.endWords ?? [])
    ),
  )
  const lines: string[] = []
  let length = 0
  let truncated = false
  const walk = (node: Node, depth: number): void => {
    for (const child of children(node)) {
      if (!(child instanceof Element) || /^(?:script|style|template|noscript|link|meta|path)$/.test(child.localName))
        continue
      const shut = closed.has(child)
      const line = `${' '.repeat(depth)}${child.localName}${attributes(child, words)}${
        child.shadowRoot ? ' #shadow' : ''
      }${shut ? ` (${child.querySelectorAll('*').length} elements)` : ''}`
      length += line.length + 1
      if (length > maxLength || depth > maxDepth) {
        truncated = true
        return
      }
      lines.push(line)
      if (!shut && child.localName !== 'svg') walk(child, depth + 1)
    }
  }
  walk(document.body ?? document, 0)
  const { title } = document
  return {
    url: place(document.location.href, document.baseURI),
    title: title === profile.label || title === '' ? title : `(${title.length} characters)`,
    health: health(deep, profile),
    dom: lines.join('\n'),
    truncated,
  }
}
