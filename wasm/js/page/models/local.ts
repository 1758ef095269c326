import { untried } from '../../shared/health.ts'
import type { Called } from '../../shared/protocol.ts'
import { isObject } from '../../shared/object.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import type * as types from '../../shared/types.ts'
import { serverRemovedError, timeoutError } from '../../shared/wire.gen.ts'
import { isOwn } from './own-tools.ts'
import { aborted, shielded, within } from '../requests.ts'

/** The url of a server whose tools are functions of the page. */
export const localUrl = 'builtin:page'

/** The server of a view's extra tools, for descriptions and results. */
const extraServer = 'page'

/** The bounds of a set of functions: tools, characters of a definition, and of an error's text. */
const mostTools = 1000, mostDefinition = 256 << 10, mostMessage = 2048

/** The names that every model takes, and that need no hash (registry/names). */
const legalName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

/** The runner of the page's functions. It makes results of the values that they return. */
export interface LocalRunner {
  /** The deadline of a call without one of its own, in ms. */
  timeoutMs(): number
  /** Checks arguments against the tool's schema. */
  check(tool: types.ToolInfo, args: string): Promise<void>
  /** Makes a result of an answer, as of a server's. */
  take(answer: Called): Promise<types.ToolResult>
}

/** Functions of the page, as tools of one server. */
export class LocalSet {
  infos: readonly types.ToolInfo[] = []
  #tools = new Map<string, types.LocalTool>()
  readonly #running = new Set<AbortController>()
  readonly #server: string
  readonly #nameOf: (tool: string) => string

  constructor(server: string, nameOf: (tool: string) => string) {
    this.#server = server
    this.#nameOf = nameOf
  }

