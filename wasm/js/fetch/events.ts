import { limitDefaults } from '../shared/wire.gen.ts'

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
