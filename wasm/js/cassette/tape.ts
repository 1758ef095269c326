import type { WireError } from '../shared/errors.ts'
import type { Called, ListedTool } from '../shared/protocol.ts'
import type { ServerHealth, ToolProgress } from '../shared/types.ts'

/** A cassette's JSON form. */
export interface Tape {
  portolan: 'cassette'
  version: 1
  /** The last state of each server. */
  servers: Record<string, { health?: ServerHealth | undefined; tools: ListedTool[] }>
  /** Calls in the order of their start. */
  calls: TapedCall[]
  /** The tape was full, and calls are missing. */
  full?: boolean
}

export interface TapedCall {
  /** The model name. */
  tool: string
  /** Arguments as readArguments returns them. */
  arguments: unknown
  progress?: ToolProgress[]
  result?: Called
  error?: WireError
}
