// The tools of a registry as models get them. createRegistry loads it beside the module.

import type * as types from '../shared/types.ts'
import { Finder, type FinderSource } from './finder.ts'
import { LocalServers, localUrl, type LocalRunner } from './local.ts'
import { ModelTools } from './modeltools.ts'
import { View, type Parent } from './view.ts'

/** What the tools need of their registry. */
export interface Source extends FinderSource, Pick<types.Registry, 'call' | 'toMessage' | 'subscribe'> {
  readonly runner: LocalRunner
}

/** The tools of a whole registry. */
export class RegistryTools extends ModelTools implements Parent {
  /** Functions of the page. */
  readonly local = new LocalServers()
  readonly #source: Source
  readonly #finder: Finder
  readonly #ends = new AbortController()

  constructor(source: Source) {
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

  find(...search: Parameters<ModelTools['find']>): Promise<types.SearchHit[]> {
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

  /** Ends all views, and the functions of the page. */
  end(): void {
    this.#ends.abort()
    this.local.close()
  }
}
