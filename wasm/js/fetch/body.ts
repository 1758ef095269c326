// Reads response bodies up to a limit.

import { Elements, join } from './json-array.ts'
import { type BodyReader, Gathered } from './buffers.ts'
import { JsonFilter } from './json-filter.ts'
import type { ToolsReader } from './tools.ts'
import { worked } from '../shared/yield.ts'

const decoder = new TextDecoder('utf-8')

/** Thrown if a body is over its limit. */
export class BodyTooLarge extends Error {}

/** Thrown if a body is not JSON. */
export class NotJson extends Error {}

/**
 * What was read: a JSON text and its value; or a value without its list of tools, which was read element by element;
 * or the bytes of a response for the page to parse. `outline` is that response without the content of its members, and
 * `deepest` its depth.
 */
export type Json = { text: string; value: unknown; raw?: Uint8Array<ArrayBuffer> } | {
  value: unknown
  tools: ToolsReader
  size: number
} | {
  message: Uint8Array
  outline: unknown
  deepest: number
}

/** The bounds of one JSON text. */
export interface JsonBounds {
  /** Its length, in bytes. */
  bytes: number
  /** The rough number of elements and members, without those of a list of tools. */
  values: number
  /** The nesting. Deeper values of a large text are left out. */
  depth: number
  /** The length of a string in a large text, in bytes. The rest is left out. */
  string: number
  /** Reads the list of tools in the result of a large text. */
  tools?: () => ToolsReader
  /** Whether a message with this outline is passed on as bytes. */
  passes(outline: unknown): boolean
}

/** Texts of this length are filtered as bytes before they are parsed. */
const LARGE_BYTES = 512 << 10

/** The longest outline. */
const OUTLINE_BYTES = 64 << 10

/** Collects one JSON text from chunks. */
class Gathering {
  readonly #bounds: JsonBounds
  readonly #most: number
  #size = 0
  /** The chunks of a text that is not large. */
  #parts: Uint8Array[] = []
  #sieve: JsonFilter | undefined
  #elements: Elements | undefined
  readonly #gathered = new Gathered()

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds
    this.#most = Math.min(LARGE_BYTES, bounds.values)
  }

  /** Takes the next chunk. Throws BodyTooLarge. */
  push(piece: Uint8Array): void {
    const { bytes, values } = this.#bounds
    this.#size += piece.length
    if (this.#size > bytes) throw new BodyTooLarge(`response over ${bytes} bytes`)
    if (this.#size <= this.#most) return void this.#parts.push(piece.slice())
    this.#sieve ??= this.#begin()
    for (const part of [...this.#parts.splice(0), piece])
      for (const kept of this.#sieve.push(part)) this.#gathered.add(kept)
    if (this.#sieve.values > values) throw new BodyTooLarge(`response of more than ${values} values`)
  }

  #begin(): JsonFilter {
    const { depth, string, tools } = this.#bounds
    if (tools) this.#elements = new Elements(tools)
    return new JsonFilter({ depth, string, ...(this.#elements && { list: this.#elements }) })
  }

  clear(): void {
    this.#gathered.clear()
  }

  /** The text so far. Undefined if it is not JSON. */
  json(): Json | undefined {
    if (this.#sieve && (!this.#sieve.whole || this.#elements?.broken)) return undefined
    const bytes = this.#sieve ? this.#gathered.take() : join(this.#parts)
    try {
      if (bytes.length > LARGE_BYTES) {
        const outline = outlineOf(bytes)
        if (this.#bounds.passes(outline)) return { message: bytes, outline, deepest: this.#sieve!.deepest }
      }
      const text = decoder.decode(bytes)
      const value = JSON.parse(text) as unknown
      return this.#elements?.tools
        ? { value, tools: this.#elements.tools, size: this.#size }
        : { text, value, raw: bytes }
    } catch {
      return undefined
    }
  }
}

/** The message without the content of its result or error. Undefined if it is long. */
function outlineOf(bytes: Uint8Array): unknown {
  const parts = new JsonFilter({ depth: 2 }).push(bytes)
  if (parts.reduce((size, part) => size + part.length, 0) > OUTLINE_BYTES) return undefined
  return JSON.parse(decoder.decode(join(parts)))
}

/** Parses the body of a response. Throws BodyTooLarge and NotJson. */
export async function readJson(
  { headers }: Response,
  reader: BodyReader | undefined,
  bounds: JsonBounds,
): Promise<Json> {
  const length = Number(headers.get('content-length') ?? -1)
  if (!reader) throw new NotJson()
  const gathering = new Gathering(bounds)
  try {
    if (length > bounds.bytes) throw new BodyTooLarge(`response over ${bounds.bytes} bytes`)
    for (let size = 0;;) {
      const piece = await reader.read()
      if (!piece) return gathering.json() ?? fail()
      size += piece.length
      const began = performance.now()
      gathering.push(piece)
      const rest = worked(began)
      if (rest) await rest
      if (size !== length) continue
      // The announced length has arrived. The end of the stream takes one more task and is not awaited.
      // A compressed body may have more bytes than that: then the text does not parse, and reading goes on.
      const json = gathering.json()
      if (!json) continue
      reader.read().catch(() => {})
      return json
    }
  } catch (error) {
    if (error instanceof BodyTooLarge) reader.cancel().catch(() => {})
    throw error
  } finally {
    gathering.clear()
  }
}

/** Parses a text. Undefined if it is not JSON. */
export function parseJson(text: string, bounds: JsonBounds): Json | undefined {
  if (text.length > Math.min(LARGE_BYTES, bounds.values)) {
    const gathering = new Gathering(bounds)
    try {
      gathering.push(new TextEncoder().encode(text))
      return gathering.json()
    } finally {
      gathering.clear()
    }
  }
  try {
    return { text, value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function fail(): never {
  throw new NotJson()
}

/** The first `max` bytes of the body as text. Empty if the body cannot be read. */
export async function readStart(reader: BodyReader | undefined, max: number): Promise<string> {
  if (!reader) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const piece = await reader.read()
      if (!piece) break
      chunks.push(piece.slice())
      size += piece.length
      if (size <= max) continue
      reader.cancel().catch(() => {})
      break
    }
  } catch {
    return ''
  }
  return decoder.decode(join(chunks).subarray(0, max))
}
