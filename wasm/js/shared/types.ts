/// <reference lib="esnext.disposable" />
/**
 * Portolan, a browser-side client registry of MCP servers: discover → namespace
 * → convert → dispatch. This file is the published type declaration.
 */

/** The types of Node lack it. The types of browsers declare the same. */
declare global {
  namespace WebAssembly {
    interface Module {}
  }
}

/**
 * Creates a registry. The module starts now if a server is enabled, else when the first server becomes enabled.
 * Rejects with a {@link RegistryError}, such as `unsupported` in an old browser. If the last visit kept the lists of
 * all `servers`, it resolves with them, and the module starts meanwhile. If that fails, health and requests have the
 * error.
 */
export declare function createRegistry(options?: RegistryOptions): Promise<Registry>
/**
 * Downloads, compiles and starts the module in advance. The next registry with the same address and mode takes the
 * running module, and later ones share the compiled module. Without preload, the module loads when the first server
 * becomes enabled. In mode `shared`, the module is only compiled.
 */
export declare function preload(
  options?: Pick<RegistryOptions, 'wasm' | 'integrity' | 'mode' | 'host' | 'onProgress' | 'signal'>,
): Promise<void>
/** Connects to the registry that is served at the other end of a channel. */
export declare function connectRegistry(channel: Channel): Promise<Registry>
/**
 * Serves a registry to another realm, which calls {@link connectRegistry}. It ends when that registry closes, or with
 * the returned function: call it when the other realm has gone without a word, as a frame does that is removed.
 */
export declare function serveRegistry(registry: Registry, channel: Channel): () => void
/** Makes a channel of a Worker, a MessagePort or another object with the same methods. */
export declare function portChannel(port: PortLike): Channel

/** Options of {@link createRegistry}. Every option has a default. An unknown option is rejected by name. */
export interface RegistryOptions {
  /** The module or its address. Default: `portolan.wasm` beside this script. */
  wasm?: string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module
  /**
   * The module's digest, written as for script elements: `sha384-…`. Another file rejects with `integrity_failed`.
   * Only for a `wasm` that is an address.
   */
  integrity?: string
  /**
   * Where the module runs. `registry.mode` shows the result.
   * - `auto`, the default: a worker, or else the main thread
   * - `shared`: one worker, with one state, for all tabs of the origin that use this mode and have the same `project`.
   *   The options of the first tab count. Without SharedWorker, the mode is `auto`.
   */
  mode?: 'auto' | 'shared' | 'worker' | 'main'
  /**
   * `Host` of `portolan/worker`. Only service workers need it, because they cannot use import().
   */
  host?: ModuleHost
  /** The first servers, by name. They replace stored servers of the same name. */
  servers?: Record<string, ServerConfig>
  /** Template of the CORS proxy for servers with `proxy: true`: `https://proxy.example/?url={href}`. */
  proxy?: string
  /** Where configurations are stored. Default: `local`, which is localStorage if the page has it. */
  storage?: 'local' | 'memory' | StorageAdapter | StorageLike
  /**
   * Stores header values and tokens too, encrypted with a non-extractable key in IndexedDB. Default: false, in memory.
   * A server can differ; see {@link ServerConfig.rememberSecrets}.
   */
  rememberSecrets?: boolean
  /**
   * Keeps the last list of each server, encrypted, in IndexedDB: 2 Mi characters for one server, 8 MiB in all. The next
   * visit offers it at once; see {@link ToolInfo.stale}. Servers with `ask-always` are left out, and without
   * `rememberSecrets` those that a user signed in to. Default: true with `storage: 'local'`, else false. With
   * `storage: 'memory'` or `host`, nothing is kept.
   */
  definitionsCache?: boolean
  /**
   * The id of the project that the page works on. The registry has the user's servers and the project's. A project's
   * server hides the user's of the same name. `enabled` and `tools` of the user's servers may differ in a project.
   */
  project?: string
  /** Consecutive failures after which a server is suspended. Default: 3. */
  failureThreshold?: number
  /** Length of the first suspension, in ms. Default: 5,000. Later suspensions last up to 5 minutes. */
  cooldownMs?: number
  /** Deadline of connecting to a server, and of listing its tools, in ms. Default: 10,000 each. */
  timeoutMs?: number
  /** Deadline of a call, in ms. Default: 120,000. */
  callTimeoutMs?: number
  /** Longest time without progress in a call, in ms. Default: 30,000. */
  idleTimeoutMs?: number
  /**
   * Checks arguments against the tool's inputSchema before a call. JSON Schema 2020-12, 2019-09, draft 7 and draft 6
   * are read. Another `$schema` fails the call and is named. References to other documents are never fetched.
   * Default: false.
   */
  validate?: boolean
  /**
   * Checks `structuredContent` after a call of a tool with an outputSchema. A result that lacks it does not fit.
   * - `flag`, the default: adds up to five flags with the rule `schema_mismatch` to {@link ToolResult.flags}
   * - `error`: rejects with `invalid_result`. The tool has run, and its server stays healthy.
   * - `off`: checks nothing
   */
  validateResults?: 'off' | 'flag' | 'error'
  /**
   * Looks for secrets in calls: values of the registry's headers and of `auth`, and texts that look like keys.
   * - `flag`: arguments for another host than the secret's ask {@link onApprove}, if there is one, in any case. Results
   *   get flags with the rule `secret`. {@link Activity} has no likely secret.
   * - `block`: such arguments reject with `secret_blocked` before anything is sent. The rest is as with `flag`.
   * - `off`, the default
   */
  secrets?: 'off' | 'flag' | 'block'
  /** Bounds on data from servers. Default: those that {@link Limits} names. */
  limits?: Partial<Limits>
  /**
   * Answers questions of servers by a form (elicitation). Without it, servers do not see this capability. The call's
   * deadlines stand still meanwhile. An answer that does not fit the schema fails the call with `invalid_arguments`.
   * A server has at most three questions open at once, and further ones get `cancel`.
   */
  onElicitation?: (request: ElicitationRequest) => Promise<ElicitationAnswer> | ElicitationAnswer
  /**
   * Asks to open an address for a server (elicitation, mode `url`), such as a payment page. Without it, servers
   * do not see this capability. Open the address only after a click, and show its whole host before.
   */
  onElicitationUrl?: (
    request: ElicitationUrlRequest,
  ) => Promise<ElicitationAnswer['action']> | ElicitationAnswer['action']
  /**
   * Answers a server's request for a message of your model (sampling), or throws. Show the user the messages before
   * the model gets them, and the answer before you return it: `<portolan-panel>.sample()` does. Without it, servers
   * do not see this capability. Only servers of 2025-11-25 and before do; each gets 5 messages a minute.
   */
  onSampling?: (
    request: SamplingRequest,
    context: { signal: AbortSignal },
  ) => Promise<SamplingResult> | SamplingResult
  /** Lets servers offer your model tools in {@link onSampling}. Default: false. */
  samplingTools?: boolean
  /**
   * The page shows apps of tools, with `<portolan-app>` of `portolan/apps`. Servers see the capability
   * `io.modelcontextprotocol/ui`, and apps may call those tools of their server that are not for models.
   * Default: false.
   */
  apps?: boolean
  /**
   * The user's folders, for servers of 2025-11-25 and before. Every server that is on may read the list. Without it,
   * servers do not see this capability. Pass `[]` if they come later, by {@link Registry.setRoots}.
   */
  roots?: Root[]
  /** The longest time of a question, in ms. Then the server gets `cancel`. Default: 600,000. */
  elicitationTimeoutMs?: number
  /** The way in which users sign in to servers; see {@link Registry.signIn}. */
  signIn?: SignInOptions
  /**
   * Asks the user before each call, except on servers with `trust: 'trust'`. Without it, calls run at once.
   * The registry remembers `always` and `never` for the server's origin and path, the tool and its
   * {@link ToolInfo.pin}. If the tool changes, the user is asked again. The call's deadline starts after the answer.
   */
  onApprove?: (request: ApprovalRequest) => Promise<Approval> | Approval
  /** Also asks about calls on trusted servers, except for read-only tools. Default: false. */
  approveAll?: boolean
  /**
   * Scans definitions and results for suspicious text, in this page: {@link ToolInfo.flags} and
   * {@link ToolResult.flags}. Flags are hints and block nothing. Default: false, which flags hidden text only. What a
   * person reviews is always scanned: held tools, and tools of {@link RegistryOptions.onApprove}.
   */
  scan?: boolean
  /**
   * Records responses of servers, or replays them. The value comes from `record()` or `replay()` of
   * `portolan/cassette`.
   */
  cassette?: Cassette
  /** Receives the progress of loading the module. */
  onProgress?: (p: LoadProgress) => void
  /** Ends createRegistry, which rejects with `aborted`. It does nothing to a registry that has been created. */
  signal?: AbortSignal
}

