// Parses a list of tools as it arrives: in runs of many tools, or one by one.

import { type ElementTaker, JsonFilter } from './json-filter.ts'
import { RUN_CHARS, type ToolsReader } from './tools.ts'

/** The start of a response up to its list of tools, if all values before that are texts, numbers or words. */
const HEAD =
  /^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)*"result"\s*:\s*\{\s*(?:"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[\w.+-]+)\s*,\s*)*"tools"\s*:\s*\[/

/** The start of a tool, and what stands before the name of its first member. */
const FIRST_KEY = /^\s*\{\s*("[^"\\]{1,100}")/, BEFORE_KEY = /\}\s*(,\s*\{\s*)$/

/** The most places that are looked at for the end of a run, and of the list. The space between tools. */
const CUTS = 1000, ENDS = 4, SPACE = 100

/**
 * Reads a list of tools in runs, which costs less than tool by tool. A run ends before a tool that begins with the same
 * member as the first. JSON.parse proves that: at a comma of a deeper list, neither side would be a list of values.
 */
export class Runs {
  /** The list cannot be read in runs. */
  broken = false
  readonly tools: ToolsReader

  readonly #most: number
  #head = ''
  /** The text after the head and the runs so far. */
  #text = ''
  #key: string | undefined

  /** `most` is the length of a run, in characters. */
  constructor(tools: ToolsReader, most = RUN_CHARS) {
    this.tools = tools
    this.#most = most
  }

  push(text: string): void {
    this.#text += text
    while (!this.broken && this.#text.length > this.#most) {
      const to = this.#begin() ? this.#cut() : -1
      this.broken = to < 0 || !this.#add(to)
      this.#text = this.#text.slice(to + 1)
    }
  }

  /** Adds the last run. Returns the message without its tools. Undefined if the text is not whole, or not in runs. */
  end(): unknown {
    if (this.broken || !this.#begin()) return undefined
    for (let at = this.#text.length, i = 0; i < ENDS && (at = this.#text.lastIndexOf(']', at - 1)) >= 0; i++) {
      try {
        const rest = JSON.parse(this.#head + this.#text.slice(at)) as unknown
        if (this.#add(at)) return rest
      } catch {
        // The bracket is that of another list.
      }
    }
    return undefined
  }

  /** Adds the text up to `to` as a run. False if it is none. */
  #add(to: number): boolean {
    try {
      this.tools.addRun(this.#text.slice(0, to))
      return true
    } catch {
      return false
    }
  }

  #begin(): boolean {
    if (this.#head) return true
    this.#head = HEAD.exec(this.#text)?.[0] ?? ''
    this.#text = this.#text.slice(this.#head.length)
    this.#key = FIRST_KEY.exec(this.#text)?.[1]
    return this.#head !== ''
  }

  /** The place of the last comma between tools in the next run. -1 without one. */
  #cut(): number {
    const text = this.#text, key = this.#key
    if (!key) return -1
    for (let at = this.#most, i = 0; i < CUTS && (at = text.lastIndexOf(key, at - 1)) > 0; i++) {
      const before = BEFORE_KEY.exec(text.slice(Math.max(at - SPACE, 0), at))
      if (before) return at - before[1]!.length
    }
    return -1
  }
}

const decoder = new TextDecoder()

/** The most bytes for one UTF-16 unit of a definition: an escape. */
const ESCAPED = 6

export class Elements implements ElementTaker {
  /** The list is not JSON. */
  broken = false
  /** The elements of the list. Undefined before the list begins. */
  tools: ToolsReader | undefined

  readonly #begin: () => ToolsReader
  #count = 0
  #blank = 0
  /** The bytes of an unfinished element. Of an element over the limit only the start and the name. */
  #parts: Uint8Array[] = []
  #size = 0
  #kept = 0
  #outline: JsonFilter | undefined

  constructor(begin: () => ToolsReader) {
    this.#begin = begin
  }

  begin(): void {
    this.tools = this.#begin()
    this.#count = this.#blank = 0
  }

  take(bytes: Uint8Array, whole: boolean): void {
    const tools = this.tools!
    if (tools.full || this.broken) return
    const most = tools.largest * ESCAPED
    if (whole && this.#size === 0 && bytes.length <= most) return this.#parse(bytes, false)
    this.#size += bytes.length
    if (this.#size <= most) this.#parts.push(bytes.slice())
    else this.#sift(bytes, most)
    if (!whole) return
    const large = this.#outline !== undefined
    const text = join(this.#parts)
    this.#parts = []
    this.#size = this.#kept = 0
    this.#outline = undefined
    this.#parse(text, large)
  }

  end(): void {
    if (this.#blank > 0 && this.#count > 1) this.broken = true
  }

  // The element is over the limit. Its name stays, to report the drop.
  #sift(bytes: Uint8Array, most: number): void {
    const parts = this.#outline ? [bytes] : [...this.#parts.splice(0), bytes]
    this.#outline ??= new JsonFilter({ depth: 1, string: most })
    for (const part of parts) {
      for (const kept of this.#outline.push(part)) {
        this.#kept += kept.length
        if (this.#kept <= 2 * most) this.#parts.push(kept.slice())
      }
    }
  }

  #parse(bytes: Uint8Array, large: boolean): void {
    this.#count++
    const text = decoder.decode(bytes)
    if (text.trim() === '') {
      this.#blank++
      return
    }
    try {
      const tool = JSON.parse(text) as unknown
      if (large) this.tools!.dropLarge(tool)
      else this.tools!.add(tool, text)
    } catch {
      if (large) this.tools!.dropLarge()
      else this.broken = true
    }
  }
}

export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  if (parts.length === 1) return parts[0]! as Uint8Array<ArrayBuffer> // bodies are never shared
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
