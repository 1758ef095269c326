import type { ListedTool, ToolsEvent, ToolsPart } from './protocol.ts'

/** Tools a message; a part is a task of the page's main thread, and stays a short one. */
const partSize = 200

/** Cuts a list into parts. An empty list is one part. */
export function* toolParts(tools: ListedTool[]): Generator<ToolsPart> {
  for (let at = 0; at === 0 || at < tools.length; at += partSize) yield { tools: tools.slice(at, at + partSize) }
}

/** Makes messages of the parts of a server's list. */
export function toolsEvents(server: string, parts: Iterable<ToolsPart>): ToolsEvent[] {
  return [...parts].map((part, i, all) => ({ event: 'tools', server, first: i === 0, last: i === all.length - 1, ...part }))
}