/** The way in which users sign in. The defaults work in a page if the package is served from the page's origin. */
export interface SignInOptions {
  /**
   * The redirect URL for authorization servers: a page of this origin that loads the package's `callback.js`.
   * Default: `callback.html` beside this script.
   */
  redirectUrl?: string
  /** The https address of a Client ID Metadata Document, for authorization servers that support it. */
  clientMetadataUrl?: string
  /** The client's name in registrations. Default: `portolan`. */
  clientName?: string
  /**
   * Shows the authorization page and resolves to the redirect's whole URL. Default: a popup, or a redirect of this
   * page if popups are blocked. Node and workers have no default.
   */
  onAuthorize?: (request: AuthorizeRequest) => Promise<string> | string
}

/** An authorization page for the user. */
export interface AuthorizeRequest {
  server: string
  url: string
  /** The authorization server's host. Show it to the user. */
  host: string
  /** Aborted when the result is no longer needed. */
  signal: AbortSignal
}

/** A recording or a replay of `portolan/cassette`. */
export interface Cassette {
  /** Internal: only files of the same release may call it. */
  open(start: never, begin: never): Promise<unknown>
}

/** Runs the module. */
export interface ModuleHost {
  /** Internal: only files of the same release may call it. */
  load(module: WebAssembly.Module): Promise<unknown>
}

/** Progress of loading the module. The numbers of `download` are bytes. */
export interface LoadProgress {
  loaded: number
  total?: number
  phase: 'download' | 'start' | 'ready'
}

/** The configuration of one MCP server. */
export interface ServerConfig {
  /** The http(s) endpoint, or `builtin:demo`. */
  url: string
  /**
   * Sent with every request to the url's origin, and nowhere else. Values are printable ASCII. Refused are
   * `Cookie`, `Origin`, `User-Agent`, and headers that the protocol sets, such as `Accept`.
   */
  headers?: Record<string, string>
  /**
   * Whether requests go through the registry's proxy. Default: false. `'auto'`: direct first; the proxy only if CORS
   * blocks it and the server has no `headers`. The choice is remembered.
   */
  proxy?: boolean | 'auto'
  /** Default true. */
  enabled?: boolean
  /** Default `auto`: streamable HTTP first, then legacy SSE. */
  transport?: 'auto' | 'streamable-http' | 'sse'
  /** The registry's `timeoutMs` for this server, in ms, up to a day. Default: the registry's. */
  timeoutMs?: number
  /** The most calls at the same time, 1 to 1,000; more wait for their turn. Default: `limits.callsPerServer`. */
  concurrency?: number
  /**
   * The idle time after which a session of 2025-11-25 or before is pinged, in ms, from 1,000. A session that does not
   * answer is replaced by the next call. Default: never.
   */
  pingMs?: number
  /**
   * A call that got no answer, or 429 or 503, is sent again, unless a `Retry-After` is above 30 s. `attempts` is how
   * often it is sent at most, from 1 to 5. Only tools with `readOnlyHint` or `idempotentHint`, and only with
   * `trust: 'trust'`. Default: once.
   */
  retry?: { attempts: number }
  /** The least level of the log that the server is asked to send. Default: what the server chooses. */
  logLevel?: LogLevel
  /** Tools to offer or to withhold, by the server's names. */
  tools?: { allow?: string[]; deny?: string[] }
  /** Changes how models see tools, by the server's names. A name that another tool has is refused. 64 KiB at most. */
  overrides?: Record<string, ToolOverride>
  /** Sign-in settings, for servers whose own metadata is not enough. */
  auth?: AuthConfig
  /**
   * Whether changes of the server's tools need approval.
   * - `ask-on-change`, the default: the first list is approved as it is. A changed or renamed tool is held until
   *   `approveTools()`.
   * - `ask-always`: new tools are held too, also those of the first list. `onApprove` is asked about every call.
   *   Servers with one address share approvals, so first lists of the others are held as well.
   * - `trust`: no tool is held, the server's annotations are believed, and `onApprove` is not asked.
   */
  trust?: 'trust' | 'ask-on-change' | 'ask-always'
  /** Holds new tools of a known server. Default: false, which offers them. */
  holdNewTools?: boolean
  /**
   * Stores this server's header values and the secrets of `auth`, encrypted. With false they end with the page.
   * Default: the registry's `rememberSecrets`, which also decides about the tokens of sign-ins.
   */
  rememberSecrets?: boolean
}

/** The tool that models see, and the arguments that its server gets. Pins and approvals are about the server's tool. */
export interface ToolOverride {
  /** In the tool's name for models, in place of the server's. At most 128 bytes. */
  name?: string
  title?: string
  description?: string
  /** Parameters that models do not see. A value that a model gives anyway is removed. */
  hideParams?: string[]
  /** Arguments of every call, which models do not see. They are stored and shown: no place for secrets. */
  fixed?: Record<string, unknown>
}

/**
 * Sign-in settings of a server. Secrets (`clientSecret`, `privateKey`, `assertion`, `idToken`) can be set but not read:
 * they read as `[redacted]` and are stored like header values. One whose value was not stored reads as an empty text,
 * and a warning of the server names it.
 */
export interface AuthConfig {
  /** Default: `authorization-code`, in which a user signs in. The other flows need no user. */
  flow?: 'authorization-code' | 'client-credentials' | 'jwt-bearer' | 'enterprise-managed'
  /** The id of a registered client. Without it, the client registers itself. */
  clientId?: string
  clientSecret?: string
  /** For `private_key_jwt` in place of a secret: a PKCS#8 key in PEM, or a JWK as text. */
  privateKey?: string
  /** The key's algorithm. Default: ES256. */
  signingAlgorithm?: 'ES256' | 'RS256'
  /** The only authorization server to use. Default: the first that the server names. */
  issuer?: string
  /** Overrides `signIn.clientMetadataUrl`. */
  clientMetadataUrl?: string
  /** The scopes to request. Default: those that the server names. */
  scopes?: string[]
  /** With `jwt-bearer`: the workload's own token. */
  assertion?: string
  /** With `enterprise-managed`: the user's identity token, and the address that exchanges it. */
  idToken?: string
  idpTokenUrl?: string
  idpClientId?: string
}

/** A configuration without secrets: header values and the secrets of `auth` read `[redacted]`. */
export interface RedactedConfig extends ServerConfig {
  /** Headers of an earlier visit, whose values were not stored. They are not sent until `updateServer` has set them. */
  missingHeaders?: string[]
}

/** Where the module of a registry runs. */
export type Mode = 'worker' | 'shared' | 'main' | 'replay' | 'remote'

/** Where a server belongs, in a registry with a project. `override`: `enabled` and `tools` are the project's. */
export type Scope = 'user' | 'project' | 'override'

/** Where an added server, or a change of one, belongs in a registry with a project. */
export interface ScopeOptions {
  /**
   * `project`: adds a server to the project, or changes `enabled` and `tools` of a user's server in this project only.
   * `user`: ends such a change. Without it, an added server is the user's, and a change stays where the server is.
   */
  scope?: 'user' | 'project'
}

