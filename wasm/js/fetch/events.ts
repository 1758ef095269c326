import { limitDefaults } from '../shared/wire.gen.ts'

// The numbers and bounds that the client in Go and this platform share.

export { EventFlag as Flag, EventKind as Kind, RequestKind as Op, Why } from '../shared/wire.gen.ts'

/** Limits of registry.Limits that hold below Go. Sizes in bytes. */
export interface Bounds {
  response: number
  event: number
  error: number
  definition: number
  depth: number
  description: number
  schemaDepth: number
  schemaNodes: number
  enumValues: number
  tools: number
  /** Elements and members of one result. */
  values: number
  /** Events decoded per session and second, answers not counted. */
  rate: number
  /** Of those, requests of the server. */
  pings: number
}

const l = limitDefaults
/** The bounds where Go has set none. */
export const defaultBounds: Bounds = {
  response: l.responseBytes,
  event: l.eventBytes,
  error: l.errorBytes,
  definition: l.definitionBytes,
  depth: l.depth,
  description: l.descriptionBytes,
  schemaDepth: l.schemaDepth,
  schemaNodes: l.schemaNodes,
  enumValues: l.enumValues,
  tools: l.toolsPerServer,
  values: l.resultValues,
  rate: l.eventsPerSecond,
  pings: l.pingsPerSecond,
}

/**
 * Takes the events of all exchanges; the kind gives the numbers and texts their meaning, see
 * registry/client/platform.go.
 */
export type Deliver = (
  exchange: number,
  kind: number,
  flags: number,
  a: number,
  b: number,
  c: number,
  textA: string,
  textB: string,
) => void

/** An exchange to start, and the HTTP version that the server is known to speak. */
export interface Start {
  id: number
  group: number
  awaits: number
  flags: number
  head: string
  json?: Uint8Array<ArrayBuffer> | undefined
  protocol?: string | undefined
}
