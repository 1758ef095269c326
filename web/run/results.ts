import { isObject, type JsonObject } from '../../wasm/js/shared/object.ts'
import type { ToolResult } from '../../wasm/js/shared/types.ts'
import type { RunItem } from './types.ts'

/** Results of one search that are read. */
const most = 200
const urlLength = 2000

/** A source that a plan may name. A mask stands for several. */
export interface Source {
  name: string
  about: string
  mask: boolean
}

/** Members that have an address. */
const addressNames = ['url', 'link', 'href']

/** A foreign text on one line, without characters that hide something. */
export const oneLine = (text: unknown, max: number): string => {
  const s = String(text ?? '').slice(0, 4 * max).replace(/[\p{C}\s]+/gu, ' ').trim()
  return s.length > max ? `${s.slice(0, max - 1)}…` : s
}

/** The value of a JSON text; undefined if it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The answer of a tool as a value: its structured content, or its text as JSON. */
const valueOf = ({ structuredContent, text }: ToolResult): unknown => structuredContent ?? jsonOf(text)

const first = (entry: JsonObject, names: string[]): unknown =>
  names.map((name) => entry[name]).find((v) => (typeof v === 'string' && v) || typeof v === 'number')

/** The list in a value: itself, or the first list among the members of an object, of objects if there is one. */
function listIn(value: unknown): unknown[] {
  const lists = Object.values(isObject(value) ? value : [value]).filter(Array.isArray)
  return lists.find((list) => list.some(isObject)) ?? lists[0] ?? []
}

/** The sources that a tool lists: names, or objects with a code or a name. */
export function sourcesOf(result: ToolResult): Source[] {
  const entries = listIn(valueOf(result)).slice(0, 1000).map((v) => isObject(v) ? v : { name: v })
  const named = entries.map((entry) => ({ name: String(first(entry, ['code', 'id', 'key', 'name']) ?? ''), entry }))
    .filter(({ name }) => name && name === oneLine(name, 200))
  return named.map(({ name, entry }) => ({
    name,
    about: oneLine(first(entry, ['title', 'label', 'name', 'description']), 120),
    mask: entry['mask'] === true || entry['type'] === 'mask' || /[*/]$/.test(name) ||
      named.some((other) => other.name.startsWith(`${name}/`)),
  }))
}

/** An address as it is compared: http and https, `www.`, tracking parameters and the last slash make no difference. */
export function normalised(url: string): string | undefined {
  try {
    const u = new URL(url)
    if (!/^https?:$/.test(u.protocol) || u.username || u.password) return undefined
    const kept = [...u.searchParams].filter(([name]) => !/^utm_/i.test(name)).sort()
    const path = u.pathname.replace(/\/$/, '').replaceAll('%28', '(').replaceAll('%29', ')')
    return `${u.hostname.replace(/^www\./, '')}:${u.port}${path}?${new URLSearchParams(kept)}`
  } catch {
    return undefined
  }
}

/** The http address in a text, as it is written into Markdown; undefined if it is none. */
export function address(url: unknown): string | undefined {
  if (typeof url !== 'string' || url.length > urlLength || !normalised(url)) return undefined
  return new URL(url).href.replaceAll('(', '%28').replaceAll(')', '%29')
}

/** The facts of a result beside its title and address: its flat members, or those of its member `metadata`. */
function metadataOf(entry: JsonObject, used: unknown[]): RunItem['metadata'] {
  const flat = Object.entries(isObject(entry['metadata']) ? entry['metadata'] : entry).filter(([, v]) =>
    !used.includes(v) && /^(string|number|boolean)$/.test(typeof v)
  ).slice(0, 20)
  if (!flat.length) return undefined
  return Object.fromEntries(
    flat.map(([name, v]) => [oneLine(name, 60), typeof v === 'string' ? oneLine(v, 500) : v as number]),
  )
}

/** The findings of a search: each address once, in the server's order. `url` is the server's address of the search. */
export function itemsOf(result: ToolResult): { items: RunItem[]; listed: number; total: number; url?: string } {
  const value = valueOf(result)
  const links = result.content.filter((block) => block.type === 'resource_link') as object[]
  const written = [...(value === undefined ? result.text : '').matchAll(/\[([^[\]]+)\]\(([^\s()]+)\)/g)]
    .map(([, title, url]) => ({ title, url }))
  const entries = [...listIn(value), ...links, ...written].filter(isObject).slice(0, most)
  const items = new Map<string, RunItem>()
  let listed = 0
  for (const entry of entries) {
    const place = first(entry, [...addressNames, 'uri'])
    const url = address(place)
    if (!url) continue
    listed++
    const key = normalised(url)!
    if (items.has(key)) continue
    const title = first(entry, ['title', 'name', 'citation'])
    const metadata = metadataOf(entry, [place, title])
    items.set(key, { title: oneLine(title, 300) || url, url, ...(metadata && { metadata }) })
  }
  const members = isObject(value) ? value : {}
  const said = first(members, ['total', 'totalCount', 'total_count', 'count'])
  // A total that counts only what was listed counts duplicates too.
  const total = typeof said === 'number' && said > listed ? Math.floor(said) : items.size
  const url = address(first(members, ['searchUrl', 'search_url', ...addressNames]))
  return { items: [...items.values()], listed, total, ...(url && { url }) }
}

/** The address that a tool has made. */
export function urlOf(result: ToolResult): string | undefined {
  const value = valueOf(result)
  const said = isObject(value) ? first(value, addressNames) : value
  return address(said) ?? address(/https?:\/\/[^\s<>"'`]+/.exec(result.text)?.[0])
}