/** Servers, their tools, and calls to them. Methods reject with a {@link RegistryError}. */
export interface Registry extends AsyncDisposable {
  /** Where the module runs; `remote` for a connected registry. Before the module has started, the intended mode. */
  readonly mode: Mode
  readonly version: string
  /** The option `rememberSecrets`: what holds for servers without a choice of their own. */
  readonly rememberSecrets: boolean
  /** The option `project`. */
  readonly project?: string | undefined
  /**
   * Adds a server. After the first `discover()`, it connects and lists the server's tools at once. A name has 1 to 64
   * characters. It cannot be one that every object has, such as `constructor`.
   */
  addServer(name: string, config: ServerConfig, options?: ScopeOptions): Promise<void>
  /** Changes the given fields. An undefined field is reset to its default. */
  updateServer(name: string, patch: Partial<ServerConfig>, options?: ScopeOptions): Promise<void>
  /**
   * Gives a server another name, which its tools then have, and ends its calls. Its configuration, secrets, sign-in,
   * approvals and pins stay.
   */
  renameServer(name: string, to: string): Promise<void>
  /** Removes a server and ends its calls. */
  removeServer(name: string): Promise<void>
  /** Enables or disables a server. The same as `updateServer` with `enabled`. */
  setEnabled(name: string, enabled: boolean, options?: ScopeOptions): Promise<void>
  /** Clears the server's failures and connects again. Resolves when the attempt has ended. */
  retry(name: string): Promise<void>
  /**
   * Signs the user in to a server whose health says `signIn: 'needed'`, then connects. Call it from a click, because
   * it opens a window; in Safari, before the click awaits anything else. If popups are blocked, the page itself goes
   * to the authorization server, and the next `createRegistry` completes the sign-in.
   */
  signIn(name: string, options?: { signal?: AbortSignal }): Promise<void>
  /** Deletes the server's tokens, and revokes them if the authorization server supports it. */
  signOut(name: string): Promise<void>
  /** Connects to the named servers, or to all enabled ones, and lists their tools. A failing server does not reject. */
  discover(names?: string[], options?: { signal?: AbortSignal }): Promise<Snapshot>
  /** The tools that a model may call now, in a dialect. Default: `openai`. Synchronous. */
  getTools(options?: GetToolsOptions & { format?: 'openai' }): OpenAITool[]
  /** For the Responses API. */
  getTools(options: GetToolsOptions & { format: 'openai-responses' }): OpenAIResponsesTool[]
  /** For the Messages API. */
  getTools(options: GetToolsOptions & { format: 'anthropic' }): AnthropicTool[]
  /** As function declarations for Gemini. */
  getTools(options: GetToolsOptions & { format: 'gemini' }): GeminiTool[]
  /** For the AI SDK, by name. The tools have no `execute`: see {@link toolsFor}. */
  getTools(options: ToolFilter & { format: 'ai-sdk' }): Record<string, AISDKTool>
  /** For a format that is chosen at run time. */
  getTools(options?: GetToolsOptions): Tool[]
  /**
   * The tools for `generateText` and `streamText` of the AI SDK 7, by name. `execute` calls the tool and gives the
   * whole result. `toModelOutput` makes the model's form of it, with {@link toMessage}.
   */
  toolsFor(format: 'ai-sdk', options?: ToolFilter & MediaOptions): Record<string, RunnableAISDKTool>
  /** The parts of the tools' schemas that a dialect cannot express, in the order of the tools. */
  losses(format: Dialect, filter?: ToolFilter): Loss[]
  /**
   * A narrower registry for one agent: fewer tools, budgets, an approval of its own. It follows the registry, and it
   * has views of its own, which are narrower still.
   */
  view(options?: ViewOptions): View
  /**
   * Ranks the tools that fit a task, the best first. Without `model`, it searches as {@link search} does. With it, your
   * model chooses among names and first sentences, and names that it made up are dropped.
   */
  suggest(task: string, options?: SuggestOptions): Promise<SuggestedTool[]>
  /**
   * Offers functions of this page as the tools of a server of that name. Adds to those that it has, and replaces those
   * of the same name. They end with this registry, with {@link removeServer}, or with the page. Their arguments are
   * always checked against `inputSchema`. Rejects with `invalid_config` for a name that models could not use.
   */
  addTools(server: string, tools: readonly LocalTool[]): Promise<void>
  /**
   * Offers the functions of {@link addTools} to the browser's agents, by `document.modelContext` (WebMCP, draft of June
   * 2026) or the older `navigator.modelContext`. Where the browser has neither, it does nothing. Later additions and
   * removals are followed. Tools of servers are not offered. Their results are foreign texts, and the user approved
   * the servers for this app only.
   *
   * A call passes the checks, approvals and activities of {@link call}. It resolves to a `CallToolResult`, and a
   * failure is one with `isError`, whose text ends with the code. `openWorldHint` becomes `untrustedContentHint`.
   *
   * `document` is by default that of the page. `onRefused` gets an error with `unsupported` for each tool that the
   * browser refuses, such as one whose name the page has registered itself. The other tools are offered, and that one
   * once its name is free. A document without a window, as of a removed frame, gets none. Rejects with `unsupported` if
   * `modelContext` has no `registerTool`. The returned function takes the tools back and ends their calls. So does
   * {@link close}.
   */
  publishTools(document?: object, onRefused?: (error: RegistryError, tool: string) => void): Promise<() => void>
  /** Whether a model may call a tool with this name now. */
  has(name: string): boolean
  /** Calls a tool and returns the text for the model. A result with `isError` resolves to its text. */
  dispatch(name: string, args: Record<string, unknown> | string, options?: DispatchOptions): Promise<string>
  /** Calls a tool and returns the whole result. */
  call(name: string, args: Record<string, unknown> | string, options?: DispatchOptions): Promise<ToolResult>
  /**
   * Lets the server run the call as a task, if it can, and resolves at once to its handle. The handle is stored without
   * secrets, so that a later visit or another tab can wait on; see {@link tasks}.
   */
  call(
    name: string,
    args: Record<string, unknown> | string,
    options: DispatchOptions & { detach: true },
  ): Promise<TaskHandle>
  /** The tasks of detached calls that are not over, of earlier visits and other tabs too. At most 100 are kept. */
  tasks(): Promise<TaskHandle[]>
  /**
   * Makes the provider's answer to a tool call of a result, with its images, audio and documents where the format and
   * `modalities` take them. In place of others stand markers, as in `result.text`. A result with `isError`, and every
   * answer for Chat Completions, is text only. Content for the user alone is left out.
   *
   * A text is as long as `result.text`, and a cut one keeps its handle. At most 20 blocks are not text.
   */
  toMessage<F extends MessageFormat>(result: ToolResult, options: MessageOptions<F>): Promise<ToolMessages[F]>
  /**
   * Approves held tools in their current version, by the server's names. Default: all. `pin:` and the pin of a held
   * tool approve only that version, and reject with `held` if the tool has another one by now. Resolves once the
   * approval is stored.
   */
  approveTools(server: string, tools?: string[]): Promise<void>
  /** The remembered answers of `onApprove`: `always` and `never`. */
  approvals(): Promise<RememberedApproval[]>
  /** Deletes remembered answers, of one server or of all. */
  forgetApprovals(server?: string): Promise<void>
  /** Reads a part of a result whose text was cut. Rejects with `gone` if newer results have replaced it. */
  readResult(handle: string, range?: ResultRange): Promise<ResultPart>
  /**
   * Lists the resources of servers, at first asking the servers. A server that fails is left out, and its error is in
   * its health. Rejects only if all servers fail.
   */
  resources(options?: ListOptions): Promise<ResourceInfo[]>
  /** Lists the resource templates, like `resources()`. */
  resourceTemplates(options?: ListOptions): Promise<ResourceTemplateInfo[]>
  /**
   * Reads a resource. The server fetches what the URI names; the registry never does. Rejects with `unknown_resource`
   * if the server does not know the URI.
   */
  readResource(server: string, uri: string, options?: ReadOptions): Promise<ResourceResult>
  /**
   * Calls the listener after each update of a resource, at most once a second, over reconnects too. Resolves to the
   * function that ends it, once the server has agreed. Rejects with `unsupported` if the server reports no updates.
   */
  subscribeResource(server: string, uri: string, listener: () => void): Promise<() => void>
  /** Lists the prompts, like `resources()`. With `held: true` it lists those that wait for {@link approvePrompts}. */
  prompts(options?: ListOptions & { held?: boolean }): Promise<PromptInfo[]>
  /**
   * Approves held prompts as they are now, by the server's own names; without names, all that are held. Rejects with
   * `unknown_prompt` if one of them is not held. `pin:` and the pin of a held prompt approve only that version, and
   * reject with `held` if the prompt has another one by now.
   */
  approvePrompts(server: string, prompts?: string[]): Promise<void>
  /**
   * Lists the skills of servers that have the extension `io.modelcontextprotocol/skills`, like `resources()`. It reads
   * no file. With `held: true` it lists those that wait for {@link approveSkills}. A list need not be complete:
   * `getSkill` takes URIs of other skills too. With `format: 'text'` it is one text for a system prompt: an index of
   * names, URIs and descriptions with a fence around each server's words.
   */
  skills(options?: ListOptions & { held?: boolean }): Promise<SkillInfo[]>
  /** The index as one text for a system prompt. */
  skills(options: ListOptions & { format: 'text' }): Promise<string>
  /**
   * Loads a skill of a server, by the URI of its SKILL.md, or by its name if the server lists one skill of that name.
   * Size, digest and frontmatter of SKILL.md are compared with the skill's entry. Nothing of a skill is ever executed.
   * Rejects with `unknown_skill`, and with `held` if the skill waits for its approval. Rejects with `invalid_skill` if
   * entry or content are not as they must be, also after the entry was asked for again. With `held: true` it loads a
   * skill that waits too, for a person who reads it before the approval: give a model nothing of it. Its `pin` is the
   * version.
   */
  getSkill(server: string, skill: string, options?: { signal?: AbortSignal; held?: boolean }): Promise<Skill>
  /**
   * Approves held skills in their current version, by URI; without URIs, all that are held. Rejects with
   * `unknown_skill` if one of them is not held. `pin:` and the pin of a held skill approve only that version, and
   * reject with `held` if the skill has another one by now. Rejects with `too_large` if there is no room for all: the
   * approvals of a server's skills have 256 KiB.
   */
  approveSkills(server: string, skills?: string[]): Promise<void>
  /**
   * Makes the messages of a prompt, by its name in `prompts()`. Rejects with `invalid_arguments` if a required argument
   * is missing, and with `held` if the prompt waits for its approval, before anything is sent.
   */
  getPrompt(name: string, args?: Record<string, string>, options?: ReadOptions): Promise<PromptResult>
  /** Makes the messages in a provider's form. */
  getPrompt(
    name: string,
    args: Record<string, string> | undefined,
    options: ReadOptions & { format: Dialect },
  ): Promise<PromptResult<ProviderMessage>>
  /**
   * Asks a server for values of an argument. It waits 150 ms, so that it can follow typing: a later request for the
   * same argument ends an earlier one with `aborted`. Servers without completion give no values.
   */
  complete(request: CompletionRequest, options?: { signal?: AbortSignal }): Promise<Completion>
  /**
   * The last messages of servers' logs, oldest first, at most 500 of a server. `config.logLevel` asks a server for
   * some; many send them unasked. Servers of 2026-07-28 have no log.
   */
  logs(options?: { servers?: string[]; level?: LogLevel; signal?: AbortSignal }): Promise<LogEntry[]>
  /**
   * The instructions of servers to models, as far as they are approved. With `format: 'text'` it is one text for a
   * system prompt, with a fence around each server's words. It never enters a prompt by itself. A server whose
   * instructions have changed gives the approved ones until {@link approveInstructions}.
   */
  instructions(options?: ListOptions): Promise<ServerInstructions[]>
  /** The instructions as one text for a system prompt. */
  instructions(options: ListOptions & { format: 'text' }): Promise<string>
  /**
   * Approves the instructions of a server that its health has as `heldInstructions`. With a text it approves only that
   * one, and rejects with `held` if the server has another one by now.
   */
  approveInstructions(server: string, text?: string): Promise<void>
  /**
   * Replaces {@link RegistryOptions.roots} and tells the servers. Rejects with `unsupported` if the registry was
   * created without roots, because servers do not know that there are any. A connected registry rejects with
   * `forbidden`.
   */
  setRoots(roots: Root[]): Promise<void>
  /**
   * Finds tools that fit a task or some words, best first, among those that models may call now. It is lexical and
   * local: names, titles, descriptions and parameters are compared, and nothing is sent anywhere. Misspelled words are
   * found too. The same tools and query give the same hits, which may be none.
   */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]>
  /** The health of each server, by name. */
  getHealth(): Record<string, ServerHealth>
  /** The current state. The object stays the same until the state changes. */
  getSnapshot(): Snapshot
  /** Calls the listener after each change. The returned function ends that. */
  subscribe(listener: () => void): () => void
  /**
   * Reports calls made through this object, and connections, while they run. For timelines.
   * The returned function ends that.
   */
  observe(listener: (a: Activity) => void, options?: ObserveOptions): () => void
  /**
   * Ends calls and connections. Ends the module too, unless another tab uses it. The last snapshot has no tools, and
   * `closed` as the `errorCode` of servers that are on.
   */
  close(): Promise<void>
}

