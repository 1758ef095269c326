import { SearchIndex } from '../../../wasm/js/shared/search.ts'
import { documentOf } from '../../../wasm/js/shared/searchdocument.ts'
import { inTurns } from '../../../wasm/js/shared/yield.ts'
import type { Listed } from './ledger.ts'

/** The most tools that a search gives. */
const MOST = 50

/** Finds listed tools as `registry.search` does, and those that are off, too. */
export class ToolSearch {
  readonly #index = new SearchIndex()
  readonly #indexed = new Map<string, Listed[]>()
  #last: Promise<unknown> = Promise.resolve()

  /** The names of tools that fit the query, about as well as the best one does. */
  find(listed: ReadonlyMap<string, Listed[]>, query: string): Promise<ReadonlySet<string>> {
    const found = this.#last.then(async () => {
      await this.#update(listed)
      const hits = this.#index.search(query, MOST)
      return new Set(hits.filter((h) => h.score > hits[0]!.score * 0.7).map((h) => h.name))
    })
    this.#last = found.catch(() => {})
    return found
  }

  async #update(listed: ReadonlyMap<string, Listed[]>): Promise<void> {
    for (const server of new Set([...this.#indexed.keys(), ...listed.keys()])) {
      const list = listed.get(server)
      if (list === this.#indexed.get(server)) continue
      await inTurns(this.#index.set(server, (list ?? []).map((l) => documentOf(l.info))))
      if (list) this.#indexed.set(server, list)
      else this.#indexed.delete(server)
    }
  }
}
