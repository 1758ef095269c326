// The numbers that plane.ts and platform.go share.

/** Kinds of events; see Kind in platform.go. */
export const Kind = {
  Head: 0,
  Refused: 1,
  End: 2,
  Tools: 3,
  Output: 4,
  Progress: 5,
  Changed: 6,
  Message: 7,
  Endpoint: 8,
  Dropped: 9,
} as const

/** Of an event; Error is Output's: the tool says that it failed. */
export const Flag = { Last: 1, Error: 2 } as const

/** Why an exchange ended; see Reason in platform.go. */
export const Why = { EOF: 0, Network: 1, TooLarge: 2, NotMCP: 3 } as const
export type Why = (typeof Why)[keyof typeof Why]

/** What an answer is, in the low bits of its request's id. */
export const Op = { List: 1, Call: 2, Mask: 3 } as const

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
