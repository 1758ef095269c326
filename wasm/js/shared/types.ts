/**
 * Portolan, a browser-side client registry of MCP servers: discover → namespace
 * → convert → dispatch. This file is the published type declaration.
 */

/**
 * Returns a registry. The module is loaded and started now if a server is enabled,
 * or else when one first is. Rejects with a {@link RegistryError}.
 */
export declare function createRegistry(options?: RegistryOptions): Promise<Registry>
/**
 * Downloads and compiles the module, for registries that start later from the same
 * address. Without it that happens when the first server is switched on.
 */
export declare function preload(
  options?: Pick<RegistryOptions, 'wasm' | 'integrity' | 'host' | 'onProgress' | 'signal'>,
): Promise<void>
/** Returns the registry that lives at the other end of a channel. */
export declare function connectRegistry(channel: Channel): Promise<Registry>
/**
 * Serves a registry of this realm to another one, which calls {@link connectRegistry}. Returns a function that ends
 * it.
 */
export declare function serveRegistry(registry: Registry, channel: Channel): () => void
/** Wraps a Worker, a MessagePort or anything of that shape. */
export declare function portChannel(port: PortLike): Channel

/** What {@link createRegistry} takes. Every option has a default; an unknown one is refused by name. */
export interface RegistryOptions {
  /** The module, or where it is; default: `portolan.wasm` beside this script. */
  wasm?: string | URL | Response | BufferSource | WebAssembly.Module
  /**
   * The module's digest, as of script elements: `sha384-…`. Another file is refused
   * with `integrity_failed`. Only where `wasm` is an address.
   */
  integrity?: string
  /**
   * Where the module runs; `registry.mode` tells which it came to.
   * - `auto`, the default: a worker, or else the main thread
   * - `shared`: one worker for all tabs of the origin that say so, with one state and the
   *   options of the tab that started it; where there is no SharedWorker, as `auto`
   */
  mode?: 'auto' | 'shared' | 'worker' | 'main'
  /**
   * `Host` of `portolan/worker`, for realms that refuse import(): in a service
   * worker, `import { Host } from 'portolan/worker'` and pass it. Elsewhere it is found.
   */
  host?: ModuleHost
  /** Servers to begin with, by the name that the user gives them. They win over stored ones of the same name. */
  servers?: Record<string, ServerConfig>
  /** Template of the CORS proxy for servers with `proxy: true`: `https://proxy.example/?url={href}`. */
  proxy?: string
  /** Where server configurations are kept; default `local` (localStorage, where there is one). */
  storage?: 'local' | 'memory' | StorageAdapter | Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Keep header values and tokens too, encrypted under a non-extractable key in IndexedDB; default: only in memory. */
  rememberSecrets?: boolean
  /** Failures in a row that suspend a server; default 3. */
  failureThreshold?: number
  /** How long a server is first suspended, in ms; default 5,000. It grows up to 5 minutes. */
  cooldownMs?: number
  /** Bound on connecting to a server and on listing its tools, each, in ms; default 10,000. */
  timeoutMs?: number
  /** Bound on a call in all, in ms; default 120,000. */
  callTimeoutMs?: number
  /** Bound on the time in a call without progress, in ms; default 30,000. */
  idleTimeoutMs?: number
  /** Check arguments against the tool's inputSchema before sending them; default false. */
  validate?: boolean
  limits?: Partial<Limits>
  /** Answers a server's elicitation/create. Without it the capability is not announced. */
  onElicitation?: (request: ElicitationRequest) => Promise<ElicitationAnswer> | ElicitationAnswer
  /** How people sign in to servers that want it; see {@link Registry.signIn}. */
  signIn?: SignInOptions
  /**
   * Asked before each call, with what it would do; not for servers with `trust: 'trust'`. What it answers
   * with `always` and `never` is remembered, bound to the server's origin and path, the tool and its
   * {@link ToolInfo.pin}: a tool that changes is asked about anew. Without it calls run as they come. It may
   * take its time: a call's deadline begins afterwards.
   */
  onApprove?: (request: ApprovalRequest) => Promise<Approval> | Approval
  /**
   * Ask `onApprove` about the calls of trusted servers too, but for tools that say that they only read; default false.
   */
  approveAll?: boolean
  /**
   * Look definitions and results over for poison, here and by rules: {@link ToolInfo.flags} and
   * {@link ToolResult.flags}. Flags are hints and block nothing. Default false: only hidden text is flagged.
   */
  scan?: boolean
  /**
   * Records what servers say, or answers from such a record: what `record()` or `replay()` of `portolan/cassette`
   * returns.
   */
  cassette?: Cassette
  /** Told while the module loads. */
  onProgress?: (p: LoadProgress) => void
  signal?: AbortSignal
}