/** The levels of a server's log (RFC 5424), the least first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/** A message of a server's log. Its texts are the server's words: do not trust them. */
export interface LogEntry {
  server: string
  /** In ms since the epoch. */
  at: number
  level: LogLevel
  logger?: string
  /** At most `limits.messageBytes`. Other content is JSON. */
  text: string
  /** Instead of a text: how many messages came too fast and were dropped. */
  dropped?: number
}

/** Options of {@link Registry.search}. */
export interface SearchOptions {
  /** The most hits, up to 50. Default: 10. */
  limit?: number
  /** Only tools of these servers. Default: all. */
  servers?: string[]
  signal?: AbortSignal
}

/** A tool that {@link Registry.search} has found. */
export interface SearchHit {
  /** The name for models. */
  name: string
  server: string
  /** The tool's description, at most 1,000 characters. */
  description: string
  /** The degree to which the tool fits, between 0 and 1. Compare scores of one query only. */
  score: number
  /** Which words of the query stand where: `name: read, file; parameter: path`. */
  why: string
}

/** Options of lists of resources and prompts. */
export interface ListOptions {
  /** Only of these servers. Default: all that are on. */
  servers?: string[]
  signal?: AbortSignal
}

/** Options of a request that a server may ask questions during. */
export interface ReadOptions {
  signal?: AbortSignal
  /** Your name of the request, for questions of the server during it: {@link ElicitationRequest.callId}. */
  callId?: string | number
}

/** A picture that a server names. `src` is an https or a data URL. */
export interface Icon {
  src: string
  mimeType?: string
  /** Such as `48x48` or `any`. */
  sizes?: string[]
  /** The background that the picture is made for. */
  theme?: string
}

/** The server's description of itself (`Implementation` of the specification). */
export interface Implementation {
  name: string
  version: string
  title?: string
  description?: string
  /** An http or https URL. */
  websiteUrl?: string
  icons?: Icon[]
}

/** The members that resources, templates and prompts share. The texts are the server's words: do not trust them. */
interface Offered {
  server: string
  title?: string
  description?: string
  icons?: Icon[]
  _meta?: Record<string, unknown>
  /** For hidden text, which is removed. */
  flags?: Flag[]
}

/** A resource that a server lists. */
export interface ResourceInfo extends Offered {
  uri: string
  /** The server's own. */
  name: string
  mimeType?: string
  /** In bytes, as the server says. */
  size?: number
  annotations?: Record<string, unknown>
}

/** A template of URIs (RFC 6570). */
export interface ResourceTemplateInfo extends Offered {
  uriTemplate: string
  /** The server's own. */
  name: string
  mimeType?: string
  annotations?: Record<string, unknown>
}

/** A prompt that a server lists. */
export interface PromptInfo extends Offered {
  /** The name for `getPrompt()`, made as a tool's is. */
  name: string
  /** The prompt's name on the server. */
  prompt: string
  arguments: { name: string; title?: string; description?: string; required: boolean }[]
  /**
   * The prompt waits for {@link Registry.approvePrompts}, under the same `trust` as tools. `changed`: its title,
   * description or arguments differ from the approved ones. `new`: its name is new.
   */
  held?: 'changed' | 'new'
  /** With `held`: `pin:` and this approve only this version. */
  pin?: string
  /** With `changed`: what was approved. */
  before?: Pick<PromptInfo, 'title' | 'description' | 'arguments'>
}

/** A part of a resource: text, or bytes as base64. */
export interface ResourceContents {
  uri: string
  mimeType?: string
  text?: string
  blob?: string
  _meta?: Record<string, unknown>
}

/** A resource that was read. It is untrusted, whichever server sent it. */
export interface ResourceResult {
  contents: ResourceContents[]
  /** The contents as one text for a model. */
  text: string
  provenance: { server: string; uri: string; origin: string; untrusted: true }
  durationMs: number
  _meta?: Record<string, unknown>
  /** The text was cut to `limits.resultBytes`; see {@link ToolResult.truncated}. `contents` are whole. */
  truncated?: boolean
  /** With `truncated`: the handle for `readResult()`. */
  handle?: string
  /** Suspicious parts: hidden text, and more with the option `scan`. */
  flags?: Flag[]
}

/** A file that the entry of a skill lists. */
export interface SkillEntry {
  /** Relative to the skill's directory. */
  path: string
  uri: string
  /** `sha256:` and 64 hexadecimal digits. Absent in a directory of a dynamic skill. */
  digest?: string
  /** In bytes. Absent in a directory of a dynamic skill. */
  size?: number
  /** Only in a directory of a dynamic skill: it is a directory itself. */
  directory?: true
}

/**
 * A skill that a server serves (SEP-2640, `io.modelcontextprotocol/skills`). Its server and its URI identify it; names
 * are not unique. The texts are the server's words: do not trust them, and grant no permission for `allowed-tools`.
 */
export interface SkillInfo {
  server: string
  /** That of its SKILL.md. */
  uri: string
  name: string
  description: string
  /** The YAML of SKILL.md as JSON. */
  frontmatter: Record<string, unknown>
  /** All files, SKILL.md included. `dynamic`: the server makes them when they are read, and nothing verifies them. */
  files: SkillEntry[] | 'dynamic'
  /**
   * Tells this version of the skill from others: the SHA-256 of its files' URIs and digests, its name and its
   * description, base64url.
   */
  pin?: string
  /**
   * The skill waits for {@link Registry.approveSkills}, under the same `trust` as tools. `changed`: its files or
   * its description differ from the approved ones. `new`: its URI is new.
   */
  held?: 'changed' | 'new'
  /**
   * The reason why the skill cannot be loaded. Its entry breaks the specification, it is too large, or the page has no
   * Web Crypto.
   */
  refused?: string
  /** For hidden text, which is removed. */
  flags?: Flag[]
}

