// Filters a large JSON text before it is parsed. Values over a bound are left out as the bytes arrive, so that they are
// never held. A list of tools is split into its elements.

export interface JsonFilterBounds {
  /** The nesting. Deeper arrays and objects become empty. */
  depth: number
  /** The length of a string, in bytes. The rest is left out. */
  string?: number
  /** Takes the elements of result.tools, which becomes empty. */
  list?: ElementTaker
}

/** Takes the bytes of a list. */
export interface ElementTaker {
  /** A list begins. The last one in an object counts. */
  begin(): void
  /** The next bytes of an element, valid until the next call. `whole`: the element ends with them. */
  take(bytes: Uint8Array, whole: boolean): void
  /** The list ends with this element. In an empty list the element has spaces only. */
  end(): void
}

const QUOTE = 34, COMMA = 44, COLON = 58, OPEN_LIST = 91, BACKSLASH = 92, CLOSE_LIST = 93, OPEN = 123, CLOSE = 125

/** The depth of the elements of an array in a message's result. */
const LISTED = 3

/** The longest error message, in bytes. It is longer than any that is shown, because Go redacts before it cuts. */
const ERROR_BYTES = 64 << 10

/** The longest member name that is compared. */
const WORD_BYTES = 64

const decoder = new TextDecoder()

/** Filters one JSON text. It tracks brackets and strings only. JSON.parse checks the rest. */
export class JsonFilter {
  /** The deepest nesting so far. */
  deepest = 0
  /** The rough number of elements and members, without those of the split list. */
  values = 0

  readonly #bounds: JsonFilterBounds
  #depth = 0
  #inString = false
  #escaped = false
  #length = 0 // of the string at the end of the last chunk
  #cut = false // that string is over its limit
  #skips = 0 // values are left out until this depth closes
  #listing = false
  readonly #word = new Uint8Array(WORD_BYTES) // the last string that may be a member name
  #letters = 0
  readonly #path = ['', ''] // the member names above the current value, of a message and of its result

  constructor(bounds: JsonFilterBounds) {
    this.#bounds = bounds
  }

  /** All brackets and strings are closed. */
  get whole(): boolean {
    return this.#depth === 0 && !this.#inString && this.deepest > 0
  }

  /** The kept parts of the next bytes. */
  push(chunk: Uint8Array): Uint8Array[] {
    const kept: Uint8Array[] = []
    const end = chunk.length, most = this.#bounds.depth, list = this.#bounds.list
    // Locals are faster in the loop over bytes.
    let depth = this.#depth, deepest = this.deepest, values = this.values, skips = this.#skips, listing = this.#listing
    let from = skips || listing || this.#cut ? -1 : 0, element = 0, at = 0
    if (this.#inString) {
      if (from === 0 && this.#length > this.#most(depth)) {
        const to = safeCut(chunk, this.#escaped)
        if (to >= 0) {
          kept.push(chunk.subarray(0, to))
          this.#cut = true
          from = -1
        }
      }
      at = depth < LISTED ? this.#name(chunk, 0) : this.#string(chunk, 0)
      if (at < end && this.#cut) {
        this.#cut = false
        from = at
      }
      at++
    }
    for (; at < end; at++) {
      const c = chunk[at]!
      if (c === QUOTE) {
        if (depth < LISTED) {
          this.#letters = 0
          at = this.#name(chunk, at + 1)
        } else at = this.#string(chunk, at + 1)
      } else if (c === OPEN || c === OPEN_LIST) {
        if (++depth > deepest) deepest = depth
        if (listing) continue
        values++
        if (skips) continue
        if (depth === LISTED && c === OPEN_LIST && list && this.#path[0] === 'result' && this.#path[1] === 'tools') {
          kept.push(chunk.subarray(from, at + 1))
          from = -1
          element = at + 1
          listing = true
          list.begin()
        } else if (depth > most) {
          kept.push(chunk.subarray(from, at + 1))
          from = -1
          skips = depth
        }
      } else if (c === CLOSE || c === CLOSE_LIST) {
        if (listing) {
          if (depth === LISTED) {
            list!.take(chunk.subarray(element, at), true)
            list!.end()
            listing = false
            from = at
          }
        } else if (skips === depth) {
          skips = 0
          from = at
        }
        depth--
      } else if (c === COMMA) {
        if (!listing) values++
        else if (depth === LISTED) {
          list!.take(chunk.subarray(element, at), true)
          element = at + 1
        }
      } else if (c === COLON && depth < LISTED && depth > 0) {
        this.#path[depth - 1] = this.#wordText()
        if (depth === 1) this.#path[1] = ''
      }
    }
    if (listing && element < end) list!.take(chunk.subarray(element), false)
    this.#depth = depth
    this.deepest = deepest
    this.values = values
    this.#skips = skips
    this.#listing = listing
    if (from === 0) return [chunk]
    if (from > 0) kept.push(chunk.subarray(from))
    return kept
  }

  #most(depth: number): number {
    if (depth > 0 && this.#path[0] === 'error') return ERROR_BYTES
    return this.#bounds.string ?? Infinity
  }

  #wordText(): string {
    const text = decoder.decode(this.#word.subarray(0, Math.min(this.#letters, WORD_BYTES)))
    if (this.#letters > WORD_BYTES || !text.includes('\\')) return text
    try {
      return JSON.parse(`"${text}"`) as string
    } catch {
      return text
    }
  }

  /** Skips a string that may be a member name and stores it. */
  #name(chunk: Uint8Array, from: number): number {
    const at = this.#string(chunk, from)
    for (let i = from; i < at && i < chunk.length && this.#letters <= WORD_BYTES; i++)
      this.#word[this.#letters++] = chunk[i]!
    return at
  }

  /** Skips a string after its opening quote. Returns its end, or at least the end of the chunk. */
  #string(chunk: Uint8Array, from: number): number {
    const end = chunk.length, start = this.#escaped ? from + 1 : from
    for (let at = start;; at++) {
      const quote = chunk.indexOf(QUOTE, at) // native
      at = quote < 0 ? end : quote
      let slash = at
      while (slash > start && chunk[slash - 1] === BACKSLASH) slash--
      const escaped = (at - slash) % 2 === 1
      if (quote >= 0 && escaped) continue
      this.#inString = quote < 0
      this.#escaped = quote < 0 && (escaped || start > end)
      this.#length = quote < 0 ? this.#length + end - from : 0
      return at
    }
  }
}

/**
 * The first place where the string can be cut for sure: not within a character or an escape. -1: it ends before, or in
 * a later chunk.
 */
function safeCut(chunk: Uint8Array, escaped: boolean): number {
  const ESCAPE = 6 // \u0000
  for (let at = escaped ? 1 : 0, after = 0; at < chunk.length; at++, after++) {
    const c = chunk[at]!
    if (c === QUOTE) return -1
    const begins = (c & 0xc0) !== 0x80
    if (begins && (c === BACKSLASH || after >= ESCAPE)) return at
  }
  return -1
}
