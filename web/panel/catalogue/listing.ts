import { finish } from '../../config/finish.ts'
import { isServerJson, readServerJson } from '../../config/documents.ts'
import { get, isObject, text, type JsonObject } from '../../config/json.ts'
import type { Entry } from '../../config/types.ts'

/** One server of a catalogue. Its texts are foreign and have been cut, not cleaned. */
export interface Listing {
  /** Reverse-DNS with a slash: the publisher's, and then the server's. */
  name: string
  title: string
  description: string
  version: string
  website?: string
  deprecated: boolean
  /** One for each remote, streamable HTTP first. Each has a configuration, and there is at least one. */
  entries: Entry[]
}

const official = 'io.modelcontextprotocol.registry/official'
const cut = (v: unknown, max: number) => (typeof v === 'string' ? v.trim().slice(0, max) : '')

/** The catalogue's entry of one server; undefined for an entry that cannot be used, or has no remote. */
function listingOf(v: unknown, page?: string): (Listing & { latest: boolean; at: string }) | undefined {
  if (!isServerJson(v)) return undefined
  const s = (get(v, 'server') ?? v) as JsonObject
  const about = get(get(v, '_meta'), official) ?? get(get(s, '_meta'), official)
  const status = get(about, 'status') ?? get(s, 'status')
  if (status === 'deleted') return undefined
  const { drafts, declared } = readServerJson(v)
  const entries = drafts.filter((d) => d.url).sort((a, b) =>
    Number(a.transport === 'sse') - Number(b.transport === 'sse')
  )
    .map((d) => finish(d, declared, new Set(), page)).filter((e) => e.config)
  if (!entries.length) return undefined
  const name = cut(s.name, 200)
  const website = link(text(s, 'websiteUrl'))
  return {
    name,
    title: cut(s.title, 100) || name.split('/').at(-1)!,
    description: cut(s.description, 500),
    version: cut(s.version, 50),
    ...(website && { website }),
    deprecated: status === 'deprecated',
    entries,
    latest: get(about, 'isLatest') === true,
    at: cut(get(about, 'publishedAt'), 40),
  }
}

/** Pages to open: https only. */
function link(url: string | undefined): string | undefined {
  return url && url.length < 500 && /^https:\/\//i.test(url) && URL.canParse(url) ? new URL(url).href : undefined
}

/** One listing for each name: what says that it is the latest, or was published last. */
export function latestOf(list: readonly unknown[], page?: string): Listing[] {
  const byName = new Map<string, NonNullable<ReturnType<typeof listingOf>>>()
  for (const v of list) {
    const l = isObject(v) ? listingOf(v, page) : undefined
    const before = l && byName.get(l.name)
    if (l && (!before || (l.latest === before.latest ? l.at > before.at : l.latest))) byName.set(l.name, l)
  }
  return [...byName.values()].map(({ latest: _, at: __, ...listing }) => listing)
}
