// The tools of a registry as models get them. createRegistry loads it beside the module.

import { RegistryError } from '../../shared/registry-error.ts'
import type * as types from '../../shared/types.ts'
import { checkName } from '../checkrequest.ts'
import { Finder, type FinderSource } from './finder.ts'
import { LocalServers, localUrl, type LocalRunner } from './local.ts'
import { ModelTools } from './modeltools.ts'
import { imported } from '../imported.ts'
import type { Publisher } from '../publish.ts'
import { View, type Parent } from './view.ts'
import { closedError } from '../requests.ts'

/** The registry, as far as the tools use it. */
export interface ModelSource extends FinderSource, Pick<types.Registry, 'call' | 'toMessage' | 'subscribe'> {
  readonly runner: LocalRunner
}

/** The tools of a whole registry. */
export class RegistryTools extends ModelTools implements Parent {
  /** Functions of the page. */
  readonly local = new LocalServers()
  readonly #source: ModelSource
  readonly #finder: Finder
  readonly #ends = new AbortController()
  #publisher: Publisher | undefined

  constructor(source: ModelSource) {
    super()
    this.#source = source
    this.#finder = new Finder(source)
  }

  get ended(): AbortSignal {
    return this.#ends.signal
  }

  get runner(): LocalRunner {
    return this.#source.runner
  }

  get tools(): readonly types.ToolInfo[] {
    return this.#source.tools
  }

  get toMessage(): types.Registry['toMessage'] {
    return this.#source.toMessage
  }

  call(...call: Parameters<ModelTools['call']>): Promise<types.ToolResult> {
    return this.#source.call(...call)
  }

  async find(...search: Parameters<ModelTools['find']>): Promise<types.SearchHit[]> {
    if (this.ended.aborted) throw closedError()
    return this.#finder.search(...search)
  }

  subscribe(listener: () => void): () => void {
    return this.#source.subscribe(listener)
  }

  annotations(tool: types.ToolInfo): Record<string, unknown> | undefined {
    const config = this.#source.getSnapshot().servers[tool.server]?.config
    return config?.trust === 'trust' || config?.url === localUrl ? tool.definition.annotations ?? {} : undefined
  }

  view(options: types.ViewOptions = {}): types.View {
    return new View(this, options)
  }

  addTools(server: string, tools: readonly types.LocalTool[]): void {
    checkName(server)
    if (this.ended.aborted) throw closedError()
    if (Object.hasOwn(this.#source.getSnapshot().servers, server) && !this.local.has(server))
      throw new RegistryError('invalid_config', `${server} is an MCP server`, { server, hint: 'Use another name.' })
    this.local.add(server, tools)
  }

  async publishTools(
    document: object | undefined = globalThis.document,
    onRefused?: Parameters<types.Registry['publishTools']>[1],
  ): Promise<() => void> {
    if (document === undefined) return () => {} // a worker
    const { Publisher } = await imported('publish.js', () => import('../publish.ts'))
    this.#publisher ??= new Publisher({
      tools: () => [...this.local.lists().values()].flatMap((list) => list.tools),
      call: (...call) => this.call(...call),
      subscribe: (listener) => this.subscribe(listener),
      ended: this.ended,
    })
    return this.#publisher.publish(document, onRefused)
  }

  /** Rejects a call of a server's app. */
  async refuseApp(server: string, name: string): Promise<never> {
    throw new RegistryError('unknown_tool', `${server} has no tool ${String(name).slice(0, 200)} for its apps`, {
      server,
      hint: 'Apps call tools of their own server, by its names, whose visibility has "app".',
    })
  }

  /** Ends all views, and the functions of the page. */
  end(): void {
    this.#ends.abort()
    this.local.close(closedError())
  }
}
