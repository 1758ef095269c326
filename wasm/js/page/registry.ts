import { failedState } from '../shared/health.ts'
import { ignore } from '../shared/download.ts'
import type { Activities } from './activity.ts'
import { argumentText, checkCall, checkConfig, checkFunction, checkName, checkNames } from './checkrequest.ts'
import { fromWire, toWire, type WireError } from '../shared/errors.ts'
import { checkFields } from '../shared/fields.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { originOf } from '../shared/origin.ts'
import type {
  Attached,
  CallOptions as SentOptions,
  Called,
  ConfigsEvent,
  ElicitEvent,
  ListedTool,
  RequestBody,
  ToolsEvent,
} from '../shared/protocol.ts'
import type { Leaks } from '../shared/leaks.ts'
import { givePins } from '../shared/pinned.ts'
import { isAnswered, isOffering, isOwn, readTool } from './models/own-tools.ts'
import { overridden } from './models/override.ts'
import { once } from './imported.ts'
import { part } from './parts.ts'
import { aborted, Requests, shielded, type Event, type HostListener, type HostStarter } from './requests.ts'
import type { Offers } from './offers/offers.ts'
import type { Questions } from './offers/questions.ts'
import type { RegistryTools, ModelSource } from './models/models.ts'
import type { Results } from './models/results.ts'
import type { Tasks } from './offers/tasks.ts'
import type { Scanner } from '../shared/scan.ts'
import type { ToolLists, Trust } from './storage/trust.ts'
import type { SignInWindow } from './signin.ts'
import type { SearchIndex } from '../shared/search.ts'
import type * as types from '../shared/types.ts'
import { callTimeoutMs, resultBytes } from '../shared/wire.gen.ts'
import type { checkArguments } from './validate.ts'

/** Callbacks of the code that created the registry. */
export interface Owner extends HostStarter {
  /** The options of the registry. Absent where it belongs to another realm (connectRegistry). */
  options?: types.RegistryOptions
  /** Checks arguments against the tool's schema before they are sent. */
  validate?: typeof checkArguments | undefined
  onHints?(hints: string): void
  /** Stores approvals. Absent where the registry belongs to another realm. */
  trust?(): Promise<Trust>
  /** Finds suspicious text in definitions and results. */
  scanner?: Scanner | undefined
  /** Finds secrets in calls. */
  leaks?: Leaks | undefined
  /** Removes from a text what looks like a secret. */
  mask?: ((text: string) => string) | undefined
  /** If all servers of those names, by default all, are off, shows that without the module and returns true. */
  discoverOff?(names: string[] | undefined): boolean
  /** The stored tasks, after a change. Absent where the registry belongs to another realm. */
  tasks?(change?: (tasks: types.TaskInfo[]) => types.TaskInfo[]): Promise<types.TaskInfo[]>
  /** The configurations with their secrets. Absent where the registry belongs to another realm. */
  configs?(): Iterable<types.ServerConfig>
  /** Damage that was found in the storage. A realm that owns the registry sends its own. */
  warnings?: readonly string[]
  /** Called when the host sends configurations. */
  onConfigs?(configs: ConfigsEvent['configs']): void
  /** Stores a server's configuration. A server that is stored with the same URL changes in these fields only. */
  save?(name: string, fields?: string[], scope?: types.Scope): Promise<unknown>
  /** Where a server belongs, in a registry with a project. */
  scopeOf?(name: string): types.Scope
  /** Rejects if a server, or a change of these fields, cannot have the scope. Makes room for a project's server. */
  checkScope?(name: string, options: types.ScopeOptions, fields?: string[]): Promise<void>
  /** Resolves once all approvals are stored. */
  approvalsSaved?(): Promise<unknown>
  /** The window for sign-in. Absent where the realm that owns the registry opens it. */
  signInWindow?(): Promise<SignInWindow>
  onClose?(): void | Promise<unknown>
}

/** Whether the `_meta` of a tool lets models, or apps, have it (MCP Apps, 2026-01-26). */
function isFor(who: 'model' | 'app', { _meta: meta }: types.ToolDefinition): boolean {
  const visibility = (meta as { ui?: { visibility?: unknown } } | undefined)?.ui?.visibility
  return !Array.isArray(visibility) || visibility.includes(who)
}

