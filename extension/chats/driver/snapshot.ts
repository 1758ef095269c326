import type { Snapshot } from '../drivermessages.ts'
import type { SiteSpec } from '../sites/site.ts'
import { children } from './markdown/reader.ts'
import { health } from './page.ts'
import { ShadowDom } from './shadow.ts'
import { spoken } from './text.ts'

const maxLength = 200 << 10
const maxDepth = 100

/** Returns the page's elements without the texts that people wrote. It shows why a site's layouts no longer match. */
export function snapshot(document: Document, spec: SiteSpec): Snapshot {
  const dom = new ShadowDom(document)
  dom.learn(document)
  const written = spec.layouts.flatMap(({ input, userText, answerText }) => [...input, ...userText, ...answerText])
  const closed = new Set(written.flatMap((selector) => dom.all(selector)))
  const words = new Set(
    spec.layouts.flatMap((l) =>
      [l.send, l.stop, l.thinking, l.skip].flatMap((matcher) => matcher?.words ?? []).concat(l.endWords ?? [])
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
      const inside = shut ? ` (${child.querySelectorAll('*').length} elements)` : ''
      const line = ' '.repeat(depth) + child.localName + attributes(child, words) +
        (child.shadowRoot ? ' #shadow' : '') + inside
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
    url: redactedAddress(document.location.href, document.baseURI),
    title: title === spec.label ? title : redactedText(title),
    health: health(dom, spec),
    dom: lines.join('\n'),
    truncated,
  }
}

const kept = new RegExp(
  '^(?:id|class|role|type|name|data-.{1,60}|aria-.{1,40}|contenteditable|disabled|hidden|fonticon|iconname|' +
    'formcontrolname|alt|href|title|placeholder|tabindex)$',
)
/** Attributes whose values people or models may have written. */
const labels = new RegExp(
  '^(?:data-.*(?:title|name|label|text|content|value|prompt|query|message|math|tip|placeholder|url|href|src).*|' +
    'aria-label|aria-description|aria-roledescription|aria-valuetext|aria-placeholder|title|placeholder|alt)$',
)

/** A programmer's word, as in `send-button`. Tokens, sentences and names of people or chats do not match. */
const plain = /^[\w:-]{1,60}$/
const number = /^-?\d{1,4}(?:\.\d{1,3})?%?$/
const secret = /\d{5,}|\d[a-z]+\d|[a-z]{25,}|(?=\w*\d)(?=\w*[a-z])\w{16,}/i

export const redactedText = (text: string) => text === '' ? '' : `(${text.length} characters)`

/** Returns ` id=… class=…` with nothing that a person or a model wrote. */
function attributes(el: Element, words: ReadonlySet<string>): string {
  return [...el.attributes].slice(0, 40).filter(({ name }) => kept.test(name))
    .map(({ name, value }) => value === '' ? ` ${name}` : ` ${name}=${shown(name, value, words, el)}`).join('')
}

function shown(name: string, value: string, words: ReadonlySet<string>, el: Element): string {
  if (name === 'href') return redactedAddress(value, el.baseURI)
  if (name === 'class') {
    const classes = value.slice(0, 400).split(/\s+/).filter((c) => /^[^\s"<>]{1,60}$/.test(c) && !secret.test(c))
    return `"${classes.join(' ')}"`
  }
  // Icons have names like code. Any other label is shown only if it is in the site's word lists.
  if (labels.test(name)) {
    const icon = name === 'alt' && /^[a-z]{2,8}(?:_[a-z]{2,8})?$/.test(value)
    return icon || words.has(spoken(value)) ? JSON.stringify(value) : redactedText(value)
  }
  return number.test(value) || (plain.test(value) && !secret.test(value)) ? value : redactedText(value)
}

/** Returns an address's origin and path, without ids and query. */
export function redactedAddress(href: string, base: string): string {
  if (!URL.canParse(href, base)) return '(no address)'
  const { protocol, origin, pathname } = new URL(href, base)
  if (!/^https?:$/.test(protocol)) return protocol
  return origin +
    pathname.split('/').map((part) => part === '' || /^[a-z][a-z_]{0,15}$/.test(part) ? part : '…').join('/')
}
