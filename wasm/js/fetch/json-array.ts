// Parses the elements of a large list of tools one by one, as their bytes arrive.

import { type ElementTaker, JsonFilter } from './json-filter.ts'
import type { ToolsReader } from './tools.ts'

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
      else this.tools!.add(tool, text.length, this.tools!.factsOf(text), text)
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