/** How people sign in. In a page nothing needs to be set, if the package is served from the page's origin. */
export interface SignInOptions {
  /**
   * Where authorization servers send people back: a page that loads the package's `callback.js`.
   * Default: `callback.html` beside this script. It has to be of the page's origin.
   */
  redirectUrl?: string
  /** The https address of a Client ID Metadata Document, for authorization servers that take one. */
  clientMetadataUrl?: string
  /** What the client calls itself where it registers; default `portolan`. */
  clientName?: string
  /**
   * Shows the authorization page and resolves to the address that it sent the person back to. Default: a popup, or
   * where it is blocked a redirect of this page. Node and workers have neither, and need this.
   */
  onAuthorize?: (request: AuthorizeRequest) => Promise<string> | string
}

/** A page of an authorization server that a person is to see. */
export interface AuthorizeRequest {
  server: string
  url: string
  /** The authorization server's host, to be shown. */
  host: string
  /** Nobody waits for the answer any more. */
  signal: AbortSignal
}

/** A recording of `portolan/cassette`, or one that is replayed. Its methods are between the files of one release. */
export interface Cassette {
  /** Between the files of one release: not to be called by others. */
  open(start: never, begin: never): Promise<unknown>
}

/** Runs the module. Its methods are between the files of one release. */
export interface ModuleHost {
  /** Between the files of one release: not to be called by others. */
  start(module: WebAssembly.Module, options: never): Promise<unknown>
}

/** How far a phase (`download`, `start`, `ready`) has come, in bytes where it is a download. */
export interface LoadProgress {
  loaded: number
  total?: number
  phase: string
}

/** One MCP server, as a user configures it. */
export interface ServerConfig {
  /** The http(s) endpoint, or `builtin:demo`. */
  url: string
  /** Sent with every request to the url's origin, and nowhere else. */
  headers?: Record<string, string>
  /**
   * Send the requests through the registry's proxy; default false. 'auto' goes
   * directly, and through the proxy where the browser cannot and no `headers`
   * would go along; what works is remembered.
   */
  proxy?: boolean | 'auto'
  /** Default true. */
  enabled?: boolean
  /** Default `auto`: streamable HTTP first, then legacy SSE. */
  transport?: 'auto' | 'streamable-http' | 'sse'
  /** Overrides the registry's `timeoutMs` for this server. */
  timeoutMs?: number
  /** Which tools are offered, by the server's own names. */
  tools?: { allow?: string[]; deny?: string[] }
  /** How to sign in, where what the server says of itself does not suffice. */
  auth?: AuthConfig
  /**
   * What happens when the server's tools change after they were first seen.
   * - `ask-on-change`, the default: the first list is taken as it is; a tool that differs from what was
   *   approved, or that has a new name, is held until `approveTools()`
   * - `ask-always`: new tools are held too, those of the first list among them, and `onApprove` is asked about every
   * call
   * - `trust`: nothing is held, the server's annotations count, and `onApprove` is not asked
   */
  trust?: 'trust' | 'ask-on-change' | 'ask-always'
  /** Hold new tools of a server that is known already; default false: they are offered. */
  holdNewTools?: boolean
}

/**
 * What a client is to an authorization server. Secrets (`clientSecret`, `privateKey`, `assertion`, `idToken`) can be
 * set and not read: they are kept as header values are, and shown as `[redacted]`.
 */