/** A file of a skill. Its size and digest are those of the skill's entry. It is untrusted nevertheless. */
export interface SkillFile {
  uri: string
  /** Relative to the skill's directory. */
  path: string
  mimeType?: string
  /** In bytes. */
  size: number
  /** The whole text without hidden characters. Absent if the file is no text in UTF-8. */
  content?: string
  /** With no `content`: the bytes as base64. */
  blob?: string
  /** The text for a model, which names the server. */
  text: string
  /** `uri` is that of the skill. */
  provenance: { server: string; uri: string; origin: string; untrusted: true }
  /** The text was cut to `limits.resultBytes`; see {@link ToolResult.truncated}. */
  truncated?: boolean
  /** With `truncated`: the handle for `readResult()`. */
  handle?: string
  /** Suspicious parts: hidden text, and more with the option `scan`. */
  flags?: Flag[]
}

/** A skill that was loaded, with its SKILL.md. */
export interface Skill extends SkillInfo, SkillFile {
  uri: string
  flags?: Flag[]
  /**
   * Reads another file of the skill, by its path relative to the skill's directory, or by its URI. Rejects with
   * `invalid_skill` if the entry that was loaded does not list the file, or the content differs from it. Through
   * `connectRegistry` it rejects with `gone` once 50 more skills were loaded.
   */
  read(path: string, options?: { signal?: AbortSignal }): Promise<SkillFile>
  /**
   * The direct children of a directory of the skill; default: its root. The entry that was loaded says them. Only for a
   * dynamic skill the server is asked; rejects with `unsupported` if it lists no directories. Rejects with
   * `invalid_skill` if the skill has no such directory.
   */
  list(path?: string, options?: { signal?: AbortSignal }): Promise<SkillEntry[]>
}

/** A message of a prompt, as in the MCP specification. */
export interface PromptMessage {
  role: 'user' | 'assistant'
  content: ContentBlock
}

/** A message in the form of a provider; its dialect decides the fields. */
export interface ProviderMessage {
  role: 'user' | 'assistant' | 'model'
  [key: string]: unknown
}

/** The messages of a prompt. They are untrusted, whichever server sent them. */
export interface PromptResult<Message = PromptMessage> {
  description?: string
  messages: Message[]
  provenance: { server: string; prompt: string; origin: string; untrusted: true }
  durationMs: number
  _meta?: Record<string, unknown>
  /** The texts were cut to `limits.resultBytes` in all; see {@link ToolResult.truncated}. */
  truncated?: boolean
  /** With `truncated`: the handle of the first text that was cut, for `readResult()`. */
  handle?: string
  /** Suspicious parts: hidden text, which is removed, and more with the option `scan`. */
  flags?: Flag[]
}

/** An argument of a prompt or a variable of a resource template, and what the user has typed. */
export type CompletionRequest = {
  server: string
  /** The argument's or the variable's name. */
  argument: string
  value: string
  /** The other arguments that the user has filled in. */
  context?: Record<string, string>
} & ({ /** The prompt's name on the server. */ prompt: string } | { /** The `uriTemplate`. */ template: string })

/** Values for an argument. */
export interface Completion {
  /** At most 100. */
  values: string[]
  /** The number of all values, if the server says it. */
  total?: number
  hasMore?: boolean
}

/** Options of {@link Registry.observe}. */
export interface ObserveOptions {
  /** Adds arguments and answers to calls. Header values of the registry's servers are removed. Default: false. */
  contents?: boolean
  /**
   * Reports the HTTP exchanges of all tabs that share the module, too. A connected registry has none. Default: false,
   * because it costs time and memory.
   */
  exchanges?: boolean
  /** Reports the messages of servers' logs, as `kind: 'log'`. Default: false. */
  logs?: boolean
}

/** An HTTP exchange with a server. Secrets, and all bodies of sign-ins, read `[redacted]`. */
export interface HttpExchange {
  method: string
  /** Without the values of its query. */
  url: string
  requestHeaders: [name: string, value: string][]
  /** A body is cut after 64 KiB, and ends with `…` then. */
  requestBody?: string
  /** Absent if no response came. */
  status?: number
  responseHeaders?: [name: string, value: string][]
  responseBody?: string
}

/** A step of a call, a connection or an HTTP exchange. It contains no header values. */
export interface Activity {
  /** The same for all events of one call, connection or exchange. */
  id: number
  kind: 'call' | 'connection' | 'exchange' | 'log'
  server: string
  /** The tool's name for models. */
  tool?: string
  phase: 'begin' | 'progress' | 'end'
  /** In ms since the epoch. */
  at: number
  /** With `end`. */
  durationMs?: number
  /**
   * The parts of the duration, in order: `waiting` and `server` of a call, `connect` and `list` of a connection.
   * With `ok` and `tool_error`.
   */
  parts?: { name: 'waiting' | 'server' | 'connect' | 'list'; ms: number }[]
  /** With `end`. */
  outcome?: 'ok' | 'tool_error' | 'error' | 'cancelled'
  /** Code of the {@link RegistryError}. */
  errorCode?: ErrorCode
  /** The message of the error or of the progress, at most 500 characters. */
  message?: string
  progress?: ToolProgress
  /** With `contents`: the arguments as JSON text. At most 64 Ki characters; a longer text is cut, and ends with `…`. */
  args?: string
  /** With `contents`, at the end: `content`, `structuredContent` and `isError` as JSON text, bounded like `args`. */
  answer?: string
  /** With `exchanges`. */
  exchange?: HttpExchange
  /** With `logs`; its only event has the phase `end`. */
  log?: LogEntry
}

/** Selects tools and their format. */
export interface GetToolsOptions extends ToolFilter {
  /** Default: `openai`. */
  format?: Dialect
}

/** Selects tools. A tool must satisfy every condition. */
export interface ToolFilter {
  /** Only tools of these servers. */
  servers?: string[]
  /** Only tools with these names. A trailing `*` matches any rest. */
  include?: string[]
  /** No tools with these names. */
  exclude?: string[]
  /**
   * Adds the tool `portolan_read_result`, with which a model reads the rest of a cut result. `dispatch()` and `call()`
   * answer it. Default: false.
   */
  readResult?: boolean
  /**
   * Adds the tools `portolan_list_resources` and `portolan_read_resource`, with which a model lists and reads
   * resources. `dispatch()` and `call()` answer them. A model reads what a server lists, what fits a template of it,
   * and what a result of that server has named. A reading needs an approval as a call does. Default: false.
   */
  resources?: boolean
  /**
   * Adds the tools `portolan_list_skills` and `portolan_load_skill`, with which a model lists and loads skills.
   * `dispatch()` and `call()` answer them. Loading a skill needs an approval as a call does, for the version of the
   * skill that is loaded. Its files need none of their own. So does asking a server for a skill that it does not list,
   * because the URI may tell it something. Default: false.
   */
  skills?: boolean
  /**
   * Keeps a long list out of the model's context. Tools beyond a budget are left out. In their place stand
   * `portolan_search_tools`, which finds them, and `portolan_call_tool`, which calls them; `dispatch()` and `call()`
   * answer both. A list within the budget stays as it is. With `format: 'anthropic'`, all tools are there with
   * `defer_loading`, and the API loads those that the search finds. Default: false.
   */
  deferred?: boolean | DeferOptions
  /**
   * Gives a model two tools in place of those of servers. `portolan_search_api` declares tools in TypeScript.
   * `portolan_run_code` runs JavaScript that calls them as `await tools.server.tool(args)`. `dispatch()` and `call()`
   * answer both. The code runs in a worker of a sandboxed frame, without network. It has at most 50 calls, 30 s of its
   * own time, 10 minutes in all, and 64 KiB of output. Each call in it is checked and approved as a direct one. It goes
   * with `format`, `resources`, `skills` and `readResult`; a view says which tools there are. Throws `unsupported`
   * without a document; where a policy of the page forbids it, the run rejects so. Default: false.
   */
  codeMode?: boolean
  /** Receives what the format cannot express of the tools' schemas; see {@link Registry.losses}. */
  onLoss?: (loss: Loss) => void
}

/** A part of a tool's schema that a dialect cannot express. */
export interface Loss {
  /** The tool's name for models. */
  tool: string
  /** JSON pointer into the inputSchema, of at most 1,000 characters; empty for its root. */
  pointer: string
  /** Empty if no keyword is concerned. */
  keyword: string
  /**
   * `described`: it stands in the description. `changed`: something like it stands there. `removed`: it is no keyword,
   * or its value is not sound. `cut`: the schema is too large or too deep.
   */
  kind: 'described' | 'changed' | 'removed' | 'cut'
}

/** Which tools of a long list a model gets at once. */
export interface DeferOptions {
  /** Names of tools that are always there. A trailing `*` matches any rest. */
  keep?: string[]
  /**
   * The tokens of the tools that are there at once, as {@link View.usage} counts them. Default: 8,000. At most 120
   * tools are there at once, except for Anthropic: OpenAI refuses more than 128.
   */
  budgetTokens?: number
}

