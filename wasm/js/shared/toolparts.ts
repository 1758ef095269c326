import { elementTexts, memberText } from './json.ts'
import type { ListedTool, Marks, ToolsEvent, ToolsPart } from './protocol.ts'

/**
 * The source of a page of a list: the JSON-RPC message with the place of each tool, or the texts of the tools.
 */
export type ListSource = { readonly text: string; readonly places: readonly number[] } | {
  readonly texts: readonly string[]
}

/** The tools in one message. Each message is a task of the page's thread and has to be short. */
const partSize = 200

/** The characters in one message: of the server's own, and of those that are made. Parsing 1 Mi takes about 7 ms. */
const longestText = 6 << 20, longestPart = 256 << 10

/** Cuts a list into parts. An empty list is one part. */
export function* toolParts(tools: ListedTool[]): Generator<ToolsPart> {
  for (let at = 0; at === 0 || at < tools.length; at += partSize) yield { tools: tools.slice(at, at + partSize) }
}

/** Cuts tools into parts of texts. They stand at `indices` in a page with that source. */
export function* sourceParts(
  tools: ListedTool[],
  indices: readonly number[],
  source: ListSource | undefined,
): Generator<ToolsPart> {
  if (!source) return yield* toolParts(tools)
  if ('text' in source && source.text.length <= longestText)
    return yield textPart(tools, source.text, indices.map((i) => source.places[i]!))
  const all = 'text' in source ? toolTexts(source.text, source.places) : source.texts
  for (let at = 0; at < tools.length;) {
    const from = at, texts: string[] = []
    for (let size = 0; at < tools.length && size < longestPart; size += texts.at(-1)!.length)
      texts.push(all[indices[at++]!]!)
    yield textPart(tools.slice(from, at), `{"result":{"tools":[${texts.join()}]}}`, texts.map((_, i) => i))
  }
}

/** The texts of the tools at these places in the text of a list. */
export function toolTexts(text: string, places: readonly number[]): string[] {
  const all = elementTexts(memberText(memberText(text, 'result') ?? '{}', 'tools') ?? '[]')
  return places.map((place) => all[place]!)
}

function textPart(tools: ListedTool[], text: string, places: number[]): ToolsPart {
  const marks: Record<number, Marks> = {}
  tools.forEach(({ withheld, held, flags }, i) => { // reading the definition could parse it
    if (withheld || held || flags)
      marks[i] = { ...(withheld && { withheld }), ...(held && { held }), ...(flags && { flags }) }
  })
  return { text, names: tools.map((t) => t.name), places, pins: tools.map((t) => t.pin ?? ''), marks }
}

/** The messages for the parts of a server's list. */
export function toolsEvents(server: string, parts: Iterable<ToolsPart>): ToolsEvent[] {
  return [...parts].map((part, i, all) => ({
    event: 'tools',
    server,
    first: i === 0,
    last: i === all.length - 1,
    ...part,
  }))
}
