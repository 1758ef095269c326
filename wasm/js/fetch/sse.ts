// Splits the bytes of a response into server-sent events (HTML standard, section 9.2.6). Each chunk is decoded as a
// whole, because a call of the decoder costs more than an event and leaves garbage that Chromium collects late.

import { copied } from '../shared/copied.ts'

const COLON = 58, SPACE = 32

/** The longest event id that is sent back, in characters. A part of an id would resume at another place. */
const longestId = 4096

/** Parts of a line that are shorter are joined before they are kept, in characters. */
const shortPart = 4096

/** Splits one response into events. After its limit it takes no more bytes. */
export class SseScanner {
  /** The last event id of a complete event. */
  lastId = ''
  /** The last retry field, in milliseconds; -1 if there was none. */
  retry = -1
  /** Set it to ignore the rest of this chunk and all later ones. */
  stopped = false

  readonly #maxBytes: number
  readonly #onEvent: (event: string, data: string) => void
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #tail = '' // the start of an unfinished line
  #short = '' // the text after #tail, until it is long
  #tailBytes = 0
  #data: string[] = []
  #copied = 0 // lines in #data that are copies
  #bytes = 0 // kept in #tail and #data
  #event = ''
  #id: string | undefined
  #skipLf = false // the last chunk ended with CR
  #first = true

  /** `maxBytes` bounds one event. `onEvent` gets the event's name, or '', and its data. */
  constructor(maxBytes: number, onEvent: (event: string, data: string) => void) {
    this.#maxBytes = maxBytes
    this.#onEvent = onEvent
  }

  /** Takes the next bytes. They may change after the call. False once an event is over its limit. */
  push(chunk: Uint8Array): boolean {
    if (this.stopped) return this.#bytes <= this.#maxBytes
    const text = this.#decoder.decode(chunk, { stream: true })
    const sizeOf = text.length === chunk.length ? lengthOf : bytesOf
    const end = text.length
    let from = 0
    if (this.#first && end > 0) {
      this.#first = false
      if (text[0] === '\ufeff') from = 1
    }
    if (this.#skipLf && end > 0) {
      this.#skipLf = false
      if (text[0] === '\n') from = 1
    }
    let lf = text.indexOf('\n', from)
    let cr = text.indexOf('\r', from)
    while (from < end && !this.stopped) {
      const to = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf
      if (to < 0) {
        const rest = text.slice(from), size = sizeOf(rest)
        this.#keep(rest)
        this.#tailBytes += size
        this.#bytes += size
        break
      }
      if (this.#tailBytes === 0) this.#line(text, from, to, sizeOf)
      else this.#ended(text.slice(from, to))
      if (this.#bytes > this.#maxBytes) break
      from = to + 1
      if (to === cr) {
        if (from === end) this.#skipLf = true
        else if (text[from] === '\n') from++
      }
      if (lf >= 0 && lf < from) lf = text.indexOf('\n', from)
      if (cr >= 0 && cr < from) cr = text.indexOf('\r', from)
    }
    // The lines of an unfinished event do not keep the whole chunk in memory.
    for (; this.#copied < this.#data.length; this.#copied++)
      this.#data[this.#copied] = copied(this.#data[this.#copied]!)
    if (this.#bytes <= this.#maxBytes) return true
    this.stopped = true
    this.#tail = this.#short = ''
    this.#data = []
    return false
  }

  /**
   * Ends the stream. An event without its final blank line is delivered, because some servers omit it; JSON shows
   * whether the event is complete. Its id does not count, so that resuming does not skip it.
   */
  end(): void {
    if (this.stopped) return
    const rest = this.#decoder.decode()
    if (this.#tailBytes > 0 || rest !== '') this.#ended(rest)
    this.#id = undefined
    this.#dispatch()
  }

  /** Keeps a part of the unfinished line. */
  #keep(part: string): void {
    this.#short += part
    if (this.#short.length < shortPart) return
    this.#tail += part.length < shortPart ? copied(this.#short) : this.#short
    this.#short = ''
  }

  /** Ends the unfinished line with `rest`. */
  #ended(rest: string): void {
    const line = this.#tail + this.#short + rest
    this.#bytes -= this.#tailBytes
    this.#tail = this.#short = ''
    this.#tailBytes = 0
    this.#line(line, 0, line.length, bytesOf)
  }

  #line(text: string, from: number, to: number, sizeOf: (text: string) => number): void {
    if (from === to) return this.#dispatch()
    let at = valueAt(text, from, to, 'data')
    if (at >= 0) {
      const value = text.slice(at, to)
      this.#data.push(value)
      this.#bytes += sizeOf(value) + 1
    } else if ((at = valueAt(text, from, to, 'event')) >= 0) {
      this.#event = text.slice(at, Math.min(to, at + 64))
    } else if ((at = valueAt(text, from, to, 'id')) >= 0) {
      const id = to - at > longestId ? '' : text.slice(at, to)
      if (!id.includes('\0')) this.#id = id
    } else if ((at = valueAt(text, from, to, 'retry')) >= 0) {
      const digits = text.slice(at, Math.min(to, at + 16))
      if (/^\d+$/.test(digits)) this.retry = Number(digits)
    }
  }

  #dispatch(): void {
    const data = this.#data, event = this.#event
    if (this.#id !== undefined) this.lastId = this.#id
    this.#id = undefined
    this.#event = ''
    if (data.length === 0) return
    this.#data = []
    this.#copied = this.#bytes = 0
    if (event !== '' && event !== 'message' && event !== 'endpoint') return
    const text = data.length === 1 ? data[0]! : data.join('\n')
    if (text !== '') this.#onEvent(event, text)
  }
}

/** The start of the value if the line's field is `name`, else -1. */
function valueAt(text: string, from: number, to: number, name: string): number {
  const at = from + name.length
  if (at > to || !text.startsWith(name, from)) return -1
  if (at === to) return to
  if (text.charCodeAt(at) !== COLON) return -1
  return at + 1 < to && text.charCodeAt(at + 1) === SPACE ? at + 2 : at + 1
}

/** The UTF-8 length of a text, in bytes. */
function lengthOf(text: string): number {
  return text.length
}

function bytesOf(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c > 0x7f) bytes += c > 0x7ff && (c & 0xf800) !== 0xd800 ? 2 : 1 // a half of a pair is two of four
  }
  return bytes
}