/** A function of the page that models may call, beside the tools of servers. */
export interface LocalTool {
  /** 1 to 61 letters, digits, `_` and `-`; with the server's name and two underscores at most 64. */
  name: string
  title?: string
  description?: string
  /** Default: an object without properties. */
  inputSchema?: JSONSchema
  outputSchema?: JSONSchema
  /** `ToolAnnotations` of the MCP specification. They are the page's own, and so they are believed. */
  annotations?: Record<string, unknown>
  /**
   * Runs the call. A string is the result's text. An object with `content` is a `CallToolResult`. Any other value
   * becomes JSON, and an object is `structuredContent` too. Its exception is a result with `isError`, whose text
   * begins with `Error: `.
   */
  run(args: Record<string, unknown>, context: LocalContext): unknown
}

/** The surroundings of a call to the function of a {@link LocalTool}. */
export interface LocalContext {
  /** Aborts when the call is cancelled or its deadline is over. The caller has its answer then. */
  signal: AbortSignal
  /** Reports progress to the caller. */
  onProgress: (progress: ToolProgress) => void
}

/** Options of {@link Registry.view}. A tool must satisfy every condition. */
export interface ViewOptions {
  /** Only tools of these servers. */
  servers?: string[]
  /**
   * Only tools with these names. A trailing `*` matches any rest. With `budgetTokens`, the first pattern ranks highest.
   * Resources and skills are then those of the tools' servers, or of `servers`.
   */
  include?: string[]
  /** No tools with these names. */
  exclude?: string[]
  /**
   * Only tools whose annotations say so. A server's annotations count only if you trust it (`trust: 'trust'`). All
   * others count as if they were absent: not read-only, destructive, not idempotent, open to the world.
   */
  annotations?: { readOnly?: boolean; destructive?: boolean; idempotent?: boolean; openWorld?: boolean }
  /** The most tokens of all offered tools. Those that rank lowest are left out; see {@link View.dropped}. */
  budgetTokens?: number
  /**
   * Asked before each call through this view, before {@link RegistryOptions.onApprove}. `true`, `once` and `always`
   * allow this call. The answer is not remembered.
   */
  approve?: (request: ApprovalRequest) => Approval | boolean | Promise<Approval | boolean>
  /** The limits of calls and of seconds from the first call. Then calls reject with `budget_exceeded`. */
  limits?: { calls?: number; seconds?: number }
  /** More tools, of this view only, under their own names, which have no two underscores in a row. */
  extra?: readonly LocalTool[]
}

/**
 * A narrower registry for one agent. Its methods are those of the {@link Registry}. A name outside the view rejects
 * with `not_offered`. The message is a text for the model. {@link close} ends it, and so does the end of its parent.
 */
export interface View extends
  Pick<
    Registry,
    'getTools' | 'toolsFor' | 'losses' | 'has' | 'dispatch' | 'search' | 'suggest' | 'toMessage' | 'view'
  >,
  Disposable
{
  /** Calls a tool and returns the whole result. */
  call(name: string, args: Record<string, unknown> | string, options?: DispatchOptions): Promise<ToolResult>
  /** The tools of this view, in the order in which models get them. */
  readonly tools: readonly ToolInfo[]
  /** Tools that the budget leaves out, the highest rank first. */
  readonly dropped: readonly ToolInfo[]
  /**
   * The used part of the limits: calls, seconds since the first call, and the tokens of the offered tools. Tokens are
   * estimated, within about 5 %.
   */
  readonly usage: { readonly calls: number; readonly seconds: number; readonly tokens: number }
  /** Replaces the given options. An undefined option is reset. Calls under way go on. */
  update(options: Partial<ViewOptions>): void
  /** Calls the listener after each change of the view's tools. The returned function ends that. */
  subscribe(listener: () => void): () => void
  /** Ends the view's calls and the views of it. Later calls reject with `closed`. */
  close(): void
}

/** Options of {@link Registry.suggest}. */
export interface SuggestOptions {
  /** The most tools. Default: 12. */
  max?: number
  /** The most tokens of all suggested tools. Default: no limit. */
  budgetTokens?: number
  /**
   * Your model, which a `Model` of `portolan/loop` can be. It gets messages with the task, and with names and first
   * sentences of at most 1,000 tools. It returns the JSON text of an array of names.
   */
  model?: (
    messages: { role: 'system' | 'user'; content: string }[],
    context: { tools: []; json: true; signal: AbortSignal },
  ) => SuggestAnswer | Promise<SuggestAnswer>
  signal?: AbortSignal
}

/** The answer of a model that suggests tools. */
export type SuggestAnswer = string | { text?: string }

/** A tool that fits a task. */
export interface SuggestedTool {
  name: string
  server: string
  description: string
  /** The reason why the tool is in the list. */
  reason: string
}

/** The tool format of a provider. */
export type Dialect = 'openai' | 'openai-responses' | 'anthropic' | 'gemini'
/** A JSON Schema. */
export type JSONSchema = Record<string, unknown>
/** A tool for Chat Completions and compatible APIs. */
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
  /** The API loads the tool's definition once a search has found it. */
  defer_loading?: true
}
/** A function declaration for Gemini. */
export interface GeminiTool {
  name: string
  description: string
  parameters?: JSONSchema
}
/** A tool in one of the formats. */
export type Tool = OpenAITool | OpenAIResponsesTool | AnthropicTool | GeminiTool

/** A tool for the AI SDK 7. */
export interface AISDKTool {
  description: string
  inputSchema: AISDKSchema
}

/** A tool for the AI SDK 7 that it can run. */
export interface RunnableAISDKTool extends AISDKTool {
  /** Calls the tool. */
  execute: (
    args: Record<string, unknown>,
    options: { abortSignal?: AbortSignal; toolCallId?: string },
  ) => Promise<ToolResult>
  /** Makes the model's form of a result. */
  toModelOutput: (options: { output: ToolResult }) => Promise<ToolMessages['ai-sdk']>
}

/** The shape that `jsonSchema()` of the AI SDK makes. It is a Standard JSON Schema too. It accepts every value. */
export interface AISDKSchema {
  readonly jsonSchema: JSONSchema
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'portolan'
    readonly types?: { readonly input: Record<string, unknown>; readonly output: Record<string, unknown> }
    /** Accepts every value: the registry and the server check arguments. */
    readonly validate: (value: unknown) => { readonly value: Record<string, unknown> }
    readonly jsonSchema: {
      /** The schema of what the model writes. */
      readonly input: () => JSONSchema
      /** The schema of the arguments of the call, which is the same. */
      readonly output: () => JSONSchema
    }
  }
}

/** Which parts of results a model gets as they are. */
export interface MediaOptions {
  /** The media that the model takes. Default: images and documents (PDF and plain text), but no audio. */
  modalities?: { image?: boolean; audio?: boolean; document?: boolean }
  /**
   * The most bytes of an image. Default: 5 MiB. A browser makes a larger one smaller, with 2,048 pixels or less on its
   * longest side. A GIF, and an image of over 67 megapixels, has a marker in its place. So has each larger one in Node.
   * For Anthropic and the AI SDK an image with a side of over 8,000 pixels is too large as well: Claude refuses it.
   */
  maxImageBytes?: number
}

/** The form of a provider, or of the AI SDK. */
export type MessageFormat = Dialect | 'ai-sdk'

/** Options of {@link Registry.toMessage}. `callId` is the provider's id of the call. */
export type MessageOptions<F extends MessageFormat = MessageFormat> =
  & MediaOptions
  & { format: F }
  & (F extends 'gemini' | 'ai-sdk' ? { callId?: string } : { callId: string })

/** The answers to tool calls, by format. */
export interface ToolMessages {
  /** A message. */
  openai: { role: 'tool'; tool_call_id: string; content: string }
  /** An item of `input`. */
  'openai-responses': {
    type: 'function_call_output'
    call_id: string
    output:
      | string
      | (
        | { type: 'input_text'; text: string }
        | { type: 'input_image'; image_url: string; detail: 'auto' }
        | { type: 'input_file'; filename: string; file_data: string }
      )[]
  }
  /** A block of a user's message. */
  anthropic: {
    type: 'tool_result'
    tool_use_id: string
    is_error?: true
    content:
      | string
      | (
        | { type: 'text'; text: string }
        | {
          type: 'image'
          source: { type: 'base64'; media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'; data: string }
        }
        | {
          type: 'document'
          source:
            | { type: 'base64'; media_type: 'application/pdf'; data: string }
            | { type: 'text'; media_type: 'text/plain'; data: string }
        }
        | { type: 'tool_reference'; tool_name: string }
      )[]
  }
  /** A part of a user's content. `name` is the tool's in the registry. */
  gemini: {
    functionResponse: {
      id?: string
      name: string
      response: { output: string } | { error: string }
      parts?: { inlineData: { mimeType: string; data: string } }[]
    }
  }
  /** The `output` of a tool-result part. */
  'ai-sdk':
    | { type: 'text' | 'error-text'; value: string }
    | {
      type: 'content'
      value: (
        | { type: 'text'; text: string }
        | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } }
      )[]
    }
}

