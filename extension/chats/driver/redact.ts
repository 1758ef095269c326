import { spoken } from './text.ts'

const kept =
  /^(?:id|class|role|type|name|data-.{1,60}|aria-.{1,40}|contenteditable|disabled|hidden|fonticon|iconname|formcontrolname|alt|href|title|placeholder|tabindex)$/
const labels =
  /^(?:data-.*(?:title|name|label|text|content|value|prompt|query|message|math|tip|placeholder|url|href|src).*|aria-label|aria-description|aria-roledescription|aria-valuetext|aria-placeholder|title|placeholder|alt)$/

/** A word of a programmer, as in `send-button`; no token, no sentence, no name of a person or chat. */
const plain = /^[\w:-]{1,60}$/
const number = /^-?\d{1,4}(?:\.\d{1,3})?%?$/
const secret = /\d{5,}|\d[a-z]+\d|[a-z]{25,}|(?=\w*\d)(?=\w*[a-z])\w{16,}/i

const code = (value: string) => number.test(value) || (plain.test(value) && !secret.test(value))

/** ` id=… class=…`, with nothing in it that a person or a model wrote. */
export function attributes(el: Element, words: ReadonlySet<string>): string {
  let out = ''
  for (const { name, value } of [...el.attributes].slice(0, 40)) {
    if (!kept.test(name)) continue
    out += value === '' ? ` ${name}` : ` ${name}=${shown(name, value, words, el)}`
  }
  return out
}

function shown(name: string, value: string, words: ReadonlySet<string>, el: Element): string {
  if (name === 'href') return place(value, el.baseURI)
  if (name === 'class')
    return `"${
      value.slice(0, 400).split(/\s+/).filter((c) => /^[^\s"<>]{1,60}$/.test(c) && !secret.test(c)).join(' ')
    }"`
  // Icons are named like code, chats are not: a label is shown if a site's own word list has it.
  if (labels.test(name))
    return words.has(spoken(value)) || (name === 'alt' && /^[a-z]{2,8}(?:_[a-z]{2,8})?$/.test(value))
      ? JSON.stringify(value)
      : `(${value.length} characters)`
  return code(value) ? value : `(${value.length} characters)`
}

/** Origin and path, without what is in its ids and its query. */
export function place(href: string, base: string): string {
  try {
    const url = new URL(href, base)
    if (!/^https?:$/.test(url.protocol)) return url.protocol
    return url.origin +
      url.pathname.split('/').map((part) => part === '' || /^[a-z][a-z_]{0,15}$/.test(part) ? part : '…').join('/')
  } catch {
    return '(no address)'
  }
}
