import type { ToolsEvent } from './protocol.ts'

/** Tools a message; a part is a task of the page's main thread, and stays a short one. */
const partSize = 200

/** Cuts a server's list into messages. An empty list is one message. */
export function* toolParts(server: string, tools: ToolsEvent['tools']): Generator<ToolsEvent> {
  for (let at = 0; at === 0 || at < tools.length; at += partSize) {
    yield { event: 'tools', server, first: at === 0, last: at + partSize >= tools.length, tools: tools.slice(at, at + partSize) }
  }
}
