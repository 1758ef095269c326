import { ignore } from '../../shared/download.ts'
import { checkFields } from '../../shared/fields.ts'
import { unknownFormat } from './formats.ts'
import { isObject, mayLoseDigits, memberText } from '../../shared/json.ts'
import { toolTokens } from '../../shared/tokens.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type * as types from '../../shared/types.ts'
import { argumentText, checkFunction, checkNames } from '../checkrequest.ts'
import { aiSchema, convertTools } from './dialects.ts'
import { isOwn } from './own-tools.ts'
import { apiTool, callTool, codeTool, searchTool } from './toolnames.ts'
import { imported } from '../imported.ts'
import { checkCount, suggest } from './suggest.ts'
import { filterFor, matches } from './toolfilter.ts'

const sdk = 'ai-sdk'

/** The tokens of the tools that are there at once, by default. */
const defaultBudget = 8000

/** The most tools that are there at once. OpenAI takes 128, with those of the registry itself. */
const mostTools = 120

/** The tools that a search by a model gives: by default, and at most. */
const defaultHits = 5, mostHits = 20

/** The names that are shown for a name that does not exist. */
const nearest = 3

/** Tools in the forms of providers, with search and calls: of a registry, or of a view of it. */
export abstract class ModelTools {
  /** The dialect of the last deferred list. Found tools have its form. */
  #dialect: types.Dialect = 'openai'
  /** The tools of that list, if a search may find no others: Anthropic refuses references to them. */
  #listed: ReadonlySet<string> | undefined
  /** The tools for which an index was asked for. */
  #prepared: readonly types.ToolInfo[] | undefined

  /** The tools that models may call now. The array stays the same until the tools change. */
  abstract readonly tools: readonly types.ToolInfo[]
  abstract readonly toMessage: types.Registry['toMessage']
  /** Ends with the registry, or the view. */
  abstract readonly ended: AbortSignal
  /** A model may make up the name of a tool: its code runs if the app has offered that. */
  #offersCode = false

  abstract call(
    name: string,
    args: Record<string, unknown> | string,
    options?: types.DispatchOptions,
  ): Promise<types.ToolResult>

  /** Searches the tools. `names`, if given, are the only ones that count. */
  abstract find(query: string, options: types.SearchOptions, names?: ReadonlySet<string>): Promise<types.SearchHit[]>

  /** Calls the listener after each change of the tools. */
  abstract subscribe(listener: () => void): () => void

  /** Whether a search does not find the tool, so that each list has to have it. */
  isUnindexed(_tool: types.ToolInfo): boolean {
    return false
  }

  /** The annotations of a tool, as far as they are believed. */
  abstract annotations(tool: types.ToolInfo): Record<string, unknown> | undefined

  getTools = ((options: types.GetToolsOptions = {}) => {
    const known = 'format servers include exclude readResult resources skills deferred codeMode onLoss'
    checkFields('getTools', options, known)
    if (options.onLoss !== undefined) checkFunction('onLoss', options.onLoss)
    if ((options.format as string) !== sdk) return this.#convert(options)
    const chosen = this.#convert({ ...options, format: 'openai' }) as types.OpenAITool[]
    return Object.fromEntries(
      chosen.map(({ function: f }): [string, types.AISDKTool] => [
        f.name,
        { description: f.description, inputSchema: aiSchema(f.parameters) },
      ]),
    )
  }) as types.Registry['getTools']

