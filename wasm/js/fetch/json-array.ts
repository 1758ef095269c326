// The elements of a large list of tools, each parsed once its bytes are here.

import { type ElementTaker, JsonFilter } from './json-filter.ts'
import type { ToolsReader } from './tools.ts'

const decoder = new TextDecoder()

/** Bytes of a definition's text for each of its size: a UTF-16 unit may be written as an escape. */
const ESCAPED = 6

export class Elements implements ElementTaker {
  /** The list is not JSON. */
  broken = false
  /** What was in the list, undefined until one has begun. */
  tools: ToolsReader | undefined

  readonly #begin: () => ToolsReader
  #count = 0
  #blank = 0
  /** Of an element whose end has not come; of one that is too large only the start, and what it is called. */
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

  // Too large to be offered: the name and whatever else is short stays, for saying what was dropped.
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
      else this.tools!.add(tool, text.length, text.includes('"x-mcp-header"'), text)
    } catch {
      if (large) this.tools!.dropLarge()
      else this.broken = true
    }
  }
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
