import type { ListedTool, Marks, ToolsEvent, ToolsPart } from './protocol.ts'

/**
 * What a page of tools came as: the JSON-RPC message with where in its list each tool stands, or the tools' own texts.
 */
export type Source = { readonly text: string; readonly places: readonly number[] } | {
  readonly texts: readonly string[]
}

/** Tools a message; a part is a task of the page's main thread, and stays a short one. */
const partSize = 200

/** A longer text would be a long task to parse at once: 1 Mi characters take about 7 ms. */
const longestText = 1 << 20, longestPart = 256 << 10

/** Cuts a list into parts. An empty list is one part. */
export function* toolParts(tools: ListedTool[]): Generator<ToolsPart> {
  for (let at = 0; at === 0 || at < tools.length; at += partSize) yield { tools: tools.slice(at, at + partSize) }
}

/** The same of tools that stand at `indices` in a page that came as `source`. */
export function* sourceParts(
  tools: ListedTool[],
  indices: readonly number[],
  source: Source | undefined,
): Generator<ToolsPart> {
  if (!source || 'text' in source && source.text.length > longestText) return yield* toolParts(tools)
  if ('text' in source) return yield textPart(tools, source.text, indices.map((i) => source.places[i]!))
  for (let at = 0; at < tools.length;) {
    const from = at, texts: string[] = []
    for (let size = 0; at < tools.length && size < longestPart; size += texts.at(-1)!.length)
      texts.push(source.texts[indices[at++]!]!)
    yield textPart(tools.slice(from, at), `{"result":{"tools":[${texts.join()}]}}`, texts.map((_, i) => i))
  }
}

function textPart(tools: ListedTool[], text: string, places: number[]): ToolsPart {
  const marks: Record<number, Marks> = {}
  tools.forEach(({ withheld, held, flags }, i) => { // and not the definition, which may have to be parsed
    if (withheld || held || flags)
      marks[i] = { ...(withheld && { withheld }), ...(held && { held }), ...(flags && { flags }) }
  })
  return { text, names: tools.map((t) => t.name), places, pins: tools.map((t) => t.pin ?? ''), marks }
}

/** Makes messages of the parts of a server's list. */
export function toolsEvents(server: string, parts: Iterable<ToolsPart>): ToolsEvent[] {
  return [...parts].map((part, i, all) => ({
    event: 'tools',
    server,
    first: i === 0,
    last: i === all.length - 1,
    ...part,
  }))
}