/** Options of one call. */
export interface DispatchOptions {
  /** Ends the call here and on the server. */
  signal?: AbortSignal
  /** Deadline of this call, in ms. Default: the registry's `callTimeoutMs`. */
  timeoutMs?: number
  /** Receives the call's progress, if the server reports it. */
  onProgress?: (p: ToolProgress) => void
  /** Replaces the server's {@link ServerConfig.retry} for this call: 1 to 5, and more counts as 5. */
  attempts?: number
  /** The trace that the call belongs to (W3C Trace Context, Baggage). It goes to the server in `_meta`. */
  trace?: { traceparent: string; tracestate?: string; baggage?: string }
  /** Your name of the call, for questions of the server during it: {@link ElicitationRequest.callId}. */
  callId?: string | number
  /**
   * The server whose app makes the call. The name is then that server's own name of one of its tools, also of one that
   * is for apps only. Rejects with `unknown_tool` for a tool that is not for apps. A {@link View} refuses this option.
   */
  app?: string
}

/** Progress of a call, in the server's own units. */
export interface ToolProgress {
  progress: number
  total?: number
  message?: string
  /** The call got no answer for the reason `code`, and is sent again in `waitMs`. */
  retry?: { attempt: number; waitMs: number; code: ErrorCode }
}

/** A content block of the MCP specification. Its type decides its fields. */
export type ContentBlock =
  | { type: 'text'; text: string; [key: string]: unknown }
  | { type: 'image' | 'audio'; data: string; mimeType: string; [key: string]: unknown }
  | {
    type: 'resource'
    resource: { uri: string; mimeType?: string; text?: string; blob?: string; [key: string]: unknown }
    [key: string]: unknown
  }
  | { type: 'resource_link'; uri: string; name: string; [key: string]: unknown }

/** The whole result of a call. */
export interface ToolResult {
  /** The result as one text for a model. */
  text: string
  content: ContentBlock[]
  structuredContent?: unknown
  /** The server's `_meta` of the result, for programs. */
  _meta?: Record<string, unknown>
  isError: boolean
  server: string
  /** The tool's name on the server. */
  tool: string
  durationMs: number
  /** The result's origin. */
  provenance: Provenance
  /**
   * The text was cut to `limits.resultBytes`. Its beginning and its end remain, with a note about the missing part.
   * `content` is whole.
   */
  truncated?: boolean
  /** With `truncated`: the handle for `readResult()`. */
  handle?: string
  /** Suspicious parts of the result: hidden text, and more with the options `validateResults` and `scan`. */
  flags?: Flag[]
}

/** The origin of a result. A result is untrusted, whichever server sent it. */
export interface Provenance {
  server: string
  tool: string
  origin: string
  untrusted: true
}

/** A range of a text, in UTF-16 code units. Default: the first 20,000. */
export interface ResultRange {
  offset?: number
  length?: number
}
/** A part of a text; `total` is the length of the whole. */
export interface ResultPart {
  text: string
  offset: number
  total: number
  /** Only for a text of skills: a sentence for models that says whose text it is. */
  about?: string
}

/** A suspicious part of a definition or a result. A flag is a hint and blocks nothing. */
export interface Flag {
  /**
   * Which kind: `hidden_text`, `concealment`, `pseudo_tag`, `override`, `sensitive_path`, `exfiltration`, `shadowing`,
   * `parameter`, `blob`, `data_url`, `lookalike`, … `schema_mismatch`: a part of a result does not fit the tool's
   * outputSchema. `excerpt` says what is wanted there. `secret`: it looks like one, and `excerpt` says which.
   */
  rule: string
  /** JSON pointer into the definition or the result, of at most 1,000 characters. */
  where: string
  /** The text at that place, shortened. Hidden characters are shown as `⟨U+200B⟩`. */
  excerpt: string
}

/** A call that needs the user's approval. */
export interface ApprovalRequest {
  server: string
  /** The tool's name on the server. `name` is its name for models. */
  tool: string
  name: string
  /** An integer that JavaScript cannot hold is a text with its digits. */
  args: Record<string, unknown>
  description: string
  /** The server's annotations. They are claims, unless `trusted`. */
  annotations: Record<string, unknown>
  /** The user trusts this server (`trust: 'trust'`). */
  trusted: boolean
  /** The version of the tool that the answer is for; see {@link ToolInfo.pin}. */
  pin: string
  flags: Flag[]
  /** Aborted with the call, and when another call or tab has got `always` or `never` for the same question. */
  signal: AbortSignal
}
/** The user's answer. `always` and `never` are remembered, except on servers with `ask-always`. */
export type Approval = 'once' | 'always' | 'deny' | 'never'
/** A remembered answer, for one version of a tool. */
export interface RememberedApproval {
  server: string
  tool: string
  pin: string
  approval: 'always' | 'never'
}

/** The health of a server. */
export interface ServerHealth {
  /** Where the server belongs. Absent in a registry without a project. */
  scope?: Scope
  /** A server is `connecting` until its first list of tools has come. */
  status: 'disabled' | 'disconnected' | 'connecting' | 'connected' | 'error'
  /** The server has failed too often in a row. The registry connects again at `retryAt`. */
  suspended: boolean
  /** Offered tools. `toolTotal` counts all listed tools, before `config.tools`; with `apps` those for apps too. */
  toolCount: number
  toolTotal: number
  /** Tools that wait for approval. Absent if there are none. */
  heldCount?: number
  /**
   * The server's instructions to models, as you approved them, and a changed text that waits for
   * {@link Registry.approveInstructions}. Untrusted, at most 16 KiB.
   */
  instructions?: string
  heldInstructions?: string
  /** The server's `ServerCapabilities`, as it wrote them. Absent until it was asked. */
  capabilities?: Record<string, unknown>
  /** The lengths of the other lists. Absent until a list is asked for, and after the server has changed it. */
  resourceCount?: number
  templateCount?: number
  promptCount?: number
  transport?: 'streamable-http' | 'sse'
  protocolVersion?: string
  /** Times are in ms since the epoch. */
  lastSuccessful: number | null
  lastConnected: number | null
  lastError: string | null
  /** The code and hint that a {@link RegistryError} for `lastError` has. */
  errorCode?: ErrorCode
  hint?: string
  consecutiveFailures: number
  retryAt: number | null
  /** Duration of the last list or call. */
  latencyMs: number | null
  /** Tools that the last list left out, with reasons. */
  warnings?: string[]
  /** `needed`: the user has to sign in at `signInHost`; see {@link Registry.signIn}. */
  signIn?: 'needed' | 'signed-in'
  signInHost?: string
  /** The server's description of itself. Do not trust it. The host of an icon sees each user that loads it. */
  serverInfo?: Implementation
}

/** The state at one moment. A snapshot never changes: each change makes a new one. */
export interface Snapshot {
  status: 'idle' | 'discovering' | 'ready' | 'partial'
  /** Grows with every change. */
  version: number
  servers: Record<string, ServerHealth & { config: RedactedConfig }>
  /** Entries that the storage did not keep: damaged ones, which are left out, and refused changes and secrets. */
  warnings?: readonly string[]
  /** Tools that models may call. */
  tools: ToolInfo[]
  /** Listed tools that `config.tools` leaves out. Models cannot call them. */
  withheld: ToolInfo[]
  /** Changed or new tools that wait for approval. Models cannot call them. */
  held: HeldTool[]
}

/** A tool, with both of its names. */
export interface ToolInfo {
  /** The tool's name for models. */
  name: string
  server: string
  /** The tool's name on the server. */
  tool: string
  /** The server's definition (`Tool` of the specification), without hidden text, and with overrides. */
  definition: ToolDefinition
  /** The definition without {@link ServerConfig.overrides}, if there are some for the tool. */
  original?: ToolDefinition
  /**
   * SHA-256 of the definition, base64url. It stays equal until a part changes that models or users see.
   * Tools of a long new list get their pins a moment later.
   */
  pin?: string
  /**
   * The tool is from the list of the last visit, until the server's first attempt to connect and list has ended. A call
   * connects and waits for the server's list. It rejects if the tool is gone, held, or its server fails.
   */
  stale?: true
  /** Suspicious parts of the definition: hidden text, and more with the option `scan`. */
  flags?: Flag[]
}

