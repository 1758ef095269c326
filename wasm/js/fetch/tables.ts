// Values that the platform keeps for Go: tool definitions by page of a list, and results until the host takes them.

import { type ListSource, toolTexts } from '../shared/toolparts.ts'
import { type ResultBody, opened } from '../shared/answer.ts'
import { pinOf } from './pin.ts'
import { type JsonObject, mayLoseDigits } from '../shared/json.ts'
import { PARSED_CHARS, type ToolList } from './tools.ts'
import type { Flag, ToolDefinition } from '../shared/types.ts'

/** Each digest of a fingerprint is over so many tools, and over the digest before. */
const PRINTED_TOOLS = 200

/** The bound of all kept results, in characters. The oldest are dropped beyond it. */
const UNTAKEN_BYTES = 64 << 20

interface Result {
  readonly taken: ResultBody
  readonly bytes: number
}

interface Page extends PageParts {
  /** The texts of tools, in the page's message: of many tools, or if a double cannot hold all numbers. */
  exact?: (() => string[]) | undefined
  printing?: Promise<string>
}

/** A page of a list, and its message if that came as one unchanged text. */
export interface PageParts {
  readonly list: ToolList
  text?: string | undefined
  /** The bytes of that text, if they are kept. */
  raw?: Uint8Array<ArrayBuffer> | undefined
  /** Its fingerprint, once known. */
  print?: string | undefined
}

export class Tables {
  readonly #pages = new Map<number, Page>()
  readonly #results = new Map<number, Result>() // oldest first
  #untaken = 0
  #last = 0

  addPage({ list, text, raw, print }: PageParts): number {
    const table = this.#next()
    const page: Page = { list, print }
    if (text !== undefined && list.texts.length === 0) {
      const isLong = text.length > PARSED_CHARS
      if (list.sent.size === 0) {
        page.text = text
        page.raw = raw
        if (isLong || mayLoseDigits(text)) page.exact = () => toolTexts(text, list.places)
      } else if (isLong) { for (const tool of list.tools!) list.texts.push(JSON.stringify(tool)) }
      if (isLong) list.tools = undefined
    }
    this.#pages.set(table, page)
    return table
  }

  /** Removes a page for tables of another thread, as texts if it has them. */
  takePage(table: number): PageParts | undefined {
    const page = this.#pages.get(table)
    this.#pages.delete(table)
    if (!page) return undefined
    const { list, text } = page
    return { list: list.texts.length > 0 ? { ...list, tools: undefined } : list, text }
  }

  /** Removes the source of a page: the text of its message. */
  takeSource(table: number): ListSource | undefined {
    const page = this.#pages.get(table)
    if (!page) return undefined
    const { text, list: { texts, places } } = page
    if (text !== undefined) page.printing ??= fingerprintOf(page).catch(() => '')
    page.text = page.raw = undefined
    if (texts.length > 0) return { texts }
    return text === undefined ? undefined : { text, places }
  }

  /** The pin of a tool. '' once its page was released. */
  pin(table: number, index: number): string {
    const page = this.#pages.get(table)
    const sent = page?.list.sent.get(index)
    const tool = sent === undefined ? page && toolAt(page, index) : JSON.parse(sent) as unknown
    return tool === undefined ? '' : pinOf(tool as JsonObject)
  }

  /** A tool says that it destroys, or it has flags. Rejects if the rules of the scanner cannot be loaded. */
  async risky(table: number, index: number): Promise<boolean> {
    const tool = this.tool(table, index)
    if (!tool || this.flags(table, index) || tool.definition.annotations?.destructiveHint === true) return true
    return (await import('../shared/scan.ts')).scanDefinition(tool.definition).length > 0
  }

  /** The fingerprint of a page: equal for equal tools. '' without Web Crypto. */
  async fingerprint(table: number): Promise<string> {
    const page = this.#pages.get(table)
    return page ? page.print ??= await (page.printing ??= fingerprintOf(page)) : ''
  }

  /** The fingerprint, if known. */
  print(table: number): string | undefined {
    return this.#pages.get(table)?.print
  }