type CallOptions = types.DispatchOptions & { detach?: boolean }
type DetachOptions = types.DispatchOptions & { detach: true }

/** The version of a local tool, for remembered approvals: the page vouches for its functions. */
const localPin = 'page'

/** The time between the module's deadline of a call and the page's, in ms. */
const grace = 100

/** The registry of a page: an image of the host's state, and requests to the host. */
export class RegistryImage implements types.Registry, HostListener {
  readonly requests: Requests
  version = ''
  rememberSecrets = false
  project?: string | undefined
  /** A discover() has begun, so that new servers are listed by themselves. */
  discovered = false
  /** Waits until the server of a stale tool has answered. Rejects with the error of a server that has not. */
  confirm?: (tool: types.ToolInfo | undefined, signal?: AbortSignal) => Promise<void>
  /** Deletes the list that is stored for the next visit. */
  forget?: (server: string) => Promise<unknown>
  /** The limit of that name: at first its default. A host says its own. */
  resultBytes: number = resultBytes
  readonly #owner: Owner
  /** Settles when the held tools have their approved definitions. */
  #filling: Promise<unknown> | undefined
  /** Servers with new pins. The list of the same server follows them. */
  readonly #approved = new Set<string>()
  #callTimeoutMs: number = callTimeoutMs

  #status: types.Snapshot['status'] = 'idle'
  #servers: types.Snapshot['servers'] = {}
  readonly #lists = new Map<string, ToolLists>()
  readonly #arriving = new Map<string, ToolLists>()
  /** All lists in one, made on request. */
  #offers: Omit<ToolLists, 'apps'> | undefined
  #index: Map<string, types.ToolInfo> | undefined
  #tools: types.ToolInfo[] | undefined
  #changes = 0
  #snapshot: types.Snapshot | undefined
  readonly #listeners = new Set<() => void>()
  #notifying = false
  readonly #observers = new Map<(a: types.Activity) => void, types.ObserveOptions>()
  #tracing = false
  /** Present while there are observers. */
  #activities: Promise<Activities> | undefined
  /** Loaded before an app gets the registry. Absent in one that offers nothing to models. */
  #models!: RegistryTools

  constructor(owner: Owner) {
    this.#owner = owner
    this.requests = new Requests(owner, this)
  }

  get mode(): types.Mode {
    return this.requests.mode
  }

  get host(): types.RegistryOptions['host'] {
    return this.#owner.options?.host
  }

  /** Loads the tools for models. */
  async load(): Promise<void> {
    const { RegistryTools } = await part('models', this.host)
    this.#models = new RegistryTools(this)
  }

  getTools = ((options?: types.GetToolsOptions) => this.#models.getTools(options)) as types.Registry['getTools']

  toolsFor(format: 'ai-sdk', options?: types.ToolFilter & types.MediaOptions): Record<string, types.RunnableAISDKTool> {
    return this.#models.toolsFor(format, options)
  }

  losses(format: types.Dialect, filter?: types.ToolFilter): types.Loss[] {
    return this.#models.losses(format, filter)
  }

  view(options?: types.ViewOptions): types.View {
    return this.#models.view(options)
  }

  suggest(task: string, options?: types.SuggestOptions): Promise<types.SuggestedTool[]> {
    return this.#models.suggest(task, options)
  }

  async addTools(server: string, tools: readonly types.LocalTool[]): Promise<void> {
    this.#models.addTools(server, tools)
    this.#listsChanged()
  }

  publishTools: types.Registry['publishTools'] = (...publication) => this.#models.publishTools(...publication)

  #listsChanged(): void {
    this.#index = this.#tools = this.#offers = undefined
    this.changed()
  }

