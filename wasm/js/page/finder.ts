import { checkNames } from './checkrequest.ts'
import { aborted, type Requests } from './requests.ts'
import { ignore } from '../shared/download.ts'
import { checkFields } from '../shared/fields.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { crashed } from '../shared/restarts.ts'
import type { Found, SearchIndex } from '../shared/search.ts'
import { documentOf, textOf, type SearchDocument } from '../shared/searchdocument.ts'
import type { SearchHit, SearchOptions, ToolInfo } from '../shared/types.ts'
import { inTurns, type Steps } from '../shared/yield.ts'

/** The most tools in one message to the host. */
const PART = 100
/** The most hits, and the longest query and description of a hit, in characters. */
const MOST_HITS = 50, QUERY = 2_000, DESCRIPTION = 1_000

/** What the part takes from its registry. */
export interface FinderSource {
  requests: Requests
  /** The tools that models may call now, by name. */
  tools(): ReadonlyMap<string, ToolInfo>
  /** Makes an index in this realm. */
  makeIndex(): Promise<SearchIndex>
  /** Another realm owns the registry. */
  isRemote: boolean
}

/**
 * Searches the tools of a registry. The index is in the host, which gets the changed tools with the next search. A
 * registry of another realm has its index here, because only this realm knows which tools it offers. So has one whose
 * module is not loaded.
 */
export class Finder {
  readonly #source: FinderSource
  #seen: ReadonlyMap<string, ToolInfo> | undefined
  /** The tools in the index, by server. */
  readonly #indexed = new Map<string, readonly ToolInfo[]>()
  /** The index of a registry without a host of its own. */
  #own: Promise<SearchIndex> | undefined
  /** How many messages made the host's index. */
  #parts = 0
  /** Counts the indexes that hosts have lost. A host that was started again has none. */
  #losses = 0
  #isLost = false
  /** Settles when the index has the last change. */
  #updated: Promise<unknown> = Promise.resolve()

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
      ...(servers && { servers }),
      ...(only && { names: [...only] }),
    }
    const found = await this.#find(asked, signal)
    if (signal?.aborted) throw aborted(signal)
    const tools = this.#source.tools() // some may have left meanwhile
    return found.flatMap(({ name, server, score, why }) => {
      const tool = tools.get(name)
      return tool ? [{ name, server, description: textOf(tool.definition.description, DESCRIPTION), score, why }] : []
    })
  }

  async #find(
    asked: { query: string; limit: number; servers?: string[]; names?: string[] },
    signal: AbortSignal | undefined,
  ): Promise<Found[]> {
    const { requests, tools } = this.#source
    for (let attempt = 0; tools().size; attempt++) {
      if (signal?.aborted) throw aborted(signal)
      const updated = this.#updated.then(() => this.#update())
      this.#updated = updated.catch(ignore)
      await updated
      if (this.#own) return (await this.#own).search(asked.query, asked.limit, asked)
      const losses = this.#losses
      try {
        const found = await requests.ask<Found[] | null>({ method: 'search', parts: this.#parts, ...asked }, { signal })
        if (found) return found
      } catch (e) {
        if ((e as RegistryError).code !== 'runtime_crashed' || attempt > 2) throw e
      }
      if (attempt > 2) throw crashed()
      if (losses === this.#losses) {
        this.#losses++
        this.#isLost = true
      }
    }
    return []
  }

  /** Brings the index up to date with the tools. */
  async #update(): Promise<void> {
    const { tools: all, isRemote, requests } = this.#source
    const tools = all()
    const isHere = isRemote || !requests.isRunning
    if (this.#isLost || isHere !== !!this.#own) {
      this.#isLost = false
      this.#own = isHere ? this.#source.makeIndex() : undefined
      this.#indexed.clear()
      this.#parts = 0
    } else if (tools === this.#seen) return
    this.#seen = undefined
    await this.#own?.catch((e) => {
      this.#own = undefined // the next search loads it again
      throw e
    })
    const now = new Map<string, ToolInfo[]>()
    for (const tool of tools.values()) {
      const list = now.get(tool.server)
      if (list) list.push(tool)
      else now.set(tool.server, [tool])
    }
    for (const server of new Set([...this.#indexed.keys(), ...now.keys()])) {
      const list = now.get(server) ?? []
      const had = this.#indexed.get(server) ?? []
      if (list.length === had.length && list.every((t, i) => t === had[i])) continue
      this.#indexed.delete(server)
      const documents = await inTurns(this.#documents(server, list))
      if (this.#own) await inTurns((await this.#own).set(server, documents))
      if (list.length) this.#indexed.set(server, list)
    }
    this.#seen = tools
  }

  /** Makes the documents of a server, and sends them to the host if it has the index. */
  *#documents(name: string, tools: readonly ToolInfo[]): Steps<SearchDocument[]> {
    let documents: SearchDocument[] = []
    for (let at = 0; at === 0 || at < tools.length; at++) {
      if (at < tools.length) documents.push(documentOf(tools[at]!))
      const last = at + 1 >= tools.length
      if (!this.#own && (last || documents.length === PART)) {
        this.#source.requests.tell({ method: 'index', name, documents, last, part: this.#parts++ })
        documents = []
      }
      yield
    }
    return documents
  }
}