  addResult(taken: ResultBody, bytes: number): number {
    const table = this.#next()
    this.#results.set(table, { taken, bytes })
    this.#untaken += bytes
    for (const oldest of this.#results.keys()) {
      if (this.#untaken <= UNTAKEN_BYTES || oldest === table) break
      this.release(oldest)
    }
    return table
  }

  /** A tool's name and definition. If only the text is kept, each call parses it. */
  tool(table: number, index: number): { tool: string; definition: ToolDefinition } | undefined {
    const page = this.#pages.get(table)
    const tool = page?.list.names[index]
    if (!page || tool === undefined) return undefined
    if (page.list.tools) return { tool, definition: page.list.tools[index] as ToolDefinition }
    return {
      tool,
      get definition() {
        return toolAt(page, index) as ToolDefinition
      },
    }
  }

  /** The flags for hidden text in a tool. */
  flags(table: number, index: number): Flag[] | undefined {
    return this.#pages.get(table)?.list.flags.get(index)
  }

  /** Removes and returns the result of a handle. */
  takeResult(table: number): ResultBody | undefined {
    const taken = this.#results.get(table)?.taken
    this.release(table)
    return taken
  }

  /** Drops a table. Unknown tables are ignored. */
  release(table: number): void {
    this.#pages.delete(table)
    const result = this.#results.get(table)
    if (result && this.#results.delete(table)) this.#untaken -= result.bytes
  }

  text(table: number, index: number): string | undefined {
    const page = this.#pages.get(table)
    const own = page && textAt(page, index)
    if (own !== undefined) return own
    const tool = page?.list.tools?.[index]
    if (tool !== undefined) return JSON.stringify(tool)
    const taken = this.#results.get(table)?.taken
    if (!taken) return undefined
    const { value, raw } = opened(taken)
    return raw ?? JSON.stringify(value)
  }

  get size(): number {
    return this.#pages.size + this.#results.size
  }

  // Table 0 is never used. Numbers wrap far below 2^32 and skip tables in use.
  #next(): number {
    do this.#last = (this.#last % 0x7fffffff) + 1
    while (this.#pages.has(this.#last) || this.#results.has(this.#last))
    return this.#last
  }
}

/** The SHA-256 of the tools as the server sent them. '' without Web Crypto, as in pages over plain HTTP. */
export async function fingerprintOf({ list: { tools, texts, sent, places }, text, raw }: PageParts): Promise<string> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined
  if (!subtle) return ''
  const digest = async (bytes: Uint8Array<ArrayBuffer>) =>
    btoa(String.fromCharCode(...new Uint8Array(await subtle.digest('SHA-256', bytes))))
  const all = text && withoutId(text, raw ?? new TextEncoder().encode(text))
  if (all) return digest(all)
  const known = texts.length > 0 ? texts : tools?.map((tool) => JSON.stringify(tool)) ?? toolTexts(text ?? '', places)
  const left = known.map((tool, i) => sent.get(i) ?? tool)
  let print = ''
  do {
    // Other tasks of the thread run between the digests.
    print = await digest(new TextEncoder().encode([print, ...left.splice(0, PRINTED_TOOLS)].join()))
  } while (left.length > 0)
  return print
}

/**
 * The bytes of a message without its id, which differs each time. Undefined unless the id stands first or last, beside
 * the version only: elsewhere it could be a member of a tool.
 */
function withoutId(message: string, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  const first = /^\{(?:"jsonrpc":"2\.0",)?"id":\d+,/.exec(message)
  if (first) return bytes.subarray(first[0].length)
  const last = /,"id":\d+(?:,"jsonrpc":"2\.0")?\}$/.exec(message.slice(-100))
  return last ? bytes.subarray(0, bytes.length - last[0].length) : undefined
}

/** The text of a tool. Undefined if its value is enough. */
function textAt(page: Page, index: number): string | undefined {
  if (!page.exact) return page.list.texts[index]
  const exact = page.exact()
  page.exact = () => exact
  return exact[index]
}

function toolAt(page: Page, index: number): unknown {
  if (page.list.tools) return page.list.tools[index]
  const text = textAt(page, index)
  return text === undefined ? undefined : JSON.parse(text)
}