  /** Adds tools, and replaces those of the same name. Changes nothing if one of them is not sound. */
  add(tools: readonly types.LocalTool[]): void {
    const plainJSON = 'Use plain objects, texts and numbers.'
    const fail = (message: string, hint: string): never => {
      throw new RegistryError('invalid_config', message, { server: this.#server, hint })
    }
    if (!Array.isArray(tools)) fail('the tools are not an array', 'Pass [{ name, description, inputSchema, run }].')
    const all = new Map(this.#tools)
    for (const tool of tools) {
      if (!isObject(tool) || typeof tool.name !== 'string' || !tool.name || typeof tool.run !== 'function')
        fail('a tool lacks its name or its function run', 'Pass { name, description, inputSchema, run }.')
      const name = this.#nameOf(tool.name)
      if (!legalName.test(name) || isOwn(name))
        fail(`models cannot use the name ${JSON.stringify(name.slice(0, 100))}`, 'Use letters, digits, _ and -.')
      const schema: unknown = tool.inputSchema ?? {}
      if (!isObject(schema) || '~standard' in schema || schema instanceof Promise) // such as of Zod
        fail(`the inputSchema of ${tool.name} is not JSON Schema`, 'Pass an object, such as that of z.toJSONSchema().')
      for (const field of ['parameters', 'input_schema'])
        if (field in tool) fail(`the tool ${tool.name} has the unknown field ${field}`, 'Call it inputSchema.')
      all.set(tool.name, { ...tool })
    }
    if (all.size > mostTools) fail(`there are more than ${mostTools} tools`, 'Offer fewer.')
    const infos = [...all.values()].map((tool) =>
      this.#info(tool) ?? fail(`the definition of ${tool.name} is no JSON`, plainJSON)
    )
    const large = infos.find(({ definition }) => JSON.stringify(definition).length > mostDefinition)
    if (large) fail(`the definition of ${large.tool} is too large`, `It may have ${mostDefinition} characters.`)
    this.#tools = all
    this.infos = infos
  }

  /** The tool as its list has it. Undefined if its definition is no JSON. */
  #info({ run: _, name, inputSchema, ...rest }: types.LocalTool): types.ToolInfo | undefined {
    const known = this.infos.find((t) => t.tool === name)
    let text
    try {
      text = JSON.stringify({ ...rest, name, inputSchema: inputSchema ?? { type: 'object', properties: {} } })
    } catch {
      return undefined
    }
    if (known && JSON.stringify(known.definition) === text) return known
    return { name: this.#nameOf(name), server: this.#server, tool: name, definition: JSON.parse(text) }
  }

  /** Runs a tool. An exception of its function is a result with `isError`. */
  async run(
    tool: types.ToolInfo,
    args: string,
    options: types.DispatchOptions & { detach?: boolean },
    runner: LocalRunner,
  ): Promise<types.ToolResult> {
    if (options.detach)
      throw new RegistryError('unsupported', 'a function of this page cannot run as a task', {
        server: tool.server,
        hint: 'Call it without detach.',
      })
    const { signal: caller, timeoutMs = runner.timeoutMs(), onProgress } = options
    await runner.check(tool, args)
    if (caller?.aborted) throw aborted(caller)
    const { server, tool: name } = tool
    const called = this.#tools.get(name)
    if (!called) throw removedError(server)
    const began = performance.now()
    const removal = new AbortController(), end = new AbortController()
    const time = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1))
    const signal = AbortSignal.any([removal.signal, time, end.signal, ...(caller ? [caller] : [])])
    this.#running.add(removal)
    let value: unknown, isError = false
    try {
      const progress = (p: types.ToolProgress) => {
        if (!signal.aborted) shielded(() => onProgress?.(p))
      }
      const run = async () => called.run(JSON.parse(args), { signal, onProgress: progress })
      value = await within(signal, run())
    } catch (e) {
      if (caller?.aborted) throw aborted(caller)
      if (time.aborted)
        throw new RegistryError(timeoutError.code, `no answer came in ${timeoutMs} ms`, { ...timeoutError, server })
      removal.signal.throwIfAborted()
      isError = true
      value = messageOf(e)
    } finally {
      this.#running.delete(removal)
      end.abort() // late progress is dropped
    }
    const durationMs = performance.now() - began
    return runner.take({ server, tool: name, durationMs, ...answerOf(value, isError) } as Called)
  }

  /** Removes all tools and ends their calls with an error. */
  clear(error: RegistryError): void {
    this.#tools.clear()
    this.infos = []
    for (const run of this.#running) run.abort(error)
  }
}

/** Functions of the page, as servers of its registry. */
export class LocalServers {
  states: types.Snapshot['servers'] = {}
  readonly #sets = new Map<string, LocalSet>()

  has(name: string): boolean {
    return this.#sets.has(name)
  }

  /** The tools of servers that are on: those that models may call, and those that `config.tools` leaves out. */
  lists(): Map<string, { tools: types.ToolInfo[]; withheld: types.ToolInfo[] }> {
    const on = [...this.#sets].filter(([name]) => this.states[name]!.config.enabled)
    return new Map(on.map(([name, { infos }]) => {
      const isOffered = offers(this.states[name]!.config)
      return [name, { tools: infos.filter(isOffered), withheld: infos.filter((t) => !isOffered(t)) }]
    }))
  }

  add(server: string, tools: readonly types.LocalTool[]): void {
    const set = this.#sets.get(server) ?? new LocalSet(server, (tool) => `${server}__${tool}`)
    if (!legalName.test(server) || server.includes('__') || server.endsWith('_'))
      throw new RegistryError('invalid_config', `models cannot use the server name ${JSON.stringify(server)}`, {
        server,
        hint: 'Use letters, digits, - and single _ between them.',
      })
    set.add(tools)
    this.#sets.set(server, set)
    this.update(server, {})
  }

  remove(server: string, error = removedError(server)): void {
    this.#sets.get(server)!.clear(error)
    this.#sets.delete(server)
    const { [server]: _, ...states } = this.states
    this.states = states
  }

  /** Changes whether the server is on, and which of its tools are offered. */
  update(server: string, patch: Pick<types.ServerConfig, 'enabled' | 'tools'>): void {
    const { infos } = this.#sets.get(server)!
    const config = { ...this.states[server]?.config, ...patch, url: localUrl }
    const enabled = config.enabled ??= true
    const state: types.Snapshot['servers'][string] = {
      ...untried,
      status: enabled ? 'connected' : 'disabled',
      toolCount: enabled ? infos.filter(offers(config)).length : 0,
      toolTotal: infos.length,
      config,
    }
    this.states = { ...this.states, [server]: state }
  }

  /** Refuses what only an MCP server can do. */
  checkRemote(name: string): void {
    if (this.has(name))
      throw new RegistryError('unsupported', `the tools of ${name} are functions of this page`, {
        server: name,
        hint: 'Change them with addTools() and removeServer(). enabled and tools can be updated.',
      })
  }

  async run(
    tool: types.ToolInfo,
    args: string,
    options: types.DispatchOptions,
    runner: LocalRunner,
  ): Promise<types.ToolResult> {
    const set = this.#sets.get(tool.server)
    if (!set) throw removedError(tool.server)
    return set.run(tool, args, options, runner)
  }

  /** Removes all, and ends their calls with an error. */
  close(error: RegistryError): void {
    for (const name of this.#sets.keys()) this.remove(name, error)
  }
}

/** The condition of `config.tools`. */
const offers = ({ tools: { allow, deny } = {} }: types.ServerConfig) => (tool: types.ToolInfo): boolean =>
  (!allow || allow.includes(tool.tool)) && !deny?.includes(tool.tool)

/** The extra tools of a view, under their own names. */
export function extraTools(tools: readonly types.LocalTool[]): LocalSet {
  const set = new LocalSet(extraServer, (tool) => tool)
  set.add(tools)
  for (const { tool } of set.infos)
    if (tool.includes('__'))
      throw new RegistryError('invalid_config', `the extra tool ${JSON.stringify(tool)} has two underscores in a row`, {
        hint: 'Names of servers have them. Use single underscores.',
      })
  return set
}

const removedError = (server: string) =>
  new RegistryError(serverRemovedError.code, `the tools of ${server} were removed`, { ...serverRemovedError, server })

/** The text of what was thrown, in at most 2,048 characters. */
export function messageOf(e: unknown): string {
  try {
    const text = e instanceof Error ? e.message || e.name : e
    return String(text).slice(0, mostMessage)
  } catch {
    return 'the error has no text' // an object without toString, or with one that throws
  }
}

/** The value of an answer, from the value that a function has returned. */
function answerOf(value: unknown, isError: boolean): Pick<Called, 'isError'> | object {
  // The text of a result depends on its own isError.
  const answer = (content: unknown, isError: boolean, more?: object | false) => (
    { isError, value: { content, isError, ...more } }
  )
  if (isObject(value) && Array.isArray(value['content'])) {
    const { content, structuredContent, isError, _meta } = value
    return answer(content.filter(isObject), isError === true, {
      ...(structuredContent !== undefined && { structuredContent }),
      ...(_meta !== undefined && { _meta }),
    })
  }
  if (typeof value === 'string' || value === undefined) return answer(textOf(value ?? ''), isError)
  let text
  try {
    text = JSON.stringify(value) ?? String(value)
  } catch (e) {
    return answer(textOf(`the result is not JSON: ${messageOf(e)}`), true)
  }
  return answer(textOf(text), isError, isObject(value) && { structuredContent: JSON.parse(text) })
}

const textOf = (text: string) => [{ type: 'text', text }]
