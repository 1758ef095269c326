import type { ResultBody } from './answer.ts'
import type { WireError } from './errors.ts'
import type { SearchDocument } from './searchdocument.ts'
import type {
  AuthorizeRequest,
  Dialect,
  DispatchOptions,
  Flag,
  HeldTool,
  HttpExchange,
  LogEntry,
  LogLevel,
  RedactedConfig,
  RegistryOptions,
  ScopeOptions,
  ServerConfig,
  ResultRange,
  Root,
  ServerHealth,
  SignInOptions,
  Snapshot,
  TaskInfo,
  ToolInfo,
  ToolProgress,
  ToolResult,
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
  /** The answer to an `elicit` or `authorize` event: an ElicitationAnswer, or the URL of the redirect. */
  | { elicited: number; answer?: unknown; error?: string }

export type Request =
  & { id: number }
  & (
    | { method: 'attach' }
    /** The module ignores `scope`, which is for the realm that stores the servers. */
    | { method: 'addServer'; name: string; config: ServerConfig; scope?: ScopeOptions['scope'] }
    | { method: 'updateServer'; name: string; config: Partial<ServerConfig>; scope?: ScopeOptions['scope'] }
    | { method: 'removeServer' | 'retry' | 'signOut'; name: string }
    | { method: 'renameServer'; name: string; to: string }
    /** `resume` and the URL of the redirect complete the sign-in of an earlier page. */
    | { method: 'signIn'; name: string; resume?: string; url?: string }
    | { method: 'approveTools'; name: string; tools?: string[] }
    /** The pins of an endpoint in the storage. */
    | { method: 'takePins'; key: string; pins: string }
    /** These go to the realm that owns a served registry. */
    | { method: 'approvals' }
    | { method: 'forgetApprovals'; server?: string }
    | { method: 'readResult'; handle: string; range: ResultRange }
    | { method: 'setEnabled'; name: string; enabled: boolean; scope?: ScopeOptions['scope'] }
    | { method: 'discover'; names?: string[] }
    | ({ method: 'call'; name: string; args: string; timeoutMs?: number; progress: boolean } & CallOptions)
    | { method: ListMethod; servers?: string[] }
    | { method: 'approvePrompts'; name: string; prompts?: string[] }
    /** The reply has a reason for each skill, '' for those that are not held. `skills`: a URI and a digest in turn. */
    | { method: 'reviewSkills'; name: string; skills: string[]; approve?: boolean }
    | { method: 'askSkill'; name: string; params: { uri: string; cursor?: string }; directory?: boolean }
    /** These go to the realm that owns a served registry. It keeps the skill under the number `held`. */
    | { method: 'heldSkills'; servers?: string[] }
    | { method: 'approveSkills'; name: string; skills?: string[] }
    | { method: 'getSkill'; name: string; uri: string; held: number; review: boolean }
    | { method: 'useSkill'; held: number; path: string; list: boolean }
    | { method: 'approveInstructions'; name: string; instructions?: string[] }
    /** `callId` is for the realm that owns a served registry, as in a call. */
    | { method: 'readResource'; name: string; uri: string; callId?: CallId }
    | { method: 'getPrompt'; name: string; args: Record<string, string>; format?: Dialect; callId?: CallId }
    | { method: 'complete'; name: string; params: CompleteParams }
    /** Each update is a progress; so is the server's agreement, at first. The request lasts until it is cancelled. */
    | { method: 'subscribeResource'; name: string; uri: string }
    | { method: 'logs'; servers?: string[]; level?: LogLevel }
    /** Each progress has an entry. The request lasts until it is cancelled. */
    | { method: 'followLogs' }
    | { method: 'setRoots'; roots: Root[] }
    | { method: 'waitTask'; name: string; tool: string; taskId: string; callId?: CallId }
    | { method: 'cancelTask'; name: string; taskId: string }
    /** It goes to the realm that owns a served registry. */
    | { method: 'tasks' }
    /** The tools of a server for the page's search index. Part 0 begins the index, the others are counted from it. */
    | { method: 'index'; server: string; documents: SearchDocument[]; part: number }
    /** The reply has what was found in the index of so many parts; null: the host does not have it. */
    | { method: 'search'; query: string; limit: number; servers?: string[]; names?: string[]; parts: number }
    /** The state of the network, or without it: the user is back. Suspended servers are tried at once. */
    | { method: 'online'; online?: boolean }
    /** The host reports exchanges to this page from now on, or no more. */
    | { method: 'trace'; on: boolean }
    | { method: 'close' }
  )

/** The lists of what servers offer beside tools. */
type ListMethod =
  | 'resources'
  | 'resourceTemplates'
  | 'prompts'
  | 'heldPrompts'
  | 'skills'
  | 'instructions'

type CallId = DispatchOptions['callId']

/** Options of a call that most calls do not have. */
export type CallOptions = Pick<DispatchOptions, 'attempts' | 'trace' | 'callId'> & {
  detach?: boolean
  /**
   * An app of the tool's server calls; see Call.App of the Go registry. The realm that owns a served registry gets the
   * server's name here, and `name` is then the server's own name of the tool.
   */
  app?: boolean | string
}

/** Result of a `call` with `detach` that the server has made a task of. */
export interface Begun {
  server: string
  tool: string
  /** A Task of the spec. */
  task: { taskId: string; status: TaskInfo['status']; ttl?: number | null; ttlMs?: number | null }
}

/** The params of completion/complete. */
export interface CompleteParams {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
  argument: { name: string; value: string }
  context?: { arguments: Record<string, string> }
}

/** An entry of the reply to a ListMethod. `name` is the prompt's in the registry. */
export interface OfferReply {
  server: string
  name?: string
  definition: Record<string, unknown>
  /** Only for held prompts. */
  reason?: 'changed' | 'new'
  pin?: string
  before?: Record<string, unknown>
}

/** A request without its id. */
export type RequestBody = Request extends infer R ? (R extends { id: number } ? Omit<R, 'id'> : never) : never

export type ToPage =
  | { id: number; result: unknown }
  | { id: number; error: WireError }
  /** `log` is that of followLogs. */
  | { id: number; progress: ToolProgress & { log?: LogEntry } }
  /** A call waits for others to end, or does not any more. */
  | { id: number; waits: boolean }
  | LostEvent
  | ConfigsEvent
  | StateEvent
  | ToolsEvent
  | PinnedEvent
  | { event: 'hints'; hints: string }
  | ExchangeEvent
  | PinsEvent
  | ElicitEvent
  | AuthorizeEvent

/**
 * The pins of an endpoint's tools, to be stored for StartOptions.pins[key] of a later start. `fresh` names the tools
 * with new pins. `byUser`: they replace stored ones.
 */
export interface PinsEvent {
  event: 'pins'
  server: string
  key: string
  pins: string
  fresh: string[]
  byUser: boolean
}

/** The pins of a server's tools, whose list came without them; see givePins. */
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

/** The beginning or the end of an HTTP exchange with a server; `at` is its beginning, in ms since the epoch. */
export interface ExchangeEvent {
  event: 'exchange'
  /** The number of the exchange. */
  exchangeId: number
  phase: 'begin' | 'end'
  at: number
  durationMs?: number
  exchange: HttpExchange
}

/**
 * The registry's status, and the servers that changed, or with `whole` all; null: removed. `warnings` come from another
 * realm that owns the registry.
 */
export interface StateEvent {
  event: 'state'
  whole?: boolean
  status: Snapshot['status']
  warnings?: Snapshot['warnings']
  servers: Record<string, (ServerHealth & { config: RedactedConfig }) | null>
}

/** A part of a server's new list. The list is complete with the part that is `last`. */
export type ToolsEvent = { event: 'tools'; server: string; first: boolean; last: boolean } & ToolsPart

/**
 * Tools as objects, or as the text of the server's message, because parsing costs less than cloning. Tool i has the
 * model name `names[i]` and the place `places[i]` in the text's `result.tools`. `marks[i]` has its other properties.
 * Such a text has no hidden characters.
 */
export type ToolsPart = { tools: ListedTool[] } | {
  text: string
  names: string[]
  places: number[]
  pins: string[]
  marks: Record<number, Marks>
}

export type ListedTool = Marks & Pick<ToolInfo, 'name' | 'tool' | 'definition' | 'pin' | 'stale'>

/**
 * Withheld: the configuration leaves the tool out. Held: it waits for approval. Flags: for hidden text in it.
 */
export interface Marks {
  withheld?: boolean
  held?: Hold
  flags?: Flag[]
}

/** The reason of a hold. `key` is that of PinsEvent. */
export type Hold = Pick<HeldTool, 'reason' | 'renamedFrom' | 'changes' | 'before'> & { key?: string }

/** The state of a sign-in that continues in another page after a redirect. */
interface AuthorizeState {
  /** The parameter `state` of the redirect. */
  state: string
  /** The value of `resume` for a later `signIn`. It has secrets. */
  resume: string
}

/**
 * A question of a server during the request with the id `during`; 0: the request is unknown. Without `request`, the
 * question `ask` is withdrawn; 0: all of them.
 */
export type ElicitEvent = { event: 'elicit'; ask: number; during?: number; request?: Question }

/** A server's question to the user, without what only the page knows. */
export type Question = Omit<ElicitationRequest, 'signal'> & { server: string; message: string; mode?: string }

/** A person has to see an authorization page. Without a request, the question `ask` is withdrawn. */
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
  /** Only for a served registry. */
  rememberSecrets?: boolean
  project?: string
  /** Absent in a replay: the page's own option counts. */
  resultBytes?: number
  callTimeoutMs: number
}

