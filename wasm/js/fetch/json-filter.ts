// What becomes of a large JSON text before it is parsed: what no bound would let
// pass is left out as the bytes come, so that neither it nor its values are ever held,
// and a list of tools is taken apart into its elements.

export interface JsonFilterBounds {
  /** Arrays and objects that lie deeper are empty. */
  depth: number
  /** Of a string, in bytes: what comes much later in it is left out. */
  string?: number
  /** Takes the elements of result.tools, which is empty in what stays. */
  list?: ElementTaker
}

/** Takes a list apart. */
export interface ElementTaker {
  /** A list begins; of several in one object the last counts. */
  begin(): void
  /** Its next bytes, until the next call: a part of an element, with its last if it is `whole`. */
  take(bytes: Uint8Array, whole: boolean): void
  /** It ends with this element, which is of spaces if the list is empty. */
  end(): void
}

const QUOTE = 34, COMMA = 44, COLON = 58, OPEN_LIST = 91, BACKSLASH = 92, CLOSE_LIST = 93, OPEN = 123, CLOSE = 125

/** The level of what is in an array that is a member of a message's result. */
const LISTED = 3

/** Of the message of an error, in bytes: more than anybody is shown, for Go takes secrets out before it cuts. */
const ERROR_BYTES = 64 << 10

/** The longest name of a member that is told from others. */
const WORD_BYTES = 64

const decoder = new TextDecoder()

/** Goes over one JSON text. It knows brackets and strings; whether the rest is JSON is for JSON.parse. */
export class JsonFilter {
  /** How many arrays and objects lie in each other at most. */
  deepest = 0
  /** Elements and members, about, of what is not a list that is taken apart. */
  values = 0

  readonly #bounds: JsonFilterBounds
  #depth = 0
  #inString = false
  #escaped = false
  #length = 0 // of the string that a chunk ended in
  #cut = false // the rest of that string is left out
  #skips = 0 // until what is open at this depth closes
  #listing = false
  readonly #word = new Uint8Array(WORD_BYTES) // the last string that is a name, or stands where one may
  #letters = 0
  readonly #path = ['', ''] // the names of the members that lie above, of a message and of its result

  constructor(bounds: JsonFilterBounds) {
    this.#bounds = bounds
  }

  /** Every bracket and string that was opened is closed. */
  get whole(): boolean {
    return this.#depth === 0 && !this.#inString && this.deepest > 0
  }

  /** What stays of the next bytes: they themselves, or parts of them. */
  push(chunk: Uint8Array): Uint8Array[] {
    const kept: Uint8Array[] = []
    const end = chunk.length, most = this.#bounds.depth, list = this.#bounds.list
    let depth = this.#depth, deepest = this.deepest, values = this.values, skips = this.#skips, listing = this.#listing // what is looked at for each byte
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

  /** Passes over a string that may be a name, and remembers it. */
  #name(chunk: Uint8Array, from: number): number {
    const at = this.#string(chunk, from)
    for (let i = from; i < at && i < chunk.length && this.#letters <= WORD_BYTES; i++)
      this.#word[this.#letters++] = chunk[i]!
    return at
  }

  /** Passes over a string from behind its quote; the result is where it ends, or no less than the end of the chunk. */
  #string(chunk: Uint8Array, from: number): number {
    const end = chunk.length
    let at = from
    if (this.#escaped) at++
    for (; at < end; at++) {
      const c = chunk[at]!
      if (c === BACKSLASH) at++
      else if (c === QUOTE) {
        this.#inString = this.#escaped = false
        this.#length = 0
        return at
      }
    }
    this.#inString = true
    this.#escaped = at > end
    this.#length += end - from
    return at
  }
}

/** Where a string that goes on in the chunk can be cut so that it stays one: not within a character or an escape. */
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