export interface AuthConfig {
  /** Default `authorization-code`: a person signs in. The others ask nobody. */
  flow?: 'authorization-code' | 'client-credentials' | 'jwt-bearer' | 'enterprise-managed'
  /** Of a client that was registered beforehand. Without it the client registers itself. */
  clientId?: string
  clientSecret?: string
  /** Instead of a secret: a PKCS#8 key in PEM, or a JWK as text, for `private_key_jwt`. */
  privateKey?: string
  /** Of the key; default ES256. */
  signingAlgorithm?: 'ES256' | 'RS256'
  /** The only authorization server that may hear of the client; default: the first that the server names. */
  issuer?: string
  /** Overrides `signIn.clientMetadataUrl`. */
  clientMetadataUrl?: string
  /** What to ask for; default: what the server wants. */
  scopes?: string[]
  /** With `jwt-bearer`: the workload's own token. */
  assertion?: string
  /** With `enterprise-managed`: the identity token of the person, and where it is exchanged. */
  idToken?: string
  idpTokenUrl?: string
  idpClientId?: string
}

/** A configuration as it may be shown: header values, and the secrets of `auth`, are replaced by `[redacted]`. */
export type RedactedConfig = ServerConfig

/** Servers, their tools, and calls to them. Methods reject with a {@link RegistryError}. */
export interface Registry extends AsyncDisposable {
  /**
   * `worker`, `shared`, `main`, `replay`, or `remote` for a connected one; before the module has started, what is
   * meant to be used.
   */
  readonly mode: string
  readonly version: string
  /** Takes a server in. After the first `discover()` it is connected to and listed at once. */
  addServer(name: string, config: ServerConfig): Promise<void>
  /** Changes the given fields. A patch field that is undefined takes its default. */
  updateServer(name: string, patch: Partial<ServerConfig>): Promise<void>
  /** Ends what the server is doing, and forgets it. */
  removeServer(name: string): Promise<void>
  /** Switches a server on or off: `updateServer` of `enabled`. */
  setEnabled(name: string, enabled: boolean): Promise<void>
  /** Forgets the server's failures and tries it now; resolves when that is decided. */
  retry(name: string): Promise<void>
  /**
   * Signs a person in to a server whose health says `signIn: 'needed'`, then tries the server. To be called from a
   * click, for it opens a window. Where popups are blocked the page itself goes to the authorization server, and the
   * next
   * `createRegistry` completes what was begun.
   */
  signIn(name: string, options?: { signal?: AbortSignal }): Promise<void>
  /** Forgets the server's tokens, and tells the authorization server so if it can be told. */
  signOut(name: string): Promise<void>
  /** Connects to the named or all enabled servers and lists their tools. One bad server never rejects it. */
  discover(names?: string[], options?: { signal?: AbortSignal }): Promise<Snapshot>
  /** The tools that a model may call now, in its format (default `openai`). Synchronous. */
  getTools(options?: GetToolsOptions & { format?: 'openai' }): OpenAITool[]
  /** For the Responses API. */
  getTools(options: GetToolsOptions & { format: 'openai-responses' }): OpenAIResponsesTool[]
  /** For the Messages API. */
  getTools(options: GetToolsOptions & { format: 'anthropic' }): AnthropicTool[]
  /** As function declarations for Gemini. */
  getTools(options: GetToolsOptions & { format: 'gemini' }): GeminiTool[]
  /** In a format that is known only when it runs. */
  getTools(options?: GetToolsOptions): Tool[]
  /** Whether a model may call a tool of that name now. */
  has(name: string): boolean
  /** Calls a tool and returns the text for the model. An answer with isError comes back as text. */
  dispatch(name: string, args: Record<string, unknown> | string, options?: DispatchOptions): Promise<string>
  /** Calls a tool and returns the whole answer. */
  call(name: string, args: Record<string, unknown> | string, options?: DispatchOptions): Promise<ToolResult>
  /**
   * Approves held tools of a server as they are now, by the server's own names; all if none are named. Resolves once
   * that is stored.
   */
  approveTools(server: string, tools?: string[]): Promise<void>
  /** What `onApprove` has answered with `always` and `never`. */
  approvals(): Promise<RememberedApproval[]>
  /** Forgets such answers, of one server or all. */
  forgetApprovals(server?: string): Promise<void>
  /** Reads on in a result whose text was cut. Rejects with `gone` once newer ones have taken its place. */
  readResult(handle: string, range?: ResultRange): Promise<ResultPart>
  /** How the servers are doing, by name. */
  getHealth(): Record<string, ServerHealth>
  /** The state; the same object until something changes. */
  getSnapshot(): Snapshot
  /** Calls the listener after each change; returns the function that ends it. */
  subscribe(listener: () => void): () => void
  /**
   * Tells the listener of calls made through this object, and of connections,
   * as they go on; returns the function that ends it. For timelines.
   */
  observe(listener: (a: Activity) => void): () => void
  /** Ends calls and connections, and the module if nobody else uses it. */
  close(): Promise<void>
}

