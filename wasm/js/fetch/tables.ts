// Values that the platform keeps for Go: tool definitions by page of a list, and results until the host takes them.

import type { Run, Source } from '../shared/toolparts.ts'
import { type ResultBody, opened } from '../shared/answer.ts'
import { pinOf } from './pin.ts'
import { elementTexts, type JsonObject, mayLoseDigits } from '../shared/json.ts'
import type { ToolList } from './tools.ts'
import type { Flag, ToolDefinition } from '../shared/types.ts'

/** The bound of all kept results, in characters. The oldest are dropped beyond it. */
const UNTAKEN_BYTES = 64 << 20

interface Result {
  readonly taken: ResultBody
  readonly bytes: number
}

/** A page of a list. */
export interface PageParts {
  list: ToolList
  /** Its fingerprint, once known. */
  print?: string | undefined
}

interface Page extends PageParts {
  /** The texts of its tools are needed: they were not parsed, or a double cannot hold all numbers. */
  readonly isExact: boolean
  /** The run that was split last. */
  split?: { run: Run; texts: string[] }
  printing?: Promise<string>
}

export class Tables {
  readonly #pages = new Map<number, Page>()
  readonly #results = new Map<number, Result>() // oldest first
  #untaken = 0
  #last = 0

  addPage({ list, print }: PageParts): number {
    const table = this.#next()
    this.#pages.set(table, { list, print, isExact: !list.tools || list.runs.some(({ text }) => mayLoseDigits(text)) })
    return table
  }

  /** Removes a page for tables of another thread, as texts. */
  takePage(table: number): PageParts | undefined {
    const list = this.#pages.get(table)?.list
    this.#pages.delete(table)
    return list && { list: { ...list, tools: undefined } }
  }

  /** Takes the text of a page, which goes to the app's page. Undefined if it was taken and is not kept. */
  takeSource(table: number): Source | undefined {
    const page = this.#pages.get(table)
    if (!page?.list.runs.length) return undefined
    page.printing ??= fingerprintOf(page).catch(() => '')
    const { list: { runs, places } } = page
    if (!page.isExact) page.list = { ...page.list, runs: [] }
    return { runs, places }
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
export async function fingerprintOf({ list }: PageParts): Promise<string> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined
  if (!subtle) return ''
  const { runs, places, sent } = list
  const texts = runs.flatMap(({ text, end }, i) => {
    if (!sent.size) return text
    const from = runs[i - 1]?.end ?? 0, all = elementTexts(`[${text}]`)
    return places.slice(from, end).map((place, i) => sent.get(from + i) ?? all[place]!)
  })
  const bytes = new TextEncoder().encode(texts.join())
  return btoa(String.fromCharCode(...new Uint8Array(await subtle.digest('SHA-256', bytes))))
}

/** The text of a tool. Undefined if its value is enough. */
function textAt(page: Page, index: number): string | undefined {
  const run = page.isExact ? page.list.runs.find(({ end }) => index < end) : undefined
  if (!run) return undefined
  if (page.split?.run !== run) page.split = { run, texts: elementTexts(`[${run.text}]`) }
  return page.split.texts[page.list.places[index]!]
}

function toolAt(page: Page, index: number): unknown {
  if (page.list.tools) return page.list.tools[index]
  const text = textAt(page, index)
  return text === undefined ? undefined : JSON.parse(text)
}
