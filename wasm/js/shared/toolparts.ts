import type { ListedTool, Marks, ToolsEvent, ToolsPart } from './protocol.ts'

/** Tools of a list as they came: JSON texts with commas between them. */
export interface Run {
  readonly text: string
  /** The kept tools of the list up to the end of this run. */
  readonly end: number
}

/** A list as text. */
export interface Source {
  readonly runs: Run[]
  /** The place of each kept tool in its run. */
  readonly places: number[]
}

/** The tools in one message. Each message is a task of the page's thread and has to be short. */
const partSize = 200

/** Cuts a list into parts. An empty list is one part. */
export function* toolParts(tools: ListedTool[]): Generator<ToolsPart> {
  for (let at = 0; at === 0 || at < tools.length; at += partSize) yield { tools: tools.slice(at, at + partSize) }
}

/** A part for each run. The tools stand at `indices` in the list with that source. */
export function* sourceParts(
  tools: ListedTool[],
  indices: readonly number[],
  source: Source | undefined,
): Generator<ToolsPart> {
  if (!source) return yield* toolParts(tools)
  const runOf = (at: number) => source.runs.find(({ end }) => indices[at]! < end)
  for (let at = 0; at < tools.length;) {
    const from = at, run = runOf(at)!
    while (at < tools.length && runOf(at) === run) at++
    yield textPart(tools.slice(from, at), `[${run.text}]`, indices.slice(from, at).map((i) => source.places[i]!))
  }
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