/** Something that a registry does, as it goes on. Holds no arguments, results or header values. */
export interface Activity {
  /** The same for all events of one call or connection. */
  id: number
  kind: 'call' | 'connection'
  server: string
  /** What models call the tool. */
  tool?: string
  phase: 'begin' | 'progress' | 'end'
  /** In ms since the epoch. */
  at: number
  /** With `end`. */
  durationMs?: number
  /**
   * What the duration consists of, in order: a call's `waiting` and `server`, a connection's `connect` and `list`.
   * With `ok` and `tool_error`.
   */
  parts?: { name: string; ms: number }[]
  /** With `end`. */
  outcome?: 'ok' | 'tool_error' | 'error' | 'cancelled'
  /** Code of the {@link RegistryError}. */
  errorCode?: string
  /** Of the error or of the progress, at most 500 characters. */
  message?: string
  progress?: ToolProgress
}

/** Which tools, and in whose format. A tool is given if every condition admits it. */
export interface GetToolsOptions {
  format?: Dialect
  /** Only tools of these servers. */
  servers?: string[]
  /** Only these model names; a trailing `*` stands for any rest. */
  include?: string[]
  /** Not these. */
  exclude?: string[]
  /**
   * Add the tool `portolan_read_result`, by which a model reads on in results that were cut; `dispatch()` answers it
   * here. Default false.
   */
  readResult?: boolean
}

/** Whose format tools are given in. */
export type Dialect = 'openai' | 'openai-responses' | 'anthropic' | 'gemini'
/** A JSON Schema, as the server or the format has it. */
export type JSONSchema = Record<string, unknown>
/** A tool for Chat Completions and what is compatible with it. */
export interface OpenAITool {
  type: 'function'
  function: { name: string; description: string; parameters: JSONSchema }
}
/** A tool for the Responses API. */
export interface OpenAIResponsesTool {
  type: 'function'
  name: string
  description: string
  parameters: JSONSchema
  strict: false
}
/** A tool for the Messages API. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: JSONSchema
}
/** A function declaration for Gemini. */
export interface GeminiTool {
  name: string
  description: string
  parameters?: JSONSchema
}
/** A tool in one of the formats. */
export type Tool = OpenAITool | OpenAIResponsesTool | AnthropicTool | GeminiTool

/** What one call may be given beside its arguments. */
export interface DispatchOptions {
  /** Ends the call here and on the server. */
  signal?: AbortSignal
  /** Bounds this call, in ms. */
  timeoutMs?: number
  /** Told how far the call has come, where the server says so. */
  onProgress?: (p: ToolProgress) => void
}

/** How far a call has come, in units of the server's own. */
export interface ToolProgress {
  progress: number
  total?: number
  message?: string
}

/** A content block of the spec; which fields it has depends on its type. */
export type ContentBlock =
  | { type: 'text'; text: string; [key: string]: unknown }
  | { type: 'image' | 'audio'; data: string; mimeType: string; [key: string]: unknown }
  | {
    type: 'resource'
    resource: { uri: string; mimeType?: string; text?: string; blob?: string; [key: string]: unknown }
    [key: string]: unknown
  }
  | { type: 'resource_link'; uri: string; name: string; [key: string]: unknown }

/** A tool's answer, whole. */
export interface ToolResult {
  /** The answer as one text for a model. */
  text: string
  content: ContentBlock[]
  structuredContent?: unknown
  isError: boolean
  server: string
  /** The server's own name for the tool. */
  tool: string
  durationMs: number
  /** Where the answer comes from. */
  provenance: Provenance
  /**
   * The text was cut to `limits.resultBytes`: its beginning and its end, and between them how much is missing.
   * `content` is whole.
   */
  truncated?: boolean
  /** With `truncated`: what `readResult()` takes. */
  handle?: string
  /** What in the answer is suspicious: hidden text, and with the option `scan` more. */
  flags?: Flag[]
}

/** Where an answer comes from. It is a stranger's word, whoever the server is. */
export interface Provenance {
  server: string
  tool: string
  origin: string
  untrusted: true
}