/** A tool that is held until `approveTools()`. */
export interface HeldTool extends ToolInfo {
  /**
   * `changed`: it differs from the approved version. If that version is forgotten, `changes` is empty. `new`: its name
   * is new. `renamed`: an approved tool like it is gone.
   */
  reason: 'changed' | 'new' | 'renamed'
  /** The approved definition, if it is still stored. */
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

/** Bounds on data from servers: bytes, counts and levels. */
export interface Limits {
  /** One response; 16 MiB. */
  responseBytes: number
  /** One event of a stream; 8 MiB. */
  eventBytes: number
  /** The body of an HTTP error; 64 KiB. */
  errorBytes: number
  /** A server's text in an error or a warning; 2 KiB. */
  messageBytes: number
  /** One tool's definition; 256 KiB. */
  definitionBytes: number
  /** One tool's description; 16 KiB. A longer one is cut. */
  descriptionBytes: number
  /** Nesting of any JSON; 128. */
  depth: number
  /** Nesting of schemas in a tool's schema; 32. */
  schemaDepth: number
  /** Schemas in a tool's schema; 4,000. */
  schemaNodes: number
  /** Values of an enum; 500. */
  enumValues: number
  /** Pages of one list; 100. */
  pages: number
  /** Tools of one server; 1,000. */
  toolsPerServer: number
  /** Tools of all servers; 5,000. */
  tools: number
  /** All pages of one list; 16 MiB. */
  listBytes: number
  /** The text form of a result; 1 MiB. */
  resultBytes: number
  /** Elements and members of one result, because parsed values take many times its size; 600,000. */
  resultValues: number
  /** Decoded notifications per server and second; 200. Further ones are counted and dropped. */
  eventsPerSecond: number
  /** Answered requests per server and second; 10. Further ones are counted and dropped. */
  pingsPerSecond: number
  /** Attempts to connect to a server in 10 s; 20. */
  connects: number
  /** Calls of one server at the same time; 8. Further ones wait for their turn, and their deadlines with them. */
  callsPerServer: number
  /** Calls of all servers at the same time; 64. */
  calls: number
  /** The module's memory; 256 MiB. A larger module is replaced while no call runs. */
  memoryBytes: number
}

/** The members that all questions of servers share. Their texts are the server's words: do not trust them. */
interface ElicitationBase {
  server: string
  /** The server's own name of the tool whose call asks. Absent if the call is not known. */
  tool?: string | undefined
  /**
   * That of the call's options. Without one it is a number, the same for all questions of the call. With observers it
   * is the `id` of the call's {@link Activity}.
   */
  callId?: string | number | undefined
  message: string
  /** Aborts when the question is over: the server withdraws it, its call ends, or its time is over. */
  signal: AbortSignal
  [key: string]: unknown
}

/** A server's question to the user during a call (`elicitation/create`). */
export interface ElicitationRequest extends ElicitationBase {
  mode?: 'form'
  /** An object schema whose properties are strings, numbers, booleans, or lists of choices. */
  requestedSchema?: JSONSchema
}

/** An address that a server wants the user to open (`elicitation/create`, mode `url`). */
export interface ElicitationUrlRequest extends ElicitationBase {
  mode: 'url'
  /** An https URL, or an http URL of this machine. */
  url: string
  elicitationId: string
  /**
   * True: answer `accept` when the user is done there, because the call is sent again then. `signal` aborts if the
   * server says so first. Otherwise `accept` means that the user has opened the address.
   */
  awaitsEnd?: boolean
}

/** A call that a server runs as a task. */
export interface TaskInfo {
  server: string
  /** The server's own name of the tool. */
  tool: string
  /** The server's. Empty if the server has answered at once. */
  taskId: string
  /** As the server said when the handle was made. */
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  /** Times are in ms since the epoch. */
  startedAt: number
  /** When the server may forget the task. */
  expiresAt?: number
  /** Of the server. A later server of its name, elsewhere, does not get the task's id. */
  origin?: string
}

/** Options of {@link TaskHandle.wait}. */
export interface WaitOptions extends ReadOptions {
  /** Receives each state of the task, with the server's message. */
  onProgress?: (p: ToolProgress) => void
}

/** A task to wait for, or to cancel. */
export interface TaskHandle extends TaskInfo {
  /**
   * Waits for the result. Rejects with `gone` if the server does not know the task any more, and with `server_error` if
   * it failed. `signal` ends the wait, not the task.
   */
  wait(options?: WaitOptions): Promise<ToolResult>
  /** Ends the task on the server. */
  cancel(): Promise<void>
}

/** The instructions of a server to models. */
export interface ServerInstructions {
  server: string
  text: string
}

/** A folder of the user (`roots/list`). */
export interface Root {
  /** A `file:` URL, percent-encoded. */
  uri: string
  name?: string
}

/** A server's request for a message of the app's model (`sampling/createMessage`). Its texts are untrusted. */
export interface SamplingRequest {
  server: string
  /** The tool whose call it belongs to, if that is known. */
  tool?: string
  callId?: string | number
  messages: { role: 'user' | 'assistant'; content: ContentBlock | ContentBlock[]; [key: string]: unknown }[]
  systemPrompt?: string
  maxTokens: number
  temperature?: number
  stopSequences?: string[]
  modelPreferences?: Record<string, unknown>
  /** With `samplingTools` only. */
  tools?: ToolDefinition[]
  [key: string]: unknown
}

/** The model's message, as the server gets it (`CreateMessageResult`). */
export interface SamplingResult {
  role: 'user' | 'assistant'
  content: ContentBlock | ContentBlock[]
  /** The model's name. */
  model: string
  /** Such as `endTurn`, `maxTokens`. */
  stopReason?: string
}

/** The user's answer to a question. With `accept`, `content` fits the requested schema. */
export interface ElicitationAnswer {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown>
}

/** Stores small texts by key. Methods may be asynchronous. One that is silent for 10 s counts as failed. */
export interface StorageAdapter {
  /** The stored text, or nothing. */
  get(key: string): string | null | undefined | Promise<string | null | undefined>
  /** Stores a text and replaces an earlier one. */
  set(key: string, value: string): void | Promise<void>
  /** Deletes a text. The registry replaces texts and deletes none, so a storage may lack it. */
  remove?(key: string): void | Promise<void>
}

/** The used methods of localStorage and sessionStorage. */
export interface StorageLike {
  /** The stored text, or null. */
  getItem(key: string): string | null
  /** Stores a text and replaces an earlier one. */
  setItem(key: string, value: string): void
  /** Deletes a text. The registry replaces texts and deletes none, so a storage may lack it. */
  removeItem?(key: string): void
}

/** Carries messages between page and host, in order. */
export interface Channel {
  /** Sends a message that can be cloned structurally. */
  post(message: unknown): void
  /** The receiver sets it. */
  onmessage: ((message: unknown) => void) | null
  /** Ends the channel: it carries no more messages. */
  close(): void
}

/** The common methods of Worker, MessagePort and a worker's global scope. */
export interface PortLike {
  /** Sends a message to the other side. */
  postMessage(message: unknown): void
  /** Calls the listener with each message of the other side. */
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  /** Removes the listener. */
  removeEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  /** Only for a MessagePort: starts the delivery of messages. */
  start?(): void
  /** Only for a MessagePort. */
  close?(): void
  /** Only for a Worker. */
  terminate?(): void
}

/** Stable codes of errors. */
export type ErrorCode =
  | 'aborted'
  | 'budget_exceeded'
  | 'cassette_miss'
  | 'closed'
  | 'csp'
  | 'denied'
  | 'disabled'
  | 'forbidden'
  | 'gone'
  | 'held'
  | 'http_status'
  | 'integrity_failed'
  | 'internal'
  | 'invalid_arguments'
  | 'invalid_cassette'
  | 'invalid_config'
  | 'invalid_option'
  | 'invalid_result'
  | 'invalid_skill'
  | 'load_failed'
  | 'network'
  | 'not_offered'
  | 'protocol'
  | 'proxy_refused'
  | 'rate_limited'
  | 'redirect'
  | 'runtime_crashed'
  | 'secret_blocked'
  | 'server_error'
  | 'server_removed'
  | 'unsupported'
  | 'session_expired'
  | 'sign_in_failed'
  | 'sign_in_needed'
  | 'suspended'
  | 'timeout'
  | 'too_large'
  | 'unauthorized'
  | 'unknown_prompt'
  | 'unknown_resource'
  | 'unknown_server'
  | 'unknown_skill'
  | 'unknown_tool'
  | 'version_mismatch'
  | 'worker_failed'

/** The error of every failed operation. */
export declare class RegistryError extends Error {
  constructor(code: ErrorCode, message: string, details?: RegistryErrorDetails)
  readonly code: ErrorCode
  readonly server?: string
  /** The HTTP status that caused the error. */
  readonly status?: number
  /** The way to solve the problem. */
  readonly hint?: string
  /** The same call may work later, unchanged. */
  readonly retryable: boolean
  /** The server's JSON-RPC error. `data` is the server's: do not trust it. More than 16 KiB of data are left out. */
  readonly rpc?: { code: number; data?: unknown }
}
/** The members of a {@link RegistryError} beside code and message. */
export interface RegistryErrorDetails {
  server?: string
  status?: number
  hint?: string
  retryable?: boolean
  rpc?: { code: number; data?: unknown }
  cause?: unknown
}