/**
 * Result of `call`: properties from Go and the tool's result, with its text form if that was made already.
 */
export type Called =
  & ResultBody
  & Pick<ToolResult, 'server' | 'tool' | 'isError' | 'durationMs' | 'truncated' | 'handle' | 'flags'>
  & { text?: string }

/** The servers of a new host, or of a page that joins a host. */
export interface Begin {
  servers: Record<string, ServerConfig>
  /** The names of those in the options of createRegistry. The others come from the storage. */
  given: string[]
  /** discover() was called before. */
  discovered?: boolean
}

/** The options of a module. */
export interface StartOptions
  extends
    Pick<RegistryOptions, 'proxy' | 'failureThreshold' | 'cooldownMs' | 'timeoutMs' | 'callTimeoutMs'>,
    Pick<RegistryOptions, 'idleTimeoutMs' | 'elicitationTimeoutMs'>,
    Pick<SignInOptions, 'clientMetadataUrl' | 'clientName'>
{
  limits?: Record<string, number>
  elicit?: boolean
  elicitUrl?: boolean
  sample?: boolean
  sampleTools?: boolean
  apps?: boolean | undefined
  roots?: Root[] | undefined
  /** The absolute URL of the redirect page. Without it there is no sign-in. */
  redirectUrl?: string | undefined
  /** Tokens are stored, encrypted. */
  remember?: boolean
  /** The URLs of the requests that left before the module started; see fetch/early.ts. */
  early?: string[]
  hints?: string
  /** The pins of earlier PinsEvents, by endpoint. */
  pins?: Record<string, string>
}
