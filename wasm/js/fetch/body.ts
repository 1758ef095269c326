// Reads response bodies up to a limit.

import { Elements, join } from './json-array.ts'
import { type BodyReader, Gathered } from './buffers.ts'
import { JsonFilter } from './json-filter.ts'
import { skipString } from '../shared/json.ts'
import { escapes, type ToolsReader } from './tools.ts'
import { worked } from '../shared/yield.ts'

const decoder = new TextDecoder('utf-8')

/** Thrown if a body is over its limit. */
export class BodyTooLarge extends Error {}

/** Thrown if a body is not JSON. */
export class NotJson extends Error {}

/**
 * The content of a body: a JSON text and its value; or a value without its list of tools, read element by element;
 * or the text of a response for the page to parse. `outline` is that response without the content of its members, and
 * `deepest` its depth. `ordinary`: its strings have no hidden characters.
 */
export type Json = { text: string; value: unknown; raw?: Uint8Array<ArrayBuffer> } | {
  value: unknown
  tools: ToolsReader
  size: number
} | {
  message: string
  ordinary: boolean
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
  /** Reads the list of tools in the result of a large text that is not parsed as one. */
  tools?: () => ToolsReader
  /** A list of tools of so many bytes is parsed as one. */
  whole?: number
  /** Whether the page parses a message with this outline. Absent if it parses none. */
  passes?: (outline: unknown) => boolean
}

/** Longer texts are filtered as bytes before they are parsed, unless they are parsed as one. */
const LARGE_BYTES = 512 << 10

/** The longest text that is parsed as one if its length is not announced: what follows may need the filter. */
const UNANNOUNCED_BYTES = 2 << 20

/** The page parses results of this length, in characters. */
const PASSED_CHARS = 64 << 10

/** The bytes of a large event that are filtered and parsed at once. */
const STEP_BYTES = 64 << 10

/** The depth of the values that an outline leaves empty. */
const INNER = 3

/** The longest outline, in characters. */
const OUTLINE_CHARS = 64 << 10

/** Collects one JSON text from chunks. */
class Gathering {
  readonly #bounds: JsonBounds
  /** The longest text that is parsed as one: without and with a look at its values. */
  readonly #most: number
  readonly #whole: number
  #size = 0
  /** The chunks of a text that is parsed as one. */
  #parts: Uint8Array<ArrayBuffer>[] = []
  /** The chunks whose values are counted, and the rough number of these. */
  #counted = 0
  #values = 0
  #sieve: JsonFilter | undefined
  #elements: Elements | undefined
  readonly #gathered = new Gathered()
  /** The response to a call. Native code decodes it and skips its strings. */
  #text = ''
  #decoder: TextDecoder | undefined

  /** `length` is the announced length in bytes, or negative. */
  constructor(bounds: JsonBounds, length: number) {
    this.#bounds = bounds
    this.#most = Math.min(LARGE_BYTES, bounds.values)
    const { whole = 0 } = bounds
    const most = length < 0 ? Math.min(whole, UNANNOUNCED_BYTES) : whole
    this.#whole = length > most ? 0 : most
  }

