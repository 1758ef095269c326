import type { ResultBody } from './answer.ts'
import type { WireError } from './errors.ts'
import type {
  AuthorizeRequest,
  Flag,
  HeldTool,
  RedactedConfig,
  ServerConfig,
  ResultRange,
  ServerHealth,
  Snapshot,
  ToolDefinition,
  ToolProgress,
  ElicitationRequest,
} from './types.ts'

/**
 * Messages between page and host through a Channel. A request carries an id, which the page counts up from 1, and
 * everything about the request carries it back. Events come unasked; a reply never overtakes the events that led to
 * it.
 */
export type ToHost =
  | Request
  /** Ends request `cancel` early. */
  | { cancel: number }
  /** Answers an `elicit` or `authorize` event: an ElicitationAnswer, or the address that a person came back to. */
  | { elicited: number; answer?: unknown; error?: string }

export type Request =
  & { id: number }
  & (
    | { method: 'attach' }
    | { method: 'addServer'; name: string; config: ServerConfig }
    | { method: 'updateServer'; name: string; config: Partial<ServerConfig> }
    | { method: 'removeServer' | 'retry' | 'signOut'; name: string }
    /** `resume` and the address that a person came back to complete what an earlier page began. */
    | { method: 'signIn'; name: string; resume?: string; url?: string }
    | { method: 'approveTools'; name: string; tools?: string[] }
    /** What is approved at an endpoint, as the storage has it now. */
    | { method: 'takePins'; key: string; pins: string }
    /** To the owner of a registry that is served. */
    | { method: 'approvals' }
    | { method: 'forgetApprovals'; server?: string }
    | { method: 'readResult'; handle: string; range: ResultRange }
    | { method: 'setEnabled'; name: string; enabled: boolean }
    | { method: 'discover'; names?: string[] }
    | { method: 'call'; name: string; args: string; timeoutMs?: number; progress: boolean }
    | { method: 'online'; online: boolean }
    | { method: 'wake' }
    | { method: 'close' }
  )

/** A request before it has its number. */
export type RequestBody = Request extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never

export type ToPage =
  | { id: number; result: unknown }
  | { id: number; error: WireError }
  | { id: number; progress: ToolProgress }
  | LostEvent
  | ConfigsEvent
  | StateEvent
  | ToolsEvent
  | PinnedEvent
  | { event: 'hints'; hints: string }
  | PinsEvent
  | { event: 'elicit'; ask: number; request: ElicitationRequest }
  | AuthorizeEvent

/**
 * What is approved of the tools at an endpoint, for its store: StartOptions.pins[key]
 * of a later start. `fresh` are the tools of which that is news, `byUser` says that it replaces what is kept.
 */
export interface PinsEvent {
  event: 'pins'
  server: string
  key: string
  pins: string
  fresh: string[]
  byUser: boolean
}

/** What is approved of a server's tools, whose list came without pins; see givePins. */
export interface PinnedEvent {
  event: 'pinned'
  server: string
  pins: string
}

/**
 * The module has stopped. The page's requests up to `upTo` get no reply, except those that are held for the next
 * module.
 */
export interface LostEvent {
  event: 'lost'
  upTo: number
  held: number[]
  error: WireError
}

/**
 * Configurations of servers as the module has them, secrets included; null: removed. A host sends it to the pages
 * that share its module, before the reply to the request that made the change.
 */
export interface ConfigsEvent {
  event: 'configs'
  configs: Record<string, ServerConfig | null>
}

/** The registry's status, and the servers that changed, or with `whole` all; null: removed. */
export interface StateEvent {
  event: 'state'
  whole?: boolean
  status: Snapshot['status']
  servers: Record<string, (ServerHealth & { config: RedactedConfig }) | null>
}

/** A part of a server's new list. The list is complete with the part that is `last`. */
export type ToolsEvent = { event: 'tools'; server: string; first: boolean; last: boolean } & ToolsPart

/**
 * Tools as they are, or as the text that their server sent: parsing it again
 * costs less than to clone what is parsed. Tool i has model name `names[i]` and
 * stands at `places[i]` in the text's `result.tools`; `marks` has what else is known of
 * tool i. What is in a text has no hidden characters.
 */
export type ToolsPart = { tools: ListedTool[] } | {
  text: string
  names: string[]
  places: number[]
  pins: string[]
  marks: Record<number, Marks>
}

export interface ListedTool extends Marks {
  name: string
  tool: string
  definition: ToolDefinition
  pin?: string
}

/**
 * Why models do not see a tool: the configuration leaves it out, or nobody has approved it; and what was hidden in it.
 */
export interface Marks {
  withheld?: boolean
  held?: Hold
  flags?: Flag[]
}

/** `key` is that of PinsEvent. */
export type Hold = Pick<HeldTool, 'reason' | 'renamedFrom' | 'changes' | 'before'> & { key?: string }

/** What is needed to complete a sign-in that a page begins and, after a redirect, another ends. */
export interface AuthorizeState {
  /** Comes back as the `state` of the redirect. */
  state: string
  /** For the `resume` of a later `signIn`. Holds secrets. */
  resume: string
}

/** A person is to see a page; without a request, the answer to `ask` is not awaited any more. */
export type AuthorizeEvent = {
  event: 'authorize'
  ask: number
  request?: Omit<AuthorizeRequest, 'signal'> & AuthorizeState
}

/** The answer to an `authorize` event. */
export type Authorized = { url: string } | { error: string }

/** Result of `attach`. */
export interface Attached {
  version: string
  resultBytes: number
  callTimeoutMs: number
}

/**
 * Result of `call`: what Go says about the answer, and the answer itself; its text form, where somebody has made it.
 */
export type Called = ResultBody & {
  server: string
  tool: string
  isError: boolean
  durationMs: number
  text?: string
  truncated?: boolean
  handle?: string
  flags?: Flag[]
}

/** What a host begins with, or takes over from one who comes later. */
export interface Begin {
  servers: Record<string, ServerConfig>
  /** Those of them that the caller gives, and not its storage. */
  given: string[]
  /** They have been discovered, by a module that is no more. */
  discovered?: boolean
}

/** What the module is configured with once, when it starts. */
export interface StartOptions {
  proxy?: string
  failureThreshold?: number
  cooldownMs?: number
  timeoutMs?: number
  callTimeoutMs?: number
  idleTimeoutMs?: number
  limits?: Record<string, number>
  elicit?: boolean
  /** The whole address that people come back to after signing in. Without it nobody can be asked to. */
  redirectUrl?: string | undefined
  clientMetadataUrl?: string
  clientName?: string
  /** Tokens are kept, encrypted, beyond the module's life. */
  remember?: boolean
  hints?: string
  /** By endpoint, as PinsEvent gave them. */
  pins?: Record<string, string>
}