  /** The tools that pass the filter, in the dialect. */
  #convert({ deferred = false, codeMode, onLoss, ...options }: types.GetToolsOptions): types.Tool[] {
    const { format = 'openai' } = options
    const isAmong = filterFor(options)
    if (codeMode) {
      checkCode({ ...options, deferred })
      this.#offersCode = true
      this.#prepare()
      return convertTools(format, [], { ...options, code: true })
    }
    const tools = this.tools.filter(isAmong)
    if (!deferred) return convertTools(format, tools, options, onLoss)
    const { keep = [], budgetTokens = defaultBudget } = checkDefer(deferred)
    const isAnthropic = format === 'anthropic'
    let left = budgetTokens, room = isAnthropic ? Infinity : mostTools
    // Stops at the first tool that does not fit: a list of 5,000 is not weighed for a budget of 20.
    const takes = (tool: types.ToolInfo) => left >= 0 && --room >= 0 && (left -= toolTokens(tool)) >= 0
    if (tools.every(takes)) return convertTools(format, tools, options, onLoss)
    this.#dialect = format
    this.#listed = isAnthropic ? new Set(tools.map((t) => t.name)) : undefined
    this.#prepare()
    const isKept = (tool: types.ToolInfo) => matches(keep, tool.name) || this.isUnindexed(tool)
    if (isAnthropic) {
      const all = convertTools(format, tools, {}, onLoss) as types.AnthropicTool[]
      return [
        ...all.map((tool, i) => isKept(tools[i]!) ? tool : { ...tool, defer_loading: true }),
        ...convertTools(format, [], { ...options, search: true }),
      ]
    }
    left = budgetTokens
    room = mostTools
    for (const tool of tools) if (isKept(tool)) takes(tool)
    const near = tools.filter((t) => isKept(t) || takes(t))
    return convertTools(format, near, { ...options, search: true, call: true }, onLoss)
  }

  /** Builds the index, so that the first search of a model does not wait for it. */
  #prepare(): void {
    if (this.#prepared === this.tools) return
    this.#prepared = this.tools
    this.find('', { limit: 1 }).catch(ignore) // a search says what is wrong
  }

  losses(format: types.Dialect, filter: types.ToolFilter = {}): types.Loss[] {
    const losses: types.Loss[] = []
    this.getTools({ ...filter, deferred: false, format, onLoss: (loss) => losses.push(loss) })
    return losses
  }

  toolsFor(
    format: 'ai-sdk',
    options: types.ToolFilter & types.MediaOptions = {},
  ): Record<string, types.RunnableAISDKTool> {
    if (format !== sdk) throw unknownFormat(format, [sdk])
    const { modalities, maxImageBytes, ...filter } = options ?? {}
    const tools = this.getTools(options && { ...filter, format }) // which refuses null
    return Object.fromEntries(
      Object.entries(tools).map(([name, tool]): [string, types.RunnableAISDKTool] => [name, {
        ...tool,
        execute: (args, { abortSignal: signal, toolCallId: callId }) => this.call(name, args, { signal, callId }),
        toModelOutput: ({ output }) => this.toMessage(output, { format, modalities, maxImageBytes }),
      }]),
    )
  }

  async dispatch(...call: Parameters<ModelTools['call']>): Promise<string> {
    return (await this.call(...call)).text
  }

  /** The tool of that name. */
  named(name: string): types.ToolInfo | undefined {
    return this.tools.find((t) => t.name === name)
  }

  has(name: string): boolean {
    return isOwn(name) || !!this.named(name)
  }

  search(query: string, options: types.SearchOptions = {}): Promise<types.SearchHit[]> {
    return this.find(query, options)
  }

  suggest(task: string, options?: types.SuggestOptions): Promise<types.SuggestedTool[]> {
    return suggest(this, task, options)
  }

  /** Answers the tools with which models find and call other tools. */
  async answer(name: string, args: string, options: types.DispatchOptions = {}): Promise<types.ToolResult> {
    const asked = JSON.parse(args) as Record<string, unknown>
    if (name === searchTool || name === apiTool) return this.#search(name, asked, options)
    if (name === codeTool) return this.#run(asked['code'], options)
    // Parsing rounds large integers, and the text has their digits.
    if (isObject(asked['arguments']) && mayLoseDigits(args)) asked['arguments'] = memberText(args, 'arguments')
    return this.#call(asked, options)
  }

  async #search(name: string, { query, limit, server }: Record<string, unknown>, { signal }: types.DispatchOptions) {
    const began = performance.now()
    if (typeof query !== 'string') return ownResult(name, began, 'Say what you look for in `query`.', true)
    const most = Math.min(Math.max(Math.floor(Number(limit)) || defaultHits, 1), mostHits)
    const hits = await this.find(query.slice(0, 1000), {
      limit: most,
      ...(server && typeof server === 'string' ? { servers: [server] } : {}),
      ...(signal && { signal }),
    }, name === searchTool ? this.#listed : undefined)
    // Tools that no search finds are declared each time.
    const isExtra = (tool: types.ToolInfo) => this.isUnindexed(tool) && (!server || tool.server === server)
    const extra = name === apiTool ? this.tools.filter(isExtra).slice(0, mostHits) : []
    const found = [...extra, ...hits.flatMap((hit) => this.named(hit.name) ?? [])]
    if (!found.length) return ownResult(name, began, 'No tool fits. Try other words, or go on without a tool.')
    if (name === apiTool) return ownResult(name, began, (await codeMode()).declarations(found))
    const text = JSON.stringify({ tools: convertTools(this.#dialect, found, {}) })
    return { ...ownResult(searchTool, began, text), structuredContent: { names: found.map((t) => t.name) } }
  }

  async #call({ name, arguments: args }: Record<string, unknown>, options: types.DispatchOptions) {
    const began = performance.now()
    if (typeof name === 'string' && this.named(name)) return this.call(name, argumentText(args), options)
    const text = `There is no tool ${JSON.stringify(String(name).slice(0, 200))}.`
    return ownResult(callTool, began, text + await this.nearest(name, searchTool, (tool) => tool.name), true)
  }

  /** Names the tools whose names are nearest to one that does not exist. */
  async nearest(name: unknown, finder: string, shown: (tool: types.ToolInfo) => string): Promise<string> {
    const near = await this.search(String(name).slice(0, 200), { limit: nearest }).catch((e: unknown) => {
      if (this.ended.aborted) throw e
      return []
    })
    const names = near.flatMap((hit) => this.named(hit.name) ?? []).map(shown)
    return `${names.length ? ` The nearest are: ${names.join(', ')}.` : ''} Find tools with ${finder}.`
  }

  async #run(code: unknown, options: types.DispatchOptions) {
    const began = performance.now()
    checkRealm()
    if (!this.#offersCode)
      throw new RegistryError('not_offered', 'no code runs here', { hint: 'getTools({ codeMode: true }) offers that.' })
    const { text, isError, flags } = await (await codeMode()).runFor(this, code, options)
    return { ...ownResult(codeTool, began, text, isError), ...(flags.length && { flags }) }
  }
}

const codeMode = () => imported('codemode.js', () => import('./codemode.ts'))

/** Refuses code mode where no frame can be made, and beside options that would not bind the code. */
function checkCode(options: types.GetToolsOptions): void {
  checkRealm()
  const other = (['servers', 'include', 'exclude', 'deferred'] as const).find((name) => options[name])
  if (other)
    throw new RegistryError('invalid_option', `codeMode goes without ${other}`, {
      hint: 'A view has fewer tools: registry.view({ servers }).getTools({ codeMode: true }).',
    })
}

function checkRealm(): void {
  if (typeof document === 'undefined' || typeof Worker === 'undefined')
    throw new RegistryError('unsupported', 'code runs in pages only', { hint: 'Offer the tools without codeMode.' })
}

/** A result that the registry makes itself. */
function ownResult(tool: string, began: number, text: string, isError = false): types.ToolResult {
  const server = 'portolan'
  return {
    text,
    content: [{ type: 'text', text }],
    isError,
    server,
    tool,
    durationMs: performance.now() - began,
    provenance: { server, tool, origin: '', untrusted: true },
  }
}

function checkDefer(deferred: true | types.DeferOptions): types.DeferOptions {
  if (deferred === true) return {}
  checkFields('deferred', deferred, 'keep budgetTokens')
  checkNames('deferred.keep', deferred.keep)
  checkCount('deferred.budgetTokens', deferred.budgetTokens)
  return deferred
}
