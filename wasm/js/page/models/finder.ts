import { checkNames } from '../checkrequest.ts'
import { aborted, type Requests } from '../requests.ts'
import { ignore } from '../../shared/download.ts'
import { checkFields } from '../../shared/fields.ts'
import { RegistryError } from '../../shared/registry-error.ts'
import { crashed } from '../../shared/restarts.ts'
import type { Found, SearchIndex } from '../../shared/search.ts'
import { documentOf, textOf, type SearchDocument } from '../../shared/searchdocument.ts'
import type { Mode, Registry, SearchHit, SearchOptions, ToolInfo } from '../../shared/types.ts'
import { inTurns, type Steps } from '../../shared/yield.ts'

/** The most hits, and the longest query and description of a hit, in characters. */
const MOST_HITS = 50, QUERY = 2_000, DESCRIPTION = 1_000

/** The registry, as far as a search uses it. */
export interface FinderSource extends Pick<Registry, 'getSnapshot'> {
  /** The tools that models may call. */
  readonly tools: readonly ToolInfo[]
  readonly requests: Requests
  /** Another realm owns the registry. */
  readonly isRemote: boolean
  readonly mode: Mode
  /** Makes an index in this realm. */
  makeIndex(): Promise<SearchIndex>
}

/**
 * Searches the tools of a registry. The index is in the host, which gets the changed tools with the next search. A
 * registry of another realm has its index here, because only this realm knows which tools it offers. So has one whose
 * module is not loaded.
 */
export class Finder {
  readonly #source: FinderSource
  /** The tools in the index, by server. */
  readonly #indexed = new Map<string, readonly ToolInfo[]>()
  /** The index of a registry without a host of its own. */
  #own: SearchIndex | undefined
  /** The number of messages that made the host's index. A host that was started again has none. */
  #parts = 0
  /** There is no index yet, or the host has lost it. */
  #isLost = true
  /** Settles when the index has the last change. */
  #updated: Promise<void> = Promise.resolve()

  constructor(source: FinderSource) {
    this.#source = source
  }

  async search(
    query: string,
    options: SearchOptions = {},
    only?: ReadonlySet<string>,
  ): Promise<SearchHit[]> {
    checkFields('search', options, 'limit servers signal')
    const { limit = 10, servers, signal } = options
    if (typeof query !== 'string') throw new RegistryError('invalid_arguments', 'the query is not a string')
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_HITS)
      throw new RegistryError('invalid_option', `limit is not a whole number from 1 to ${MOST_HITS}`)
    checkNames('servers', servers)
    const asked = {
      query: query.slice(0, QUERY),
      limit,
      servers,
      ...(only && { names: [...only] }),
    }
    const found = await this.#find(asked, signal)
    if (signal?.aborted) throw aborted(signal)
    const tools = this.#source.tools // some may have left meanwhile
    return found.flatMap(({ name, server, score, why }) => {
      const tool = tools.find((t) => t.name === name)
      return tool ? [{ name, server, description: textOf(tool.definition.description, DESCRIPTION), score, why }] : []
    })
  }

  async #find(
    asked: { query: string; limit: number; servers?: string[]; names?: string[] },
    signal: AbortSignal | undefined,
  ): Promise<Found[]> {
    const { requests } = this.#source
    for (let attempt = 0; this.#source.tools.length; attempt++) {
      if (signal?.aborted) throw aborted(signal)
      await (this.#updated = this.#updated.catch(ignore).then(() => this.#update()))
      if (this.#own) return this.#own.search(asked.query, asked.limit, asked)
      const parts = this.#parts
      const request = requests.ask<Found[] | null>({ method: 'search', parts, ...asked }, { signal })
      const found = await request.catch((e: RegistryError) => {
        if (e.code !== 'runtime_crashed' || attempt > 2) throw e
      })
      if (found) return found
      if (attempt > 2) throw crashed()
      if (parts === this.#parts) this.#isLost = true
    }
    return []
  }

  /** Brings the index up to date with the tools. */
  async #update(): Promise<void> {
    const { isRemote, mode, requests } = this.#source
    const isHere = isRemote || mode === 'replay' || !requests.isRunning // a cassette has no index
    if (this.#isLost || isHere !== !!this.#own) {
      this.#own = isHere ? await this.#source.makeIndex() : undefined
      this.#indexed.clear()
      this.#parts = 0
      this.#isLost = false
    }
    const now = new Map<string, ToolInfo[]>()
    for (const tool of this.#source.tools) {
      const list = now.get(tool.server)
      if (list) list.push(tool)
      else now.set(tool.server, [tool])
    }
    for (const server of new Set([...this.#indexed.keys(), ...now.keys()])) {
      const list = now.get(server) ?? [], had = this.#indexed.get(server) ?? []
      if (list.length === had.length && list.every((t, i) => t === had[i])) continue
      this.#indexed.delete(server)
      const documents = await inTurns(documentsOf(list))
      if (this.#own) await inTurns(this.#own.set(server, documents))
      else requests.tell({ method: 'index', server, documents, part: this.#parts++ })
      if (list.length) this.#indexed.set(server, list)
    }
  }
}

function* documentsOf(tools: readonly ToolInfo[]): Steps<SearchDocument[]> {
  const documents: SearchDocument[] = []
  for (const tool of tools) {
    documents.push(documentOf(tool))
    yield
  }
  return documents
}
