import type { Flag } from '../../wasm/js/shared/types.ts'

// The messages between the background and webmcp.js in a page, over a port of this name.

export const pagePort = 'portolan-webmcp'

/** The most tools of a page. */
export const mostTools = 200
/** The most characters of a title and of a description, and of a schema as JSON text. */
export const longest = { title: 200, description: 4000, schema: 32 << 10 }
/** The most characters of a page's schemas together, and of a result. */
export const mostSchemas = 256 << 10
export const mostResult = 4 << 20
/** The most levels of a schema and of a result. */
export const mostLevels = 50

/** A tool of a page, without hidden text. All of it is the page's claim. */
export interface PageTool {
  name: string
  title: string
  description: string
  inputSchema: object
  readOnly: boolean
  /** Hidden text that was removed. */
  flags: Flag[]
}

/** `supported`: the page has a modelContext that can be read. `left`: tools that were left out, by the bounds. */
export interface PageList {
  supported: boolean
  origin: string
  title: string
  tools: PageTool[]
  left: number
}

/** `tool`: as the page has listed it. One that has changed since is not called. */
export type ToPage =
  | { type: 'call'; id: number; tool: PageTool; args: Record<string, unknown> }
  | { type: 'cancel'; id: number }

/** `text`: what the tool returned, as JSON text if it is no string. */
export type FromPage =
  | { type: 'tools'; list: PageList }
  | { type: 'result'; id: number; text: string }
  | { type: 'failed'; id: number; code: string; message: string }
