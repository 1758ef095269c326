import { isStopWord, split, stem } from './words.ts'
import type { Steps } from './yield.ts'

/** What the index has of a tool. Texts may be cut before. */
export interface SearchDocument {
  /** The tool's name in the registry. */
  name: string
  /** The server's own name of the tool. */
  tool: string
  title: string
  description: string
  /** The names of the parameters, one a line. */
  parameters: string
  /** The descriptions of the parameters, one a line. */
  details: string
}

/** A tool that fits a query. */
export interface Found {
  name: string
  server: string
  /** Between 0 and 1. */
  score: number
  /** Which words of the query stand where. */
  why: string
}

/** The most words of each field that count, the field's weight, and its usual length in words. */
const fields = [
  { name: 'name', most: 16, weight: 3, usual: 3, flat: 0.5 },
  { name: 'title', most: 16, weight: 1.5, usual: 3, flat: 0.5 },
  { name: 'description', most: 400, weight: 1, usual: 25, flat: 0.4 },
  { name: 'parameter', most: 100, weight: 1, usual: 8, flat: 0.7 },
  { name: 'parameter text', most: 400, weight: 0.6, usual: 40, flat: 0.6 },
  { name: 'server', most: 8, weight: 0.7, usual: 1, flat: 1 },
] as const

/** A text longer than this is cut, in characters. */
const LONGEST_TEXT = 8_000
/** The most characters and words of a query, and the most of its words that count. */
const LONGEST_QUERY = 2_000, QUERY_WORDS = 100, COUNTED = 16
/** The most tools of an index. */
const MOST = 20_000
/** How fast a word that is repeated in a tool stops counting. */
const SATURATION = 1.2
/** A sentence of at least this share of a server's tools says nothing about one of them. */
const SHARED = 0.3
/** Before the name of initials: they stand in the same table as words. */
const INITIALS = '\0'

/** Tools with a word: their numbers, how much the word weighs in each, and the fields with it as bits. */
interface Postings {
  docs: number[]
  weights: number[]
  masks: number[]
  servers: number
}

/** A stem that stands for a word of the query; `factor` is how surely. */
interface Reading {
  text: string
  postings: Postings
  factor: number
}

interface Doc {
  name: string
  server: string
}

/** Finds tools by words. It is deterministic: the order in which servers came has no influence. */
export class SearchIndex {
  readonly #terms = new Map<string, Postings>()
  readonly #docs: (Doc | undefined)[] = []
  readonly #servers = new Map<string, number[]>()
  /** The stems that have three letters in a row; made when a word without tools is looked for. */
  #grams: Map<string, string[]> | undefined
  #count = 0

