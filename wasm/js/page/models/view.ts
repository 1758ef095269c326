import { checkFields } from '../../shared/fields.ts'
import { legible } from '../../shared/json.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import { toolTokens } from '../../shared/tokens.ts'
import type * as types from '../../shared/types.ts'
import { argumentText, checkCall, checkFunction } from '../checkrequest.ts'
import { extraTools, type LocalRunner, type LocalSet } from './local.ts'
import { ModelTools } from './modeltools.ts'
import { resourceTools, skillTools } from './toolnames.ts'
import { isAnswered, isOffering, isOwn } from './own-tools.ts'
import { shielded, within } from '../requests.ts'
import { checkCount } from './suggest.ts'
import { filterFor, matchesOne } from './toolfilter.ts'

/** The names that a refused call lists. */
const mostNames = 30

/** The meaning of absent annotations (`ToolAnnotations` of the specification). */
const absent = { readOnly: false, destructive: true, idempotent: false, openWorld: true }

/** The registry, or the wider view, as far as a view uses it. */
export type Parent =
  & Pick<ModelTools, 'tools' | 'call' | 'find' | 'toMessage' | 'subscribe' | 'annotations' | 'isUnindexed'>
  & { readonly ended: AbortSignal; readonly runner: LocalRunner }

/** The tools of a view, as far as they are known to be the same. */
interface Chosen {
  from: readonly types.ToolInfo[]
  trusted: string
  tools: readonly types.ToolInfo[]
  dropped: readonly types.ToolInfo[]
}

/** The tools of a view that has ended. */
const nothing: Chosen = { from: [], trusted: '', tools: [], dropped: [] }

/** A narrower registry for one agent. */
export class View extends ModelTools implements types.View {
  readonly #parent: Parent
  #options: types.ViewOptions = {}
  #passes = filterFor({})
  #extra: LocalSet | undefined
  /** Results of extra tools. */
  readonly #ofExtra = new WeakSet<types.ToolResult>()
  #chosen: Chosen | undefined
  /** Listeners, and the ends of their subscriptions to the parent. */
  readonly #listeners = new Map<() => void, () => void>()
  readonly #ends = new AbortController()
  /** Ends with this view and with its parent. */
  readonly ended: AbortSignal
  #calls = 0
  /** When the first call began, of `performance.now()`. */
  #began: number | undefined

