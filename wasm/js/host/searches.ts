import type { Request } from '../shared/protocol.ts'
import type { Found, SearchIndex } from '../shared/search.ts'
import { RegistryError } from '../shared/registry-error.ts'
import { inTurns } from '../shared/yield.ts'

type SearchRequest = Extract<Request, { method: 'index' | 'search' }>

/** A client's index, and the number of messages that made it. */
interface Own {
  index: SearchIndex
  parts: number
}

/** The search indexes of a host, one for each client. Their tools come from the clients. */
export class Searches {
  readonly #indexes = new Map<number, Own>()
  /** Settles after the last request, because each needs the work of those before it. */
  #last: Promise<unknown> = Promise.resolve()

  /** Answers a request. Null: this host lacks messages of the client's index. */
  perform(client: number, m: SearchRequest): Promise<Found[] | null> {
    const done = this.#last.then(() => this.#perform(client, m))
    this.#last = done.catch(() => this.#indexes.delete(client))
    return done
  }

  async #perform(client: number, m: SearchRequest): Promise<Found[] | null> {
    const { SearchIndex } = await import('../shared/search.ts').catch((cause) => {
      throw new RegistryError('load_failed', 'search.js could not be loaded', {
        hint: 'Serve search.js beside worker.js.',
        cause,
      })
    })
    let own = this.#indexes.get(client)
    if (m.method === 'search') return own?.parts === m.parts ? own.index.search(m.query, m.limit, m) : null
    if (m.part === 0) this.#indexes.set(client, own = { index: new SearchIndex(), parts: 0 })
    if (own?.parts !== m.part) return null
    own.parts++
    await inTurns(own.index.set(m.server, m.documents))
    return null
  }

  /** Forgets a client's index, after the requests that it has made. */
  forget(client: number): void {
    this.#last = this.#last.then(() => this.#indexes.delete(client))
  }
}
