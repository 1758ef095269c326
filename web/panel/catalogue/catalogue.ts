import { get } from '../../config/json.ts'
import { isLoopback } from '../../config/address.ts'
import { parsed } from '../../ui/json.ts'
import { boundedText } from './bounded.ts'
import { latestOf, type Listing } from './listing.ts'

/**
 * `url`: the address cannot be used; `offline`: no answer, or none in time; `http`: a status; `shape`: the answer is
 * something else, or too much.
 */
export class CatalogueError extends Error {
  readonly code: 'url' | 'offline' | 'http' | 'shape'
  readonly status: number | undefined
  constructor(code: CatalogueError['code'], status?: number, cause?: unknown) {
    super(`catalogue: ${code}`, { cause })
    this.code = code
    this.status = status
  }
}

interface CatalogueOptions {
  /** Where /v0.1/servers is below; https, or http on this machine. */
  baseUrl: string
  /** Ends what is under way, for good. */
  signal?: AbortSignal
  /** Bound on one page, in ms; default 15,000. */
  timeoutMs?: number
  /** URL of the page, to warn about servers that it cannot reach. */
  page?: string
}

const pageSize = 50
const maxBytes = 4 << 20
const maxListings = 2000
/** Servers without a remote are left out: some pages are empty then, and the next is asked for. */
const pagesAtOnce = 5

/**
 * A search in a registry of the official API's shape, which gets the search text and nothing else. It finds some
 * servers at a time. One call of `more` at a time.
 */
export class Search {
  /** There is nothing more. */
  done = false
  private readonly options: CatalogueOptions
  /** The address of the next page. */
  private readonly url: URL
  private readonly seen = new Set<string>()
  private readonly names = new Set<string>()

  /** Begins to look for servers whose name has the text in it; the empty text finds all. */
  constructor(options: CatalogueOptions, text = '') {
    this.options = options
    this.url = endpointOf(options.baseUrl)
    this.url.searchParams.set('version', 'latest')
    this.url.searchParams.set('limit', String(pageSize))
    const asked = text.trim().slice(0, 200)
    if (asked) this.url.searchParams.set('search', asked)
  }

  private async page(): Promise<unknown> {
    const { signal: owner, timeoutMs = 15_000 } = this.options
    const late = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(this.url, {
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        headers: { accept: 'application/json' },
        signal: owner ? AbortSignal.any([owner, late]) : late,
      })
      if (!response.ok) {
        void response.body?.cancel().catch(() => {})
        throw new CatalogueError('http', response.status)
      }
      const value = parsed(await boundedText(response, maxBytes) ?? '')
      if (value === undefined) throw new CatalogueError('shape')
      return value
    } catch (e) {
      owner?.throwIfAborted()
      throw e instanceof CatalogueError ? e : new CatalogueError('offline', undefined, e)
    }
  }

  /** The next servers that have a remote; none when all are there. After a fault it can be called again. */
  async more(): Promise<Listing[]> {
    const found: Listing[] = []
    for (let n = 0; n < pagesAtOnce && !found.length && !this.done; n++) {
      const answer = await this.page()
      const servers = get(answer, 'servers')
      if (!Array.isArray(servers)) throw new CatalogueError('shape')
      for (const listing of latestOf(servers.slice(0, 10 * pageSize), this.options.page)) {
        if (this.names.has(listing.name)) continue
        this.names.add(listing.name)
        found.push(listing)
      }
      const next = get(get(answer, 'metadata'), 'nextCursor')
      const cursor = typeof next === 'string' && next && next.length < 2000 ? next : undefined
      this.done = !cursor || this.seen.has(cursor) || this.names.size >= maxListings
      if (!cursor) break
      this.seen.add(cursor)
      this.url.searchParams.set('cursor', cursor)
    }
    return found
  }
}

function endpointOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl.trim()) ? new URL(baseUrl.trim()) : undefined
  const fine = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) &&
    !url.username && !url.password
  if (!fine) throw new CatalogueError('url')
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v0(?:\.1)?(?:\/servers)?$/, '') + '/v0.1/servers'
  url.hash = ''
  return url
}