  /** Whether the tools of a server are functions of this page. */
  #isLocal(server: string | undefined): boolean | undefined {
    return this.#models?.local.has(server!)
  }

  /** Refuses what only an MCP server can do. */
  #checkRemote(name: string): void {
    checkName(name)
    this.#models?.local.checkRemote(name)
  }

  async addServer(name: string, config: types.ServerConfig, options?: types.ScopeOptions): Promise<void> {
    this.#checkRemote(name)
    checkConfig(config, name)
    // Without a scope the request leaves at once, so that a discover() that follows finds the server.
    if (options) await this.#owner.checkScope?.(name, options)
    await this.requests.ask({ method: 'addServer', name, config, ...options })
    await this.#save(name, undefined, options?.scope)
  }

  /** Stores a server, and shows where it belongs. */
  async #save(name: string, fields?: string[], scope?: types.Scope): Promise<void> {
    await this.#owner.save?.(name, fields, scope)
    this.placed()
  }

  /** Shows where the servers belong now, in a registry with a project. */
  placed(): void {
    if (this.project) this.receive({ event: 'state', status: this.#status, servers: this.#servers })
  }

  async updateServer(
    name: string,
    patch: Partial<types.ServerConfig>,
    options?: types.ScopeOptions,
  ): Promise<void> {
    checkConfig(patch, name)
    if (this.#isLocal(name) && Object.keys(patch).every((field) => field === 'enabled' || field === 'tools')) {
      this.#models.local.update(name, patch)
      return this.#listsChanged()
    }
    this.#checkRemote(name)
    const config = Object.fromEntries(Object.entries(patch).map(([k, v]) => [k, v ?? null])) as Partial<
      types.ServerConfig
    >
    if (options) await this.#owner.checkScope?.(name, options, Object.keys(config))
    await this.requests.ask({ method: 'updateServer', name, config, ...options })
    await this.#save(name, Object.keys(config), options?.scope)
  }

  async removeServer(name: string): Promise<void> {
    checkName(name)
    if (this.#isLocal(name)) {
      this.#models.local.remove(name)
      return this.#listsChanged()
    }
    await this.requests.ask({ method: 'removeServer', name })
    await this.#owner.save?.(name)
  }

  async renameServer(name: string, to: string): Promise<void> {
    this.#checkRemote(name)
    this.#checkRemote(to)
    const { scope } = this.#servers[name] ?? {}
    const renamed = <T extends { server: string }>(all: T[]) =>
      all.map((one) => (one.server === name ? { ...one, server: to } : one))
    await this.requests.ask({ method: 'renameServer', name, to })
    // One write has both names: a tab that is closed between two would leave both servers, or none.
    await Promise.all([
      this.#save(to, undefined, scope),
      this.#owner.save?.(name),
      this.forget?.(name),
      this.#owner.trust?.().then((t) => t.change(renamed)),
      this.#owner.tasks?.(renamed),
    ])
  }

  async setEnabled(name: string, enabled: boolean, options?: types.ScopeOptions): Promise<void> {
    checkName(name)
    if (this.#isLocal(name)) return this.updateServer(name, { enabled })
    if (options) await this.#owner.checkScope?.(name, options, ['enabled'])
    await this.requests.ask({ method: 'setEnabled', name, enabled, ...options })
    await this.#save(name, ['enabled'], options?.scope)
  }

  async retry(name: string): Promise<void> {
    checkName(name)
    if (!this.#isLocal(name)) await this.requests.ask({ method: 'retry', name })
  }

  async signIn(name: string, options?: { signal?: AbortSignal }): Promise<void> {
    checkName(name)
    checkFields('signIn', options, 'signal')
    const ask = () => this.requests.ask({ method: 'signIn', name }, options)
    await ((await this.#owner.signInWindow?.())?.signIn(name, ask) ?? ask())
  }

  async signOut(name: string): Promise<void> {
    checkName(name)
    await this.requests.ask({ method: 'signOut', name })
    await this.forget?.(name)
  }

  async approveTools(server: string, tools?: string[]): Promise<void> {
    checkNames('tools', tools)
    await this.#approve({ method: 'approveTools', name: server, tools })
  }

  /** Resolves once the approvals are stored. */
  async #approve(request: Extract<RequestBody, { method: `approve${string}` }>): Promise<void> {
    checkName(request.name)
    await this.requests.ask(request)
    await this.#owner.approvalsSaved?.()
  }

  approvals(): Promise<types.RememberedApproval[]> {
    return this.#owner.trust?.().then((t) => t.approvals()) ?? this.requests.ask({ method: 'approvals' })
  }

  async forgetApprovals(server?: string): Promise<void> {
    if (server !== undefined) checkName(server)
    await (this.#owner.trust?.().then((t) => t.forget(server)) ??
      this.requests.ask({ method: 'forgetApprovals', server }))
  }

  async readResult(handle: string, range: types.ResultRange = {}): Promise<types.ResultPart> {
    checkFields('readResult', range, 'offset length')
    if (!this.#owner.trust) return this.requests.ask({ method: 'readResult', handle, range })
    return (await this.#made()).read(handle, range)
  }

  readonly #made = once<Results>(async () => new (await part('results', this.host)).Results())

  /** The part that has resources, prompts and completion. */
  readonly #offer = once<Offers>(async () =>
    new (await part('offers', this.host)).Offers({
      requests: this.requests,
      remote: !this.#owner.trust,
      results: () => this.#made(),
      skills: () => part('skills', this.host),
      resultBytes: () => this.resultBytes,
      messagesFor: async (...prompt) => (await part('tomessage', this.host)).messagesFor(...prompt),
      snapshot: this.getSnapshot,
      scanner: this.#owner.scanner,
      leaks: this.#leaks,
      admit: async (tool, args, signal) =>
        this.#admit(() => tool, tool.name, args, signal, this.#leaks(args, tool.server)),
    })
  )

  /** Asks whether a call may be made. Returns why not. */
  async #admit(
    find: () => types.ToolInfo | undefined,
    name: string,
    args: string,
    signal: AbortSignal | undefined,
    flags?: types.Flag[],
  ): Promise<WireError | undefined> {
    if (!this.#owner.options?.onApprove) return undefined
    const trust = await this.#owner.trust!()
    return trust.admit(find, name, args, (server) => this.#config(server), signal, this.subscribe, flags)
  }

  /** The flags for secrets in arguments for a server. Throws where they are blocked. */
  readonly #leaks = (args: string, server: string): types.Flag[] | undefined =>
    this.#owner.leaks?.inArguments(args, server, this.#config(server)?.url ?? '')

  #config(server: string): types.RedactedConfig | undefined {
    return this.getSnapshot().servers[server]?.config
  }

  resources(options?: types.ListOptions): Promise<types.ResourceInfo[]> {
    return this.#offer().then((o) => o.list('resources', options))
  }

  resourceTemplates(options?: types.ListOptions): Promise<types.ResourceTemplateInfo[]> {
    return this.#offer().then((o) => o.list('resourceTemplates', options))
  }

  prompts(options?: types.ListOptions & { held?: boolean }): Promise<types.PromptInfo[]> {
    return this.#offer().then((o) => o.prompts(options))
  }

  async approvePrompts(server: string, prompts?: string[]): Promise<void> {
    checkNames('prompts', prompts)
    await this.#approve({ method: 'approvePrompts', name: server, prompts })
  }

  readonly #skills = async () => (await this.#offer()).skills()

  skills = ((...list) => this.#skills().then((s) => s.list(...list))) as types.Registry['skills']

  getSkill: types.Registry['getSkill'] = (...skill) => this.#skills().then((s) => s.get(...skill))

  async approveSkills(server: string, skills?: string[]): Promise<void> {
    await (await this.#skills()).approve(server, skills)
    await this.#owner.approvalsSaved?.()
  }

  readResource(server: string, uri: string, options?: types.ReadOptions): Promise<types.ResourceResult> {
    return this.#offer().then((o) => o.read(server, uri, options))
  }

  subscribeResource(server: string, uri: string, listener: () => void): Promise<() => void> {
    return this.#offer().then((o) => o.subscribe(server, uri, listener))
  }

  getPrompt =
    ((...prompt: Parameters<Offers['prompt']>) => this.#offer().then((o) => o.prompt(...prompt))) as types.Registry[
      'getPrompt'
    ]

  complete(request: types.CompletionRequest, options?: { signal?: AbortSignal }): Promise<types.Completion> {
    return this.#offer().then((o) => o.complete(request, options))
  }

  logs(options?: { servers?: string[]; level?: types.LogLevel; signal?: AbortSignal }): Promise<types.LogEntry[]> {
    return this.#offer().then((o) => o.logs(options))
  }

  instructions =
    ((options?: Parameters<Offers['instructions']>[0]) =>
      this.#offer().then((o) => o.instructions(options))) as types.Registry['instructions']

  approveInstructions(server: string, text?: string): Promise<void> {
    return this.#approve({
      method: 'approveInstructions',
      name: server,
      instructions: text === undefined ? text : [text],
    })
  }

  async setRoots(roots: types.Root[]): Promise<void> {
    await this.requests.ask({ method: 'setRoots', roots })
  }

  async discover(names?: string[], options?: { signal?: AbortSignal }): Promise<types.Snapshot> {
    checkNames('names', names)
    checkFields('discover', options, 'signal')
    names = names?.filter((name) => !this.#isLocal(name))
    if (names && !names.length || this.#owner.discoverOff?.(names)) return this.getSnapshot()
    await this.requests.ask({ method: 'discover', names }, { signal: options?.signal })
    for (let known; known !== this.#filling;) await (known = this.#filling)
    return this.getSnapshot()
  }

  /** The tool of a server that its apps may call, by the server's own name (MCP Apps, visibility). */
  #forApp(server: string, name: string): types.ToolInfo | undefined {
    const own = this.tools.filter((t) => t.server === server)
    return [...own, ...this.#lists.get(server)?.apps ?? []].find((t) => t.tool === name && isFor('app', t.definition))
  }

  has(name: string): boolean {
    return isOwn(name) || !!this.#find(name)
  }

  /** The tools that models may call. Snapshots have a list of their own, which an app may sort. */
  get tools(): readonly types.ToolInfo[] {
    return this.#tools ??= this.#all('tools')
  }

  #find(name: string): types.ToolInfo | undefined {
    return (this.#index ??= new Map(this.tools.map((t) => [t.name, t]))).get(name)
  }

  search(query: string, options?: types.SearchOptions): Promise<types.SearchHit[]> {
    return this.#models.search(query, options)
  }

  /** Makes an index of tools in this realm. */
  async makeIndex(): Promise<SearchIndex> {
    return new (await part('search', this.host)).SearchIndex()
  }

  /** Whether another realm owns the registry. */
  get isRemote(): boolean {
    return !this.#owner.trust
  }

  async dispatch(
    name: string,
    args: Record<string, unknown> | string,
    options?: types.DispatchOptions,
  ): Promise<string> {
    return (await this.call(name, args, options)).text
  }

  call(name: string, args: Record<string, unknown> | string, options: DetachOptions): Promise<types.TaskHandle>
  call(
    name: string,
    args: Record<string, unknown> | string,
    options?: types.DispatchOptions,
  ): Promise<types.ToolResult>
  call(
    name: string,
    args: Record<string, unknown> | string,
    options: CallOptions = {},
  ): Promise<types.ToolResult | types.TaskHandle> {
    const app = options?.app // #run refuses null
    const isOurs = app !== undefined && !!this.#owner.trust // elsewhere the owner of the registry decides
    const forApp = isOurs ? this.#forApp(app, name) : undefined
    if (isOurs && !forApp) return this.#models.refuseApp(app, name)
    name = forApp?.name ?? name
    const run = (o: CallOptions, callId?: number) => this.#run(name, args, o, callId, forApp)
    // The end of a detached call is not its answer.
    return this.#activities && !options?.detach
      ? this.#activities.then(
        (a) => a.call(app ?? this.#find(name)?.server ?? '', String(name), args, options, run),
        () => run(options),
      )
      : run(options)
  }

  async #run(
    name: string,
    args: Record<string, unknown> | string,
    options: CallOptions,
    observedId?: number,
    forApp?: types.ToolInfo,
  ): Promise<types.ToolResult> {
    if (typeof name !== 'string') throw new RegistryError('invalid_arguments', "the tool's name is not a string")
    checkCall(options)
    const { signal, app } = options
    const sent = argumentText(args)
    if (app !== undefined && !forApp) return this.#send(name, sent, undefined, options, observedId)
    const find = () => forApp ? this.#forApp(forApp.server, forApp.tool) : this.#find(name)
    if (name === readTool) return (await part('results', this.host)).readCall(this, sent)
    if (this.#owner.trust && isOffering(name))
      return (await this.#offer()).forModel(name, sent, signal)
    if (isAnswered(name)) return this.#models.answer(name, sent, options)
    await this.confirm?.(find(), signal)
    const tool = find()
    const local = this.#isLocal(tool?.server) ? tool : undefined
    this.#owner.validate?.(tool, sent)
    this.#made().catch(ignore) // the call will need it
    const leaks = tool && !local ? this.#leaks(sent, tool.server) : undefined
    const asked = local && { ...local, pin: localPin }
    const denied = await this.#admit(() => local && find() === local ? asked : find(), name, sent, signal, leaks)
    if (signal?.aborted) throw aborted(signal)
    if (denied?.server) throw fromWire(denied)
    if (local && !denied) return this.#models.local.run(local, sent, options, this.runner)
    // The module says why there is no tool to ask about. It runs none without an object of arguments.
    return this.#send(name, denied ? '[]' : sent, tool, { ...options, app: forApp && true }, observedId)
  }

  /** Sends a call of a tool to the host. */
  async #send(
    name: string,
    args: string,
    tool: types.ToolInfo | undefined,
    options: Omit<CallOptions, 'app'> & Pick<SentOptions, 'app'>,
    observedId?: number,
  ): Promise<types.ToolResult> {
    const { signal, onProgress, ...sent } = options
    const { timeoutMs = this.#callTimeoutMs, callId = observedId } = sent
    const answer = await this.requests.ask<Called>({ method: 'call', name, args, progress: !!onProgress, ...sent }, {
      signal,
      onProgress,
      giveUpMs: timeoutMs + grace,
      about: { tool: tool?.tool, callId },
    })
    return sent.detach
      ? await (await this.#task()).begun(answer, (a) => this.#take(a, tool)) as unknown as types.ToolResult
      : this.#take(answer, tool)
  }

  /** Runs functions of the page. */
  readonly runner: ModelSource['runner'] = {
    timeoutMs: () => this.isRemote ? callTimeoutMs : this.#callTimeoutMs,
    check: async (tool, args) => (await part('validate', this.host)).checkArguments(tool, args),
    take: (answer) => this.#take(answer),
  }

  /** The result of an answer to a call. */
  async #take(answer: Called, tool = this.#toolOf(answer)): Promise<types.ToolResult> {
    const { server } = answer
    const results = await this.#made()
    let result
    try {
      result = await results.take(
        answer,
        this.resultBytes,
        originOf(this.#config(server)?.url ?? ''),
        this.#owner.scanner,
      )
    } catch (cause) {
      throw new RegistryError('protocol', 'the response is not JSON', { server, cause })
    }
    const leaks = this.#owner.leaks?.inResult(result)
    if (leaks?.length) result = { ...result, flags: [...result.flags ?? [], ...leaks] }
    const { options } = this.#owner
    const validateResults = options?.validateResults ?? 'flag'
    if (!options || validateResults === 'off' || result.isError || !tool?.definition.outputSchema) return result
    const throws = validateResults === 'error'
    const loading = part('validate', this.host)
    // The tool has run. Its result is worth more than the flags.
    return (await (throws ? loading : loading.catch(ignore)))?.checkResult(tool, result, throws) ?? result
  }

  /** The tool of an answer, by the server's own name. */
  #toolOf({ server, tool }: Called): types.ToolInfo | undefined {
    return this.tools.find((t) => t.server === server && t.tool === tool)
  }

  readonly #task = once<Tasks>(async () =>
    new (await part('tasks', this.host)).Tasks({
      requests: this.requests,
      take: (answer) => this.#take(answer),
      stored: this.#owner.tasks?.bind(this.#owner),
      snapshot: this.getSnapshot,
    })
  )

  tasks(): Promise<types.TaskHandle[]> {
    return this.#task().then((t) => t.list())
  }

  toMessage =
    (async (...message: [types.ToolResult, types.MessageOptions]) =>
      (await part('tomessage', this.host)).messageFor(this.getSnapshot(), ...message)) as types.Registry[
        'toMessage'
      ]

  getHealth(): Record<string, types.ServerHealth> {
    const { servers } = this.getSnapshot()
    return Object.fromEntries(Object.entries(servers).map(([name, { config: _, ...health }]) => [name, health]))
  }

  getSnapshot = (): types.Snapshot => {
    this.#snapshot ??= Object.freeze({
      status: this.#status,
      version: this.#changes,
      servers: { ...this.#servers, ...this.#models?.local.states },
      ...(this.#owner.warnings?.length && { warnings: this.#owner.warnings }),
      ...(this.#offers ??= { tools: [...this.tools], withheld: this.#all('withheld'), held: this.#all('held') }),
    })
    return this.#snapshot
  }

  #all<K extends keyof ToolLists>(which: K): ToolLists[K] {
    const lists = new Map<string, Partial<ToolLists>>([...this.#lists, ...this.#models?.local.lists() ?? []])
    const all = [...lists.keys()].sort().flatMap((server) => (lists.get(server)![which] ?? []) as types.HeldTool[])
    return all as ToolLists[K]
  }

  subscribe = (listener: () => void): () => void => {
    checkFunction('listener', listener)
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  observe = (listener: (a: types.Activity) => void, options: types.ObserveOptions = {}): () => void => {
    checkFunction('listener', listener)
    checkFields('observe', options, 'contents exchanges logs')
    const own = (a: types.Activity) => listener(a)
    this.#observers.set(own, options)
    this.#activities ??= part('activity', this.host).then(({ Activities }) =>
      new Activities(this.#observers, () => this.#owner.configs?.() ?? [], this.#owner.mask)
    )
    this.#activities.catch(() => this.#activities = undefined)
    this.#trace()
    return () => {
      this.#observers.delete(own)
      this.#trace()
      if (!this.#observers.size) this.#activities = undefined
    }
  }

  /** Tells the host whether an observer wants exchanges, or messages of logs. */
  #trace(): void {
    const all = [...this.#observers.values()]
    const logs = all.some((o) => o.logs)
    this.#activities?.then((a) => a.follow(logs, this.#offer)).catch(ignore)
    this.requests.tell({ method: 'trace', on: this.#tracing = all.some((o) => o.exchanges) })
  }

  async close(): Promise<void> {
    this.#models?.end()
    const closed = await this.requests.close()
    if (!closed) return
    await this.#owner.onClose?.()
    this.down(closed)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Vue makes no proxy of an object with a tag of its own. The private members do not exist on a proxy. */
  get [Symbol.toStringTag](): string {
    return 'Registry'
  }

  attached(a: Attached): void {
    if ((this.version ||= a.version) !== a.version)
      throw new RegistryError('version_mismatch', 'worker.js has another version')
    if (this.#tracing) this.requests.tell({ method: 'trace', on: true }) // this host does not know yet
    this.rememberSecrets ||= !!a.rememberSecrets
    this.project ??= a.project
    this.resultBytes = a.resultBytes ?? this.resultBytes
    this.#callTimeoutMs = a.callTimeoutMs
  }

  /** Shows all servers that are on as failed. */
  down(e: RegistryError): void {
    this.#lists.clear()
    this.#listsChanged()
    this.receive(failedState(Object.entries(this.#servers), e))
  }

  receive(m: Event): void {
    switch (m.event) {
      case 'state': {
        const servers = m.whole ? {} : { ...this.#servers }
        if (m.whole) { for (const name of this.#lists.keys()) if (!m.servers[name]) this.#lists.delete(name) }
        for (const [name, s] of Object.entries(m.servers)) {
          if (s) servers[name] = this.project && this.#owner.scopeOf ? { ...s, scope: this.#owner.scopeOf(name) } : s
          else delete servers[name]
          // Safari blocks a window that opens after code was loaded in the click.
          if (s?.signIn === 'needed') this.#owner.signInWindow?.().catch(ignore)
        }
        const before = this.#servers
        this.#activities?.then((a) => a.states(before, servers)).catch(ignore)
        this.#servers = servers
        for (const name of Object.keys(m.servers)) this.#override(name, before[name]?.config.overrides)
        this.#status = m.status
        if (m.warnings) this.#owner.warnings = m.warnings
        this.discovered ||= m.status !== 'idle'
        return m.whole ? this.#listsChanged() : this.changed()
      }
      case 'configs':
        return this.#owner.onConfigs?.(m.configs)
      case 'tools':
        return this.#receiveTools(m)
      case 'pinned': {
        const list = this.#lists.get(m.server)
        if (!list) return
        givePins(Object.values(list).flat(), m.pins)
        return this.changed()
      }
      case 'exchange':
        return void this.#activities?.then((a) => a.exchange(m, this.#servers)).catch(ignore)
      case 'hints':
        return this.#owner.onHints?.(m.hints)
      case 'pins':
        this.#approved.add(m.server)
        return void this.#owner.trust?.().then((t) => t.save(m, this.#lists.get(m.server)?.tools)).catch(ignore)
      case 'elicit':
        return void this.#elicit(m)
      case 'authorize':
        return void this.#owner.signInWindow?.().then((d) =>
          d.hear(m, (answer) => this.requests.post({ elicited: m.ask, answer }))
        )
    }
  }

  #receiveTools(m: ToolsEvent): void {
    const { server } = m
    let list = this.#arriving.get(server)
    if (m.first || !list) this.#arriving.set(server, list = { tools: [], withheld: [], held: [], apps: [] })
    if ('text' in m) {
      const definitions = (JSON.parse(m.text) as { result: { tools: types.ToolDefinition[] } }).result.tools
      m.places.forEach((place, i) => {
        const definition = definitions[place]!
        this.#sort(list, server, {
          name: m.names[i]!,
          tool: definition.name,
          definition,
          pin: m.pins[i]!,
          ...m.marks[i],
        })
      })
    } else for (const t of m.tools) this.#sort(list, server, t)
    if (!m.last) return
    this.#arriving.delete(server)
    const was = this.#lists.get(server)
    this.#replace(server, list)
    this.#made().catch(ignore) // calls will need it
    if (this.#approved.delete(server))
      this.#owner.trust?.().then((t) => t.define(server, list.tools)).catch(ignore)
    if (list.held.length) {
      const others = this.#filling
      this.#filling = this.#owner.trust?.().then(async (t) => {
        const held = await t.before(server, list.held, was)
        if (this.#lists.get(server) === list) this.#replace(server, { ...list, held })
      }).catch(ignore).then(() => others)
    }
  }

  #replace(server: string, list: ToolLists): void {
    if (Object.values(list).some((tools) => tools.length)) this.#lists.set(server, list)
    else this.#lists.delete(server)
    this.#listsChanged()
  }

  #sort(list: ToolLists, server: string, { withheld, held, ...tool }: ListedTool): void {
    const info: types.ToolInfo = { ...tool, server }
    this.#owner.scanner?.watch(info, () => this.tools)
    const shown = overridden(info, this.#servers[server]?.config.overrides?.[info.tool])
    if (withheld && !isFor('model', info.definition)) list.apps.push(info)
    else if (withheld) list.withheld.push(shown)
    else if (held) list.held.push(Object.assign(info, held)) // a person reviews the server's own definition
    else list.tools.push(shown)
  }

  /** Applies the overrides of a server to its tools, if they are others than before. */
  #override(server: string, before: types.ServerConfig['overrides']): void {
    const overrides = this.#servers[server]?.config.overrides
    const list = this.#lists.get(server)
    if (!list || !overrides && !before || JSON.stringify(overrides) === JSON.stringify(before)) return
    const [tools, withheld] = [list.tools, list.withheld].map((l) => l.map((t) => overridden(t, overrides?.[t.tool])))
    this.#lists.set(server, { ...list, tools: tools!, withheld: withheld! })
    this.#listsChanged()
  }

  readonly #questions = once<Questions>(async () =>
    new (await part('questions', this.host)).Questions(this.#owner.options!)
  )

  async #elicit(m: ElicitEvent): Promise<void> {
    const { ask: elicited } = m
    const held = m.request && this.requests.hold(m.during)
    try {
      const answer = await (await this.#questions()).put(m, held?.about)
      if (answer) this.requests.post({ elicited, answer })
    } catch (e) {
      if (held) this.requests.post({ elicited, error: toWire(e).message }) // an app may reject with nothing
    } finally {
      held?.release()
    }
  }

  /** Shows a change to the listeners. */
  changed(): void {
    this.#changes++
    this.#snapshot = undefined
    if (this.#notifying) return
    this.#notifying = true
    queueMicrotask(() => {
      this.#notifying = false
      for (const listener of [...this.#listeners]) shielded(listener)
    })
  }
}
