// Measures a search over the tools and queries of testdata/search, for the test and the benchmark.

import { readFileSync } from 'node:fs'
import { SearchIndex } from '../wasm/js/shared/search.ts'
import { documentOf, type SearchDocument } from '../wasm/js/shared/searchdocument.ts'
import type { ToolDefinition, ToolInfo } from '../wasm/js/shared/types.ts'
import { finish } from '../wasm/js/shared/yield.ts'

export interface Query {
  kind: string
  half: 'tuning' | 'held-out'
  text: string
  /** `server/tool` of each tool that does what the query asks for. */
  right: string[]
}

/** A search that is measured: the best tools as `server/tool`, and the score of the first. */
export type Search = (query: string) => { names: string[]; score: number }

const file = (name: string) => readFileSync(new URL(`../testdata/search/${name}`, import.meta.url), 'utf8')

/** The tools, by server. */
export function readTools(): Map<string, ToolInfo[]> {
  const servers = JSON.parse(file('tools.json')) as { server: string; tools: ToolDefinition[] }[]
  return new Map(
    servers.map(({ server, tools }) => [
      server,
      tools.map((definition) => ({
        name: `${server}/${definition.name}`,
        server,
        tool: definition.name,
        definition,
        pin: '',
      })),
    ]),
  )
}

export const readQueries = (): Query[] =>
  file('queries.tsv').trimEnd().split('\n').map((line) => {
    const [kind, half, text, right] = line.split('\t') as [string, Query['half'], string, string]
    return { kind, half, text, right: right ? right.split(' ') : [] }
  })

export function documents(tools: Map<string, ToolInfo[]>): Map<string, SearchDocument[]> {
  return new Map([...tools].map(([server, list]) => [server, list.map(documentOf)]))
}

export function indexOf(documents: Map<string, SearchDocument[]>): SearchIndex {
  const index = new SearchIndex()
  for (const [server, list] of documents) finish(index.set(server, list))
  return index
}

/** Percentages: queries with a right tool first, and among the first five. */
export function recall(queries: Query[], search: Search): { first: number; five: number } {
  let first = 0, five = 0
  for (const { text, right } of queries) {
    const at = search(text).names.slice(0, 5).findIndex((name) => right.includes(name))
    if (at === 0) first++
    if (at >= 0) five++
  }
  return { first: 100 * first / queries.length, five: 100 * five / queries.length }
}

/** The share of scores of a query with a right tool above that of one without: 1 is always, 0.5 chance. */
export function separation(queries: Query[], search: Search): number {
  const scores = (wanted: boolean) =>
    queries.filter((q) => q.right.length > 0 === wanted).map((q) => search(q.text).score)
  const without = scores(false)
  let sum = 0
  const having = scores(true)
  for (const a of having) for (const b of without) sum += (+(a > b) + +(a >= b)) / 2
  return sum / (having.length * without.length)
}