  constructor(parent: Parent, options: types.ViewOptions) {
    super()
    this.#parent = parent
    this.ended = AbortSignal.any([parent.ended, this.#ends.signal])
    this.update(options)
  }

  update(options: Partial<types.ViewOptions> = {}): void {
    checkFields('view', options, 'servers include exclude annotations budgetTokens approve limits extra')
    const { annotations, budgetTokens, limits } = options
    checkFields('annotations', annotations, Object.keys(absent).join(' '))
    checkFields('limits', limits, 'calls seconds')
    checkCount('budgetTokens', budgetTokens)
    for (const [name, value] of Object.entries(limits ?? {})) checkCount(`limits.${name}`, value)
    if (options.approve !== undefined) checkFunction('approve', options.approve)
    const merged = { ...this.#options, ...options }
    const passes = filterFor(merged)
    if ('extra' in options) this.#extra = options.extra && extraTools(options.extra)
    this.#passes = passes
    this.#options = merged
    this.#chosen = undefined
    queueMicrotask(() => {
      for (const listener of [...this.#listeners.keys()]) shielded(listener)
    })
  }

  get tools(): readonly types.ToolInfo[] {
    return this.#choose().tools
  }

  get dropped(): readonly types.ToolInfo[] {
    return this.#choose().dropped
  }

  #choose(): Chosen {
    if (this.ended.aborted) return nothing
    const from = this.#parent.tools
    const { annotations } = this.#options
    const believed = from.map((t) => annotations ? this.#parent.annotations(t) : undefined)
    // A server that becomes trusted changes no list.
    const trusted = believed.map(Boolean).join()
    const was = this.#chosen
    if (was?.from === from && was.trusted === trusted) return was
    const fitting = from.filter((t, i) => this.#passes(t) && agrees(annotations, believed[i]))
    const all = [...this.#extra?.infos ?? [], ...fitting]
    const [tools, dropped] = this.#fit(all)
    return this.#chosen = { from, trusted, tools: sameOr(was?.tools, tools), dropped: sameOr(was?.dropped, dropped) }
  }

  /** The tools within the budget, and the others. Extra tools rank first, then the order of `include`. */
  #fit(all: types.ToolInfo[]): [tools: types.ToolInfo[], dropped: types.ToolInfo[]] {
    const { budgetTokens, include = [] } = this.#options
    if (budgetTokens === undefined) return [all, []]
    const rank = (tool: types.ToolInfo) =>
      this.#extra?.infos.includes(tool) ? -1 : include.findIndex((pattern) => matchesOne(pattern, tool.name))
    const ranked = all.map((tool) => ({ tool, rank: rank(tool) })).sort((a, b) => a.rank - b.rank)
    let left = budgetTokens
    const dropped = new Set<types.ToolInfo>()
    for (const { tool } of ranked) {
      const tokens = toolTokens(tool)
      if (tokens > left) dropped.add(tool)
      else left -= tokens
    }
    return [all.filter((t) => !dropped.has(t)), [...dropped]]
  }

  get usage(): types.View['usage'] {
    return {
      calls: this.#calls,
      seconds: this.#began === undefined ? 0 : (performance.now() - this.#began) / 1000,
      tokens: this.tools.reduce((sum, tool) => sum + toolTokens(tool), 0),
    }
  }

  async call(
    name: string,
    args: Record<string, unknown> | string,
    options: types.DispatchOptions = {},
  ): Promise<types.ToolResult> {
    this.#checkOpen()
    checkCall(options)
    if (options.app !== undefined)
      throw new RegistryError('invalid_option', 'a view makes no calls for apps', { hint: 'Use the registry.' })
    let tool = this.named(name)
    if (!tool && !isOwn(name)) throw this.#notOffered(name)
    const text = argumentText(args)
    if (isAnswered(name)) return this.answer(name, text, options)
    if (isOffering(name)) {
      const { server = '' } = JSON.parse(text) as { server?: string }
      const { servers, include } = this.#options
      // Resources and skills are there of the servers whose tools the view may have.
      const known = servers ?? (include && [...new Set(this.tools.map((t) => t.server))])
      if (known && !known.includes(server))
        throw forModel('not_offered', `Name one of these servers: ${known.join(', ')}.`)
      // A reading is asked about and counted as a call is.
      if (name === resourceTools[1] || name === skillTools[1])
        tool = { name, server, tool: name, definition: { name, inputSchema: {} } }
    }
    if (!tool) return this.#parent.call(name, args, options)
    const { calls = Infinity, seconds = Infinity } = this.#options.limits ?? {}
    this.#began ??= performance.now()
    const left = seconds * 1000 - (performance.now() - this.#began)
    if (this.#calls >= calls) throw overBudget(`all ${calls} calls`)
    if (left <= 0) throw overBudget(`all ${seconds} seconds`)
    this.#calls++
    const time = left < 2 ** 31 ? AbortSignal.timeout(Math.ceil(left)) : undefined
    const signal = AbortSignal.any([options.signal, this.ended, time].filter((s) => !!s))
    try {
      tool = await this.#allowed(tool, text, signal)
      if (!this.#extra?.infos.includes(tool)) return await this.#parent.call(name, args, { ...options, signal })
      const result = await this.#extra.run(tool, text, { ...options, signal }, this.runner)
      this.#ofExtra.add(result)
      return result
    } catch (e) {
      if (options.signal?.aborted || !signal.aborted) throw e
      if (this.ended.aborted) throw closedError()
      throw overBudget(`all ${seconds} seconds`)
    }
  }

  /** The tool, once its call is allowed. A tool that has changed meanwhile is asked about again. */
  async #allowed(tool: types.ToolInfo, args: string, signal: AbortSignal): Promise<types.ToolInfo> {
    for (;;) {
      const { name, pin } = tool
      await this.#approve(tool, args, signal)
      const now = isOwn(name) ? tool : this.named(name)
      if (!now) throw this.#notOffered(name)
      if (!pin || now.pin === pin) return now
      tool = now
    }
  }

  async #approve(tool: types.ToolInfo, args: string, signal: AbortSignal): Promise<void> {
    const { approve } = this.#options
    if (!approve) return
    const answer = await within(
      signal,
      (async () =>
        approve({
          server: tool.server,
          tool: tool.tool,
          name: tool.name,
          args: legible(args) as types.ApprovalRequest['args'],
          description: tool.definition.description ?? '',
          annotations: tool.definition.annotations ?? {},
          trusted: !!this.annotations(tool),
          pin: tool.pin ?? '',
          flags: tool.flags ?? [],
          signal,
        }))().catch((e: unknown) => this.#denied(tool, `the approval failed: ${(e as Error)?.message ?? e}`)),
    )
    if (answer !== true && answer !== 'once' && answer !== 'always')
      this.#denied(tool, `the call of ${tool.name} was not allowed`)
  }

  #denied(tool: types.ToolInfo, message: string): never {
    throw new RegistryError('denied', message, { server: tool.server, hint: "The view's approve did not allow it." })
  }

  #notOffered(name: unknown): RegistryError {
    const names = this.tools.slice(0, mostNames).map((t) => t.name).join(', ')
    const list = names ? `You may call: ${names}` : 'There are no tools'
    return forModel('not_offered', `There is no tool ${JSON.stringify(String(name).slice(0, 200))}. ${list}.`)
  }

  #checkOpen(): void {
    if (this.ended.aborted) throw closedError()
  }

  async find(query: string, options: types.SearchOptions, names?: ReadonlySet<string>): Promise<types.SearchHit[]> {
    this.#checkOpen()
    const own = this.tools.map((t) => t.name)
    return this.#parent.find(query, options, new Set(names ? own.filter((name) => names.has(name)) : own))
  }

  get runner(): LocalRunner {
    return this.#parent.runner
  }

  get toMessage(): types.Registry['toMessage'] {
    return (async (result: types.ToolResult, options: types.MessageOptions) => {
      const message = await this.#parent.toMessage(result, options)
      if ('functionResponse' in message && this.#ofExtra.has(result)) message.functionResponse.name = result.tool
      return message
    }) as types.Registry['toMessage']
  }

  override isUnindexed(tool: types.ToolInfo): boolean {
    return !!this.#extra?.infos.includes(tool) || this.#parent.isUnindexed(tool)
  }

  annotations(tool: types.ToolInfo): Record<string, unknown> | undefined {
    return this.#extra?.infos.includes(tool) ? tool.definition.annotations ?? {} : this.#parent.annotations(tool)
  }

  view(options: types.ViewOptions = {}): types.View {
    return new View(this, options)
  }

  subscribe(listener: () => void): () => void {
    checkFunction('listener', listener)
    let known = this.tools
    const own = () => {
      const now = this.tools
      if (now !== known) {
        known = now
        listener()
      }
    }
    if (!this.ended.aborted) this.#listeners.set(own, this.#parent.subscribe(own))
    return () => this.#unsubscribe(own)
  }

  close(): void {
    this.#ends.abort()
    for (const own of [...this.#listeners.keys()]) this.#unsubscribe(own)
  }

  #unsubscribe(own: () => void): void {
    this.#listeners.get(own)?.()
    this.#listeners.delete(own)
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

const closedError = () => new RegistryError('closed', 'the view was closed', { hint: 'Make one: registry.view().' })

/** A refusal, whose message is for the model. */
const forModel = (code: types.ErrorCode, message: string) =>
  new RegistryError(code, message, { hint: 'The view refuses it. The message is for the model.' })

const overBudget = (what: string) =>
  forModel('budget_exceeded', `${what} of this task are used up. Answer with what you have.`)

/** Whether annotations are as wanted. Those that are not believed count as absent. */
function agrees(wanted: types.ViewOptions['annotations'], believed: Record<string, unknown> | undefined): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) => {
    const said = believed?.[`${name}Hint`]
    return value === undefined || (typeof said === 'boolean' ? said : absent[name as keyof typeof absent]) === value
  })
}

/** The earlier array, if it has the same elements. */
function sameOr<T>(was: readonly T[] | undefined, now: readonly T[]): readonly T[] {
  return was?.length === now.length && was.every((value, i) => value === now[i]) ? was : now
}
