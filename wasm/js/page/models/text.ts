// A tool's result as one text for a model. registry/resulttext has the same rules and explains them. The rows of
// testdata/results hold both to one output.

import { memberText, skipString } from '../../shared/json.ts'

/** The text of a result without any. */
export const noOutput = '(no output)'

/** A content block of any shape. */
export interface Block {
  type?: unknown
  text?: unknown
  data?: unknown
  mimeType?: unknown
  uri?: unknown
  name?: unknown
  blob?: unknown
  resource?: unknown
  annotations?: unknown
}

/** The text of a CallToolResult. `raw` of its source is the result's JSON text, for when parsing has lost digits. */
export function textOf(result: unknown, source?: { readonly raw?: string | undefined }): string {
  const r = read(result) as { content?: unknown; structuredContent?: unknown; isError?: unknown }
  let hasText = false
  const parts: string[] = []
  for (const block of Array.isArray(r.content) ? r.content : []) {
    const [part, isText] = blockText(read(block))
    if (!part) continue
    parts.push(part)
    hasText ||= isText
  }
  let text = parts.join('\n')
  if (!hasText && r.structuredContent != null) text = compact(r.structuredContent, source?.raw)
  text = sound(text) || noOutput
  return r.isError === true && !/^error/i.test(text) ? 'Error: ' + text : text
}

/** The text with replacement characters for halves of characters. */
export const sound = (text: string) => text.replace(/\p{Surrogate}/gu, '\ufffd')

const read = (v: unknown): Block => Object(v)
const str = (v: unknown) => (typeof v === 'string' ? v : '')

/** The text of a block, or the marker for what is no text. */
export function blockText(b: Block): [text: string, isText: boolean] {
  const type = str(b.type)
  if (isForUser(b)) return ['', false]
  switch (type) {
    case '':
      return ['', false]
    case 'text':
      return [str(b.text), true]
    case 'image':
    case 'audio':
      return [marker(type, str(b.mimeType), base64Size(str(b.data))), false]
    case 'resource_link':
      return [`[resource: ${str(b.name)} <${str(b.uri)}>]`, false]
    case 'resource': {
      const r = read(b.resource)
      return str(r.text)
        ? [str(r.text), true]
        : [marker(type, str(r.uri), str(r.mimeType), base64Size(str(r.blob))), false]
    }
  }
  return [`[${type}]`, false]
}

/** The block is for the user alone. */
export function isForUser({ annotations }: Block): boolean {
  const audience: unknown = (read(annotations) as { audience?: unknown }).audience
  return Array.isArray(audience) && audience.length > 0 && audience.every((role) => role === 'user')
}

/** The text in place of other content: [image: image/png, 12.3 KB]. */
function marker(kind: string, ...about: string[]): string {
  const known = about.filter(Boolean)
  return known.length ? `[${kind}: ${known.join(', ')}]` : `[${kind}]`
}

function base64Size(data: string): string {
  if (!data) return ''
  let end = data.length
  while (data[end - 1] === '=') end--
  const n = Math.floor((end * 3) / 4)
  const tenths = (unit: number) => (Math.floor((n * 10 + unit / 2) / unit) / 10).toFixed(1)
  if (n < 1024) return n + ' B'
  return n < 1024 ** 2 ? tenths(1024) + ' KB' : tenths(1024 ** 2) + ' MB'
}

/** JSON without white space. It is made from the source text, if given, so that numbers keep their digits. */
function compact(value: unknown, raw?: string): string {
  const source = raw && memberText(raw, 'structuredContent')
  const text = source ? withoutSpace(source) : JSON.stringify(value)
  // JSON.stringify escapes half a character.
  return text.includes('\\ud') ? text.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd') : text
}

/** A JSON text without white space. A regular expression over whole strings overflows the stack at a long one. */
function withoutSpace(source: string): string {
  let text = ''
  for (let at = 0; at < source.length;) {
    const quote = (source.indexOf('"', at) + 1 || source.length + 1) - 1
    text += source.slice(at, quote).replace(/\s+/g, '')
    at = skipString(source, quote)
    if (quote < at) text += JSON.stringify(JSON.parse(source.slice(quote, at)))
  }
  return text
}

/**
 * Shortens a text to maxBytes of UTF-8. The beginning and the end stay. Between them stand the missing size and the
 * handle of the whole. No character is divided.
 */
export function cut(text: string, maxBytes: number, keep?: () => string): { text: string; truncated: boolean } {
  if (!maxBytes || text.length * 3 <= maxBytes) return { text, truncated: false }
  // Only the two ends of a long text are encoded. No end has more characters than bytes.
  const encode = (part: string) => new TextEncoder().encode(part)
  if (text.length <= maxBytes && encode(text).length <= maxBytes) return { text, truncated: false }
  const decode = (b: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(b)
  const start = (bytes: Uint8Array, at: number, step: number) => {
    while (at > 0 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at += step
    return at
  }
  const first = (n: number) => {
    const bytes = encode(text.slice(0, n))
    return decode(bytes.subarray(0, start(bytes, n, -1)))
  }
  const last = (n: number) => {
    const bytes = encode(n ? text.slice(-n) : '')
    return decode(bytes.subarray(start(bytes, bytes.length - n, 1)))
  }
  const most = String(text.length)
  const handle = keep?.()
  const marker = (missing: string, offset: string) =>
    `\n[cut: ${missing} characters missing${handle ? `; handle ${handle}, offset ${offset}` : ''}]\n`
  const room = maxBytes - marker(most, most).length
  if (room < 0) return { text: first(maxBytes), truncated: true }
  const head = first(Math.ceil((room * 2) / 3)), tail = last(Math.floor(room / 3))
  return {
    text: head + marker(String(text.length - head.length - tail.length), String(head.length)) + tail,
    truncated: true,
  }
}
