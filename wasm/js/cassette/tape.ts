import type { WireError } from '../shared/errors.ts'
import type { Called, ListedTool } from '../shared/protocol.ts'
import type { ServerHealth, ToolProgress } from '../shared/types.ts'

/** A cassette's JSON form. */
export interface Tape {
  portolan: 'cassette'
  version: 1
  /** Servers as they were when last heard of. */
  servers: Record<string, { health?: ServerHealth | undefined; tools: ListedTool[] }>
  /** In the order in which they were begun. */
  calls: TapedCall[]
  /** Calls were left out, for there was no room. */
  full?: boolean
}

export interface TapedCall {
  /** What models call it. */
  tool: string
  /** As `canonical` reads them. */
  arguments: unknown
  progress?: ToolProgress[]
  result?: Called
  error?: WireError
}