/** Which part of a text, in characters as JavaScript counts them; by default 20,000 from the start. */
export interface ResultRange {
  offset?: number
  length?: number
}
/** A part of a text; `total` is the length of the whole. */
export interface ResultPart {
  text: string
  offset: number
  total: number
}

/** Something suspicious in what a server says. A hint: it may be harmless, and nothing is blocked for it. */
export interface Flag {
  /**
   * Which kind: `hidden_text`, `concealment`, `pseudo_tag`, `override`, `sensitive_path`, `exfiltration`, `shadowing`,
   * `parameter`, `blob`, `data_url`, `lookalike`, …
   */
  rule: string
  /** JSON pointer into the definition or the result. */
  where: string
  /** What stands there, shortened, with hidden characters as `⟨U+200B⟩`. */
  excerpt: string
}

/** What `onApprove` is asked. */
export interface ApprovalRequest {
  server: string
  /** The server's own name for the tool, and what models call it. */
  tool: string
  name: string
  args: Record<string, unknown>
  description: string
  /** What the server says the tool does: a claim, unless `trusted`. */
  annotations: Record<string, unknown>
  /** The user trusts this server (`trust: 'trust'`). */
  trusted: boolean
  /** What the answer is bound to; see {@link ToolInfo.pin}. */
  pin: string
  flags: Flag[]
  /** Aborted when the call is, and once the same question was answered for good elsewhere, in this tab or another. */
  signal: AbortSignal
}
/** What the user said. `always` and `never` are remembered, but for servers with `ask-always`. */
export type Approval = 'once' | 'always' | 'deny' | 'never'
/** An answer that is remembered, for a tool as it was then. */
export interface RememberedApproval {
  server: string
  tool: string
  pin: string
  approval: 'always' | 'never'
}

/** How a server is doing. */
export interface ServerHealth {
  status: 'disabled' | 'disconnected' | 'connecting' | 'connected' | 'error'
  /** Failed too often in a row; `retryAt` says when it is tried again. */
  suspended: boolean
  /** Tools offered; `toolTotal` counts those listed, before `config.tools`. */
  toolCount: number
  toolTotal: number
  /** Tools held until they are approved; absent if there are none. */
  heldCount?: number
  transport?: 'streamable-http' | 'sse'
  protocolVersion?: string
  /** Times are in ms since the epoch. */
  lastSuccessful: number | null
  lastConnected: number | null
  lastError: string | null
  /** The code and hint that a {@link RegistryError} for `lastError` has. */
  errorCode?: string
  hint?: string
  consecutiveFailures: number
  retryAt: number | null
  /** Of the last list or call. */
  latencyMs: number | null
  /** What the last list left out, and why. */
  warnings?: string[]
  /** `needed`: the server wants a person to sign in, at `signInHost`; see {@link Registry.signIn}. */
  signIn?: 'needed' | 'signed-in'
  signInHost?: string
  /** What the server calls itself; not to be trusted. */
  serverInfo?: { name: string; version: string }
}

/** The state at one moment. It is never changed; what differs later is in another object. */
export interface Snapshot {
  status: 'idle' | 'discovering' | 'ready' | 'partial'
  /** Grows with every change. */
  version: number
  servers: Record<string, ServerHealth & { config: RedactedConfig }>
  /** What models may call. */
  tools: ToolInfo[]
  /** What servers listed and `config.tools` leaves out; models cannot call it. */
  withheld: ToolInfo[]
  /** What servers changed or added and nobody has approved yet; models cannot call it. */
  held: HeldTool[]
}

/** A tool, with both of its names. */
export interface ToolInfo {
  /** What models call it. */
  name: string
  server: string
  /** The server's own name for it. */
  tool: string
  /** The tool as its server defines it (Tool of the spec), without hidden text. */
  definition: ToolDefinition
  /**
   * SHA-256 of what the server defines, base64url: equal as long as nothing changes that models or users see.
   * Tools of a long list that is seen for the first time get theirs a moment later.
   */
  pin?: string
  /** What in the definition is suspicious: hidden text, and with the option `scan` more. */
  flags?: Flag[]
}

/** A tool that is held until `approveTools()`. */
export interface HeldTool extends ToolInfo {
  /** It differs from what was approved; or its name was not there before; or only its name is another. */
  reason: 'changed' | 'new' | 'renamed'
  /** The approved definition, as far as it is still known. */
  before?: ToolDefinition
  /** With `renamed`: the name that was approved. */
  renamedFrom?: string
  /** Which parts differ: `name`, `title`, `description`, `inputSchema`, `outputSchema`, `annotations`, `_meta`. */
  changes: string[]
}