  /** Takes the next chunk. Throws BodyTooLarge. */
  push(piece: Uint8Array): void {
    const { bytes, passes, values } = this.#bounds
    this.#size += piece.length
    if (this.#size > bytes) throw new BodyTooLarge(`response over ${bytes} bytes`)
    if (passes) return void (this.#text += (this.#decoder ??= new TextDecoder()).decode(piece, { stream: true }))
    if (!this.#sieve) {
      this.#parts.push(piece.slice())
      if (this.#size <= this.#most || this.#size <= this.#whole && this.#hasFew()) return
      this.#sieve = this.#begin()
    }
    for (const part of this.#parts.length ? this.#parts.splice(0) : [piece])
      for (const kept of this.#sieve.push(part)) this.#gathered.add(kept)
    if (this.#sieve.values > values) throw new BodyTooLarge(`response of more than ${values} values`)
  }

  /** Whether the chunks so far have few values, so that parsing them takes little memory. */
  #hasFew(): boolean {
    for (; this.#counted < this.#parts.length; this.#counted++) this.#values += valuesIn(this.#parts[this.#counted]!)
    return this.#values <= this.#bounds.values
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
    if (this.#bounds.passes) return parseResponse(this.#text, this.#bounds, this.#size)
    if (this.#sieve && (!this.#sieve.whole || this.#elements?.broken)) return undefined
    const bytes = this.#sieve ? this.#gathered.take() : join(this.#parts)
    try {
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

/** At least the number of elements and members that begin in a part of a JSON text. Strings count, too. */
function valuesIn(bytes: Uint8Array): number {
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const c = bytes[at]!
    if (c === COMMA || c === OPEN || c === OPEN_LIST) values++
  }
  return values
}

/** Parses the response to a call, unless the page does that. `size` is that of its UTF-8, if known. */
function parseResponse(text: string, bounds: JsonBounds, size?: number): Json | undefined {
  try {
    if (text.length > Math.min(PASSED_CHARS, bounds.values)) {
      const outlined = outlineOf(text, bounds.values)
      if (bounds.passes!(outlined.outline))
        return { message: text, ordinary: text.length === size && !escapes(text), ...outlined }
    }
    return { text, value: JSON.parse(text) as unknown }
  } catch (error) {
    if (error instanceof BodyTooLarge) throw error
    return undefined
  }
}

const COMMA = 44, QUOTE = 34, OPEN_LIST = 91, CLOSE_LIST = 93, OPEN = 123, CLOSE = 125

/**
 * The message without the content of its result or error, and its depth. Native code skips the strings. Throws
 * BodyTooLarge for a text of more values, and if the text is not JSON.
 */
function outlineOf(text: string, most: number): { outline: unknown; deepest: number } {
  let outline = '', from = 0, depth = 0, deepest = 0, values = 0
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) at = skipString(text, at) - 1
    else if (c === COMMA) values++
    else if (c === OPEN || c === OPEN_LIST) {
      values++
      if (++depth > deepest) deepest = depth
      if (depth === INNER) outline += text.slice(from, at + 1)
    } else if ((c === CLOSE || c === CLOSE_LIST) && depth-- === INNER) from = at
    if (values > most) throw new BodyTooLarge(`response of more than ${most} values`)
  }
  outline += text.slice(from)
  return { outline: outline.length > OUTLINE_CHARS ? undefined : JSON.parse(outline), deepest }
}

/** Parses the body of a response. Throws BodyTooLarge and NotJson. */
export async function readJson(
  { headers }: Response,
  reader: BodyReader | undefined,
  bounds: JsonBounds,
): Promise<Json> {
  const length = Number(headers.get('content-length') ?? -1)
  if (!reader) throw new NotJson()
  const gathering = new Gathering(bounds, length)
  try {
    if (length > bounds.bytes) throw new BodyTooLarge(`response over ${bounds.bytes} bytes`)
    for (let size = 0;;) {
      const piece = await reader.read()
      if (!piece) {
        const json = gathering.json()
        if (json) return json
        throw new NotJson()
      }
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

/** Parses a text, a large one in turns. Undefined if it is not JSON. Throws BodyTooLarge. */
export async function parseJson(text: string, bounds: JsonBounds): Promise<Json | undefined> {
  if (bounds.passes) return parseResponse(text, bounds)
  if (text.length > Math.min(LARGE_BYTES, bounds.values)) {
    const bytes = new TextEncoder().encode(text)
    const gathering = new Gathering(bounds, bytes.length)
    try {
      for (let at = 0; at < bytes.length; at += STEP_BYTES) {
        const began = performance.now()
        gathering.push(bytes.subarray(at, at + STEP_BYTES))
        await worked(began)
      }
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
