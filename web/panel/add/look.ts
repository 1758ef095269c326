import { isLoopback, isPrivate, parsed } from '../../config/address.ts'
import { readDocument } from '../../config/documents.ts'
import type { Draft } from '../../config/draft.ts'
import { finish } from '../../config/finish.ts'
import { get, isObject, text } from '../../config/json.ts'
import type { Entry, Reading } from '../../config/types.ts'
import { parsed as parsedJSON } from '../../ui/json.ts'
import { boundedText } from '../catalogue/bounded.ts'

/** The answer of a path of a domain. `blocked`: none, or none that the browser lets the page read. */
export interface PathAnswer {
  path: string
  said: 'card' | 'server' | 'sign_in' | 'nothing' | 'blocked'
}

export interface Look {
  answers: PathAnswer[]
  /** The servers that can be added. */
  entries: Entry[]
  /** No server was seen. The entry is an address whose answer is blocked. */
  unseen?: true
}

interface LookOptions {
  signal: AbortSignal
  /** Bound on one request, in ms; default 5,000. */
  timeoutMs?: number
  /** URL of the page, to warn about servers that it cannot reach. */
  page?: string
}

/**
 * Where cards are. SEP-2127 puts a card below its endpoint, at /mcp/server-card: where that is, /mcp answers. These
 * are the places for a domain that servers use.
 */
const cardPaths = ['/.well-known/mcp/server-card.json', '/.well-known/mcp.json']
const endpoints = [{ path: '/mcp' }, { path: '/sse', transport: 'sse' }] as const
const maxBytes = 64 << 10
const maxEntries = 5

/** The domain of a reading, if that is all it says: https, or http on this machine. */
export function domainOf({ kind, entries: [entry, more] }: Reading): URL | undefined {
  const config = kind === 'url' && !more ? entry?.config : undefined
  if (!config || config.headers || entry!.inputs.length || !URL.canParse(config.url)) return undefined
  const url = new URL(config.url)
  const bare = url.pathname === '/' && !url.search && !url.hash && !url.username && !url.password
  return bare && isPermitted(url) ? url : undefined
}

const isPermitted = (url: URL) => url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))

/** Looks for servers of a domain with four requests at most: for its card, then to /mcp and /sse. */
export async function lookAt(domain: URL, options: LookOptions): Promise<Look> {
  const answers: PathAnswer[] = []
  for (const path of cardPaths) {
    const entries = await ask(domain, path, 'application/json', options, (res) => readCard(res, domain, options.page))
    answers.push({ path, said: entries === undefined ? 'blocked' : entries.length ? 'card' : 'nothing' })
    if (entries?.length) return { answers, entries }
  }
  for (const { path, ...draft } of endpoints) {
    const said = await ask(domain, path, 'text/event-stream', options, judge) ?? 'blocked'
    answers.push({ path, said })
    if (said !== 'nothing' && said !== 'blocked') return { answers, entries: [entryAt(domain, path, draft, options)] }
  }
  const unseen = endpoints.find(({ path }) => answers.some((a) => a.path === path && a.said === 'blocked'))
  if (!unseen) return { answers, entries: [] }
  const { path, ...draft } = unseen
  return { answers, entries: [entryAt(domain, path, draft, options)], unseen: true }
}

const entryAt = (domain: URL, path: string, draft: Partial<Draft>, { page }: LookOptions) =>
  finish({ ...draft, url: new URL(path, domain).href, headers: [], lints: [] }, new Map(), new Set(), page)

/** One request. Redirects are not followed. undefined: no answer in time, or none that the page can read. */
async function ask<T>(
  domain: URL,
  path: string,
  accept: string,
  { signal, timeoutMs = 5000 }: LookOptions,
  read: (response: Response) => T | Promise<T>,
): Promise<T | undefined> {
  signal.throwIfAborted()
  const ended = new AbortController()
  try {
    return await read(
      await fetch(new URL(path, domain), {
        headers: { accept },
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'manual',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.any([signal, ended.signal, AbortSignal.timeout(timeoutMs)]),
      }),
    )
  } catch {
    signal.throwIfAborted()
    return undefined
  } finally {
    ended.abort() // an event stream has no end of its own
  }
}

/**
 * Whether an answer to GET is an MCP endpoint's: a stream, 405 where there is none, 400 for the missing session
 * (specification of 2025-11-25, Transports), or 401.
 */
function judge({ status, headers, url }: Response): PathAnswer['said'] {
  const type = headers.get('content-type') ?? ''
  if (status === 401) return 'sign_in'
  if (status === 200) return type.startsWith('text/event-stream') ? 'server' : 'nothing'
  const noStream = status === 405 || status === 400 || status === 406
  return noStream && !type.startsWith('text/html') && url.endsWith('/mcp') ? 'server' : 'nothing'
}

/** The servers of a card. None if it is too long, no JSON, or names none that may be added. */
async function readCard(response: Response, domain: URL, page?: string): Promise<Entry[]> {
  if (!response.ok) return []
  const card = parsedJSON(await boundedText(response, maxBytes) ?? '')
  const { drafts, declared } = isObject(card) ? inCard(card) : { drafts: [], declared: new Map() }
  const taken = new Set<string>()
  const entries: Entry[] = []
  for (const draft of drafts.slice(0, 4 * maxEntries)) {
    const typed = draft.url?.trim()
    const url = typed && (parsed(typed) ?? (URL.canParse(typed, domain) ? new URL(typed, domain) : undefined))
    if (!url || entries.length === maxEntries || !isReachable(url, domain)) continue
    const entry = finish({ ...draft, url: parsed(typed) ? typed : url.href }, declared, taken, page)
    if (!entry.config) continue
    if (url.host !== domain.host) {
      const values = { host: url.host, domain: domain.host }
      entry.lints.unshift({ code: 'other_host', level: 'warning', values })
    }
    entries.push(entry)
  }
  return entries
}

/** A card of the Internet must not have people add a server of this machine, or of their network. */
const isReachable = (url: URL, domain: URL) =>
  isPermitted(url) && (url.host === domain.host || !(isLoopback(url.hostname) || isPrivate(url.hostname)))

/** `remotes` of SEP-2127, `transport` and `transports` of the drafts before it, or a configuration for clients. */
function inCard(card: object): Pick<NonNullable<ReturnType<typeof readDocument>>, 'drafts' | 'declared'> {
  const earlier = [get(card, 'transport'), get(card, 'transports')].flat(1).filter(isObject).flatMap((t): Draft[] => {
    const url = text(t, 'endpoint', 'url')
    const name = text(get(card, 'serverInfo'), 'name') ?? text(card, 'name')
    const transport = text(t, 'type') === 'sse' ? { transport: 'sse' as const } : {}
    return url ? [{ ...(name && { name: name.split('/').at(-1)! }), url, headers: [], lints: [], ...transport }] : []
  })
  return earlier.length
    ? { drafts: earlier, declared: new Map() }
    : readDocument(card) ?? { drafts: [], declared: new Map() }
}