  /** The tools that fit a query best, among those of the servers and of the names that are given. */
  search(
    query: string,
    limit: number,
    { servers, names }: { servers?: readonly string[]; names?: readonly string[] } = {},
  ): Found[] {
    const asked = this.#read(query)
    if (!asked.length) return []
    const scores = new Float64Array(this.#docs.length)
    const matched = new Float64Array(this.#docs.length)
    const best = new Float64Array(this.#docs.length)
    let most = 0
    for (const { rarity, readings } of asked) {
      most += rarity
      const touched: number[] = []
      for (const { postings: { docs, weights }, factor } of readings) {
        for (let i = 0; i < docs.length; i++) {
          const n = docs[i]!
          const value = factor * weights[i]! / (weights[i]! + SATURATION)
          if (!best[n]) touched.push(n)
          if (value > best[n]!) best[n] = value
        }
      }
      for (const n of touched) {
        scores[n]! += rarity * best[n]!
        matched[n]! += rarity
        best[n] = 0
      }
    }
    const only = servers && new Set(servers), named = names && new Set(names)
    const hits: { n: number; score: number; name: string }[] = []
    for (let n = 0; n < scores.length; n++) {
      const doc = this.#docs[n]
      if (!scores[n] || !doc || only && !only.has(doc.server) || named && !named.has(doc.name)) continue
      const share = matched[n]! / most
      hits.push({ n, name: doc.name, score: scores[n]! / most * (0.5 + 0.5 * share) })
    }
    hits.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    return hits.slice(0, limit).map(({ n, name, score }) => ({
      name,
      server: this.#docs[n]!.server,
      score: Math.round(score * 1000) / 1000,
      why: this.#why(n, asked),
    }))
  }

  /** Replaces the tools of a server. */
  *set(server: string, documents: readonly SearchDocument[]): Steps<void> {
    const old = new Set(this.#servers.get(server))
    this.#servers.delete(server)
    this.#grams = undefined
    for (const n of old) this.#docs[n] = undefined
    this.#count -= old.size
    if (old.size) {
      let done = 0
      for (const [text, p] of this.#terms) {
        if (p.docs.some((n) => old.has(n))) this.#drop(text, p, old)
        if (++done % 1000 === 0) yield
      }
    }
    if (!documents.length) return
    const shared = sharedLines(documents)
    const numbers: number[] = []
    this.#servers.set(server, numbers)
    const about = words(server, 8)
    let free = 0
    for (const d of documents) {
      if (this.#count >= MOST) return
      while (this.#docs[free]) free++
      this.#docs[free] = { name: d.name, server }
      this.#count++
      numbers.push(free)
      this.#add(free, d, about, shared, server)
      if (numbers.length % 16 === 0) yield
    }
  }

  #drop(text: string, p: Postings, old: ReadonlySet<number>): void {
    const keep = p.docs.map((n) => !old.has(n))
    p.docs = p.docs.filter((_, i) => keep[i])
    p.weights = p.weights.filter((_, i) => keep[i])
    p.masks = p.masks.filter((_, i) => keep[i])
    p.servers--
    if (!p.docs.length) this.#terms.delete(text)
  }

  #add(n: number, d: SearchDocument, about: string[], shared: ReadonlySet<string>, server: string): void {
    const found = new Map<string, [weight: number, mask: number]>()
    const lines = (text: string, pattern: RegExp) =>
      shared.size ? text.slice(0, LONGEST_TEXT).split(pattern).filter((l) => !shared.has(l.trim())).join('\n') : text
    const texts = [
      words(d.tool, fields[0].most),
      words(d.title, fields[1].most),
      words(lines(d.description, sentences), fields[2].most),
      words(lines(d.parameters, /\n/), fields[3].most),
      words(lines(d.details, /\n/), fields[4].most),
      about,
    ]
    for (let i = 0; i < fields.length; i++) {
      const { weight, usual, flat } = fields[i]!
      const each = weight / (1 - flat + flat * Math.max(texts[i]!.length, 1) / usual)
      for (const word of texts[i]!) {
        const has = found.get(word)
        if (has) {
          has[0] += each
          has[1] |= 1 << i
        } else found.set(word, [each, 1 << i])
      }
    }
    for (const name of initials(split(d.tool, fields[0].most))) found.set(INITIALS + name, [1, 1])
    for (const [word, [weight, mask]] of found) {
      let p = this.#terms.get(word)
      if (!p) this.#terms.set(word, p = { docs: [], weights: [], masks: [], servers: 0 })
      if (!p.docs.length || this.#docs[p.docs.at(-1)!]?.server !== server) p.servers++
      p.docs.push(n)
      p.weights.push(weight)
      p.masks.push(mask)
    }
  }

  /** The words of the query that count, each with its stems in the index and how rare they are. */
  #read(query: string): { word: string; rarity: number; readings: Reading[] }[] {
    const all = [...new Set(split(query.slice(0, LONGEST_QUERY), QUERY_WORDS))]
    const meant = all.filter((w) => !isStopWord(w))
    const asked = (meant.length ? meant : all).map((word) => {
      const readings = this.#readings(word)
      const docs = Math.max(0, ...readings.map((r) => r.postings.docs.length))
      const rarity = Math.log(1 + (this.#count - docs + 0.5) / (docs + 0.5))
      return { word, rarity: readings.length ? rarity : rarity * 0.5, readings }
    })
    return asked.sort((a, b) => b.rarity - a.rarity || (a.word < b.word ? -1 : 1)).slice(0, COUNTED)
  }

  #readings(word: string): Reading[] {
    const readings: Reading[] = []
    const add = (text: string, factor: number) => {
      const postings = this.#terms.get(text)
      if (postings) readings.push({ text, postings, factor })
    }
    add(stem(word), 1)
    if (word.length < 5) add(INITIALS + word, 0.9)
    if (!readings.length && word.length > 3) { for (const [text, factor] of this.#alike(word)) add(text, factor) }
    return readings
  }

  /** Stems that a misspelled word could be. */
  #alike(word: string): [string, number][] {
    if (!this.#grams) {
      this.#grams = new Map()
      for (const text of this.#terms.keys()) {
        for (const gram of grams(text)) {
          const list = this.#grams.get(gram)
          if (list) list.push(text)
          else this.#grams.set(gram, [text])
        }
      }
    }
    const own = stem(word)
    const common = new Map<string, number>()
    for (const gram of new Set([...grams(word), ...grams(own)]))
      for (const text of this.#grams.get(gram) ?? []) common.set(text, (common.get(text) ?? 0) + 1)
    const most = word.length < 8 ? 1 : 2
    return [...common].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 50)
      .map(([text]): [string, number] => [text, Math.min(edits(own, text), edits(word, text))])
      .filter(([, n]) => n <= most).sort((a, b) => a[1] - b[1]).slice(0, 3)
      .map(([text, n]) => [text, 1 - n / word.length])
  }

  #why(n: number, asked: { word: string; readings: Reading[] }[]): string {
    const places = fields.map((): string[] => [])
    for (const { word, readings } of asked) {
      let mask = 0
      for (const { postings } of readings) {
        const at = postings.docs.indexOf(n)
        if (at >= 0) mask |= postings.masks[at]!
      }
      const first = fields.findIndex((_, i) => mask & 1 << i)
      if (first >= 0) places[first]!.push(word)
    }
    return fields.map((f, i) => places[i]!.length ? `${f.name}: ${places[i]!.join(', ')}` : '').filter(Boolean)
      .join('; ')
  }
}

const sentences = /(?<=[.!?:])\s+|\n+/

const words = (text: string, most: number): string[] =>
  split(text.slice(0, LONGEST_TEXT), most).filter((w) => !isStopWord(w)).map(stem)

/** The sentences, parameters and their descriptions that many of the tools have. */
function sharedLines(documents: readonly SearchDocument[]): Set<string> {
  const shared = new Set<string>()
  if (documents.length < 4) return shared
  const counts = new Map<string, number>()
  for (const d of documents) {
    const lines = [
      ...d.description.slice(0, LONGEST_TEXT).split(sentences),
      ...d.parameters.slice(0, LONGEST_TEXT).split('\n'),
      ...d.details.slice(0, LONGEST_TEXT).split('\n'),
    ]
    for (const line of new Set(lines.map((l) => l.trim()))) counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  for (const [line, n] of counts) if (n > 2 && n >= SHARED * documents.length) shared.add(line)
  return shared
}

/** The first letters of words that follow each other: pr of create_pull_request. */
function initials(name: string[]): Set<string> {
  const found = new Set<string>()
  for (let i = 0; i < name.length; i++) {
    for (let text = name[i]![0]!, j = i + 1; j < Math.min(name.length, i + 4); j++) found.add(text += name[j]![0]!)
  }
  return found
}

/** How many letters differ between two words; two that are exchanged count once. */
function edits(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3
  let before: number[] = [], row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      let n = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + +(a[i - 1] !== b[j - 1]))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) n = Math.min(n, before[j - 2]! + 1)
      next.push(n)
    }
    before = row
    row = next
  }
  return row[b.length]!
}

/** The pieces of three letters of a word, with its ends marked. */
function grams(word: string): string[] {
  const text = `^${word}$`
  return Array.from({ length: text.length - 2 }, (_, i) => text.slice(i, i + 3))
}