/** `Tool` of the MCP specification. */
export interface ToolDefinition {
  name: string
  title?: string
  description?: string
  inputSchema: JSONSchema
  outputSchema?: JSONSchema
  annotations?: Record<string, unknown>
  [key: string]: unknown
}

/** Bounds on what servers can make the registry hold. Bytes, counts and levels. */
export interface Limits {
  /** One response; 16 MiB, or 4 MiB where the module runs on the main thread. */
  responseBytes: number
  /** One event of a stream; 4 MiB. */
  eventBytes: number
  /** What is read of a refusal; 64 KiB. */
  errorBytes: number
  /** A server's words in an error or a warning; 2 KiB. */
  messageBytes: number
  /** One tool's definition; 64 KiB. */
  definitionBytes: number
  /** One tool's description; 4 KiB. */
  descriptionBytes: number
  /** Nesting of any JSON; 128. */
  depth: number
  /** How deep schemas lie in a tool's schema; 32. */
  schemaDepth: number
  /** Schemas in a tool's schema; 1,000. */
  schemaNodes: number
  /** Values of an enum; 500. */
  enumValues: number
  /** Pages of one list; 100. */
  pages: number
  /** 1,000. */
  toolsPerServer: number
  /** Of all servers; 5,000. */
  tools: number
  /** All pages of one list; 16 MiB. */
  listBytes: number
  /** The text form of a result; 1 MiB. */
  resultBytes: number
  /** Elements and members of one result, which take many times its size once it is parsed; 600,000. */
  resultValues: number
  /** Notifications that are decoded, per server; 200. More are counted and dropped. */
  eventsPerSecond: number
  /** Requests of a server that are answered; 10. More are counted and dropped. */
  pingsPerSecond: number
  /** Tries to connect to a server in 10 s; 20. */
  connects: number
  /** The module's own memory; beyond it the module is replaced while no call is under way; 256 MiB. */
  memoryBytes: number
}

/** What a server asks the user during a call (`elicitation/create`). */
export interface ElicitationRequest {
  server: string
  message: string
  requestedSchema?: JSONSchema
  [key: string]: unknown
}
/** What the user said; `content` with `accept`, of the requested schema. */
export interface ElicitationAnswer {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown>
}

/** Keeps small texts by key. May answer later. */
export interface StorageAdapter {
  /** The text that was kept, or nothing. */
  get(key: string): string | null | undefined | Promise<string | null | undefined>
  /** Keeps a text, in place of what was there. */
  set(key: string, value: string): void | Promise<void>
  /** Forgets a text. */
  remove(key: string): void | Promise<void>
}

/** Carries messages to the other side, in order. */
export interface Channel {
  /** Sends a message, which can be cloned structurally. */
  post(message: unknown, transfer?: Transferable[]): void
  /** Set by the one who listens. */
  onmessage: ((message: unknown) => void) | null
  /** No message comes or goes afterwards. */
  close(): void
}

/** What Worker, MessagePort and the inside of a worker have in common. */
export interface PortLike {
  /** Sends a message to the other side. */
  postMessage(message: unknown, transfer?: Transferable[]): void
  /** Has the listener called with messages of the other side. */
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  /** Ends that. */
  removeEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  /** Of a MessagePort: lets messages come. */
  start?(): void
  /** Of a MessagePort. */
  close?(): void
  /** Of a Worker. */
  terminate?(): void
}

/** Every fault that a caller can meet. */
export declare class RegistryError extends Error {
  constructor(code: string, message: string, details?: RegistryErrorDetails)
  /** Stable, snake_case: `unknown_tool`, `timeout`, `invalid_config`, … */
  readonly code: string
  readonly server?: string
  /** HTTP status, where one was the cause. */
  readonly status?: number
  /** What to do about it. */
  readonly hint?: string
  /** The same call may work later, unchanged. */
  readonly retryable: boolean
}
/** What a {@link RegistryError} can be given beside code and message. */
export interface RegistryErrorDetails {
  server?: string
  status?: number
  hint?: string
  retryable?: boolean
  cause?: unknown
}
