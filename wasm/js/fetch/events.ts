import type { limitDefaults } from '../shared/wire.gen.ts'

// Numbers and types that the client in Go and this platform share.

export { EventFlag as Flag, EventKind as Kind, RequestKind as Op, Why } from '../shared/wire.gen.ts'

/** All limits with their values; see Limits in types.ts. */
export type Bounds = Record<keyof typeof limitDefaults, number>

/**
 * Takes the events of all exchanges. The kind gives the numbers and texts their meaning; see
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

/** An exchange to start, and the HTTP version of the server, if known. */
export interface Start {
  id: number
  group: number
  awaits: number
  flags: number
  head: string
  json?: Uint8Array<ArrayBuffer> | undefined
  protocol?: string | undefined
}
