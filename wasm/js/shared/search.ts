import type { SearchDocument } from './searchdocument.ts'
import { Vocabulary } from './vocabulary.ts'
import { isStopWord, split, stem } from './words.ts'
import type { Steps } from './yield.ts'

/** A tool that fits a query. */
export interface Found {
  name: string
  server: string
  /** Between 0 and 1. */
  score: number
  /** Which words of the query stand where. */
  why: string
}

interface Field {
  /** As hits call it. */
  name: string
  /** The most words that count. */
  most: number
  weight: number
  /** The usual number of words. A word of a longer text weighs less, as much as `norm` says. */
  usual: number
  norm: number
}

// The weights were fitted to one half of testdata/search. The other half and rounding change the recall by 1 %.
const fields: Field[] = [
  { name: 'name', most: 16, weight: 3, usual: 3, norm: 0.6 },
  { name: 'title', most: 16, weight: 1.5, usual: 3, norm: 0.6 },
  { name: 'description', most: 400, weight: 1, usual: 25, norm: 0.7 },
  { name: 'parameter', most: 100, weight: 1, usual: 8, norm: 0.7 },
  { name: 'parameter text', most: 400, weight: 0.6, usual: 40, norm: 0.7 },
  { name: 'server', most: 8, weight: 0.7, usual: 1, norm: 1 },
]
/** The bit of the name, and the bits of the fields whose words abbreviations stand for. */
const NAME = 1, ABBREVIATED = 0b001011

/** A text longer than this is cut, in characters. */
const LONGEST_TEXT = 8_000
/** The longest query in characters and words, and the most words of it that count: known ones, unknown ones. */
const LONGEST_QUERY = 2_000, QUERY_WORDS = 100, KNOWN = 16, UNKNOWN = 8
/** The most tools of an index. */
const MOST_TOOLS = 20_000

/** The usual number of words of a query. */
const USUAL = 3
/** How slowly a word that weighs more in a tool stops counting more. */
const SATURATION = 2
/** How much of a score depends on the share of the query's words, the share of the name's words, the server's tools. */
const SHARE = 0.5, NAMED = 0.25, PEERS = 0.5
/** A line that this share of a server's tools has says nothing about one of them. */
const SHARED = 0.5
/** How surely a word is meant by its initials, its beginning, or its consonants. */
const INITIALS = 0.75, BEGINNING = 0.6, CONSONANTS = 0.6
/** Stands before initials, which are in the same table as stems. */
const INITIAL = '\0'

/** The tools with a stem: their numbers, how much it weighs in each, and the fields with it as bits. */
interface Postings {
  docs: number[]
  weights: number[]
  fields: number[]
  servers: number
  /** The words with this stem. */
  words: string[]
}

/** What a word of the query is read as; `sure` is 1 for itself. */
interface Reading {
  postings: Postings
  sure: number
}

/** A word of the query. */
interface Asked {
  word: string
  /** How few tools have it. */
  rarity: number
  readings: Reading[]
  /** The fields that have it, as bits, by the number of the tool. */
  bits: Uint8Array
}

interface Doc {
  name: string
  server: string
  /** The number of different words in its name. */
  named: number
}

interface Hit {
  n: number
  doc: Doc
  score: number
}

const add = <K>(map: Map<K, number>, key: K, value: number) => void map.set(key, (map.get(key) ?? 0) + value)

/** Finds tools by words. The same tools and query give the same hits, in whatever order the tools came. */
export class SearchIndex {
  readonly #terms = new Map<string, Postings>()
  readonly #docs: (Doc | undefined)[] = []
  readonly #servers = new Map<string, number[]>()
  #vocabulary = new Vocabulary()
  /** Words of the tools, with the postings of their stems. */
  readonly #words = new Map<string, Postings>()
  /** How many words the vocabulary has that no tool has any more. */
  #stale = 0
  #count = 0

  /** The tools that fit a query best, at most `limit`, among those of the servers and of the names that are given. */
  search(
    query: string,
    limit: number,
    { servers, names }: { servers?: readonly string[]; names?: readonly string[] } = {},
  ): Found[] {
    const asked = this.#read(query)
    const size = this.#docs.length
    const scores = new Float64Array(size), shares = new Float64Array(size), named = new Uint8Array(size)
    const peers = new Map<string, number>()
    let whole = 0
    for (const word of asked) {
      whole += word.rarity
      const best = new Float64Array(size)
      for (const { postings: { docs, weights, fields }, sure } of word.readings) {
        for (let i = 0; i < docs.length; i++) {
          const n = docs[i]!
          best[n] = Math.max(best[n]!, sure * weights[i]! / (weights[i]! + SATURATION))
          word.bits[n]! |= fields[i]!
        }
      }
      const tops = new Map<string, number>()
      for (let n = 0; n < size; n++) {
        const value = best[n]!
        if (!value) continue
        const { server } = this.#docs[n]!
        if (value > (tops.get(server) ?? 0)) tops.set(server, value)
        scores[n]! += word.rarity * value
        shares[n]! += word.rarity
        named[n]! += word.bits[n]! & NAME
      }
      for (const [server, value] of tops) add(peers, server, word.rarity * value)
    }
    const only = servers && new Set(servers), among = names && new Set(names)
    const hits: Hit[] = []
    for (let n = 0; n < size; n++) {
      const doc = this.#docs[n]
      if (!scores[n] || !doc || only && !only.has(doc.server) || among && !among.has(doc.name)) continue
      const share = (shares[n]! / whole) ** 2
      const name = Math.min(1, named[n]! / doc.named)
      const score = scores[n]! / whole * part(SHARE, share) * part(NAMED, name) *
        part(PEERS, peers.get(doc.server)! / whole)
      insert(hits, { n, doc, score }, limit)
    }
    // A tool cannot have all words of a long sentence.
    const scale = Math.max(1, asked.length / USUAL) ** 0.6
    return hits.map(({ n, doc: { name, server }, score }) => ({
      name,
      server,
      score: Math.min(1, Math.round(Math.sqrt(score * scale) * 1e4) / 1e4),
      why: why(asked, n),
    }))
  }

  /** Replaces the tools of a server. */
  *set(server: string, documents: readonly SearchDocument[]): Steps<void> {
    yield* this.#remove(server)
    if (!documents.length) return
    const lines: string[][][] = []
    const counts = new Map<string, number>()
    for (const d of documents.slice(0, MOST_TOOLS - this.#count)) {
      lines.push([d.description, d.parameters, d.details].map(linesOf))
      for (const line of new Set(lines.at(-1)!.flat())) add(counts, line, 1)
      if (lines.length % 100 === 0) yield
    }
    const common = Math.max(3, SHARED * lines.length)
    const about = words(server, fields[5]!)
    const numbers: number[] = []
    this.#servers.set(server, numbers)
    let free = 0
    for (const [i, own] of lines.entries()) {
      const { name, tool, title } = documents[i]!
      while (this.#docs[free]) free++
      numbers.push(free)
      const [description, parameters, details] = own.map((all) => all.filter((l) => counts.get(l)! < common).join('\n'))
      this.#add(free, { name, server, named: 1 }, [tool, title, description!, parameters!, details!], about)
      if (i % 16 === 15) yield
    }
  }

  #add(n: number, doc: Doc, texts: string[], about: string[]): void {
    this.#docs[n] = doc
    this.#count++
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!
      const all = i < texts.length ? words(texts[i]!, field) : about
      const weight = field.weight / (1 - field.norm + field.norm * Math.max(1, all.length) / field.usual)
      let different = 0
      for (const word of all) different += this.#post(this.#postings(word), n, doc.server, weight, 1 << i)
      if (i === 0) doc.named = Math.max(1, different)
    }
    for (const text of initials(split(texts[0]!.slice(0, LONGEST_TEXT), fields[0]!.most)))
      this.#post(this.#term(INITIAL + text), n, doc.server, 1, NAME)
  }

  /** The postings of a word's stem. */
  #postings(word: string): Postings {
    let p = this.#words.get(word)
    if (!p) {
      this.#words.set(word, p = this.#term(stem(word)))
      p.words.push(word)
      this.#vocabulary.add(word)
    }
    return p
  }

  #term(text: string): Postings {
    let p = this.#terms.get(text)
    if (!p) this.#terms.set(text, p = { docs: [], weights: [], fields: [], servers: 0, words: [] })
    return p
  }

  /** Adds weight of a stem to a tool, the last one so far. Returns 1 if the tool did not have the stem. */
  #post(p: Postings, n: number, server: string, weight: number, bit: number): number {
    const last = p.docs.length - 1
    if (last >= 0 && p.docs[last] === n) {
      p.weights[last]! += weight
      p.fields[last]! |= bit
      return 0
    }
    if (last < 0 || this.#docs[p.docs[last]!]!.server !== server) p.servers++
    p.docs.push(n)
    p.weights.push(weight)
    p.fields.push(bit)
    return 1
  }

  *#remove(server: string): Steps<void> {
    const old = new Set(this.#servers.get(server))
    if (!old.size) return
    this.#servers.delete(server)
    this.#count -= old.size
    let seen = 0
    for (const [text, p] of this.#terms) {
      const stays = p.docs.map((n) => !old.has(n))
      if (stays.includes(false)) {
        p.docs = p.docs.filter((_, i) => stays[i])
        p.weights = p.weights.filter((_, i) => stays[i])
        p.fields = p.fields.filter((_, i) => stays[i])
        p.servers--
        if (!p.docs.length) {
          this.#terms.delete(text)
          for (const word of p.words) this.#words.delete(word)
          this.#stale += p.words.length
        }
      }
      if (++seen % 500 === 0) yield
    }
    for (const n of old) this.#docs[n] = undefined
    if (this.#stale <= this.#words.size) return
    this.#vocabulary = new Vocabulary()
    this.#stale = 0
    for (const word of this.#words.keys()) {
      this.#vocabulary.add(word)
      if (++seen % 500 === 0) yield
    }
  }

  /** The words of the query that count. */
  #read(query: string): Asked[] {
    const text = query.slice(0, LONGEST_QUERY)
    const numbered = text.toLowerCase().match(/\b[a-z]\d\d?[a-z]\b/g) ?? [] // k8s
    const all = [...new Set([...numbered, ...split(text.replace(/\b[a-z]\d\d?[a-z]\b/gi, ' '), QUERY_WORDS)])]
    const known: Asked[] = [], unknown: Asked[] = []
    for (const word of all.filter((w) => !isStopWord(w)).flatMap((w) => this.#parts(w))) {
      const place = all.indexOf(word)
      const readings = this.#readings(word, unknown.length < UNKNOWN)
      for (const joined of place < 0 ? [] : [word + (all[place + 1] ?? ''), (all[place - 1] ?? '') + word]) {
        if (joined !== word) this.#reading(readings, joined, 1)
      }
      const docs = Math.max(0, ...readings.map((r) => r.postings.docs.length))
      const servers = Math.max(0, ...readings.map((r) => r.postings.servers))
      const rarity = 0.8 * rare(docs, this.#count) + 0.4 * rare(servers, this.#servers.size)
      ;(readings.length ? known : unknown).push({ word, rarity, readings, bits: new Uint8Array(this.#docs.length) })
    }
    known.sort((a, b) => b.rarity - a.rarity || (a.word < b.word ? -1 : 1))
    return [...known.slice(0, KNOWN), ...unknown.slice(0, UNKNOWN)]
  }

  /** The two words that an unknown word is made of, as cherrypick is. */
  #parts(word: string): string[] {
    for (let i = word.length - 3; i >= 3 && !this.#terms.has(stem(word)); i--) {
      const parts = [word.slice(0, i), word.slice(i)]
      if (parts.every((p) => this.#standsFor(p))) return parts
    }
    return [word]
  }

  /** Whether the word is in names or parameters, and not only in texts. */
  #standsFor(word: string): boolean {
    return !!this.#terms.get(stem(word))?.fields.some((bits) => bits & ABBREVIATED)
  }

  #reading(readings: Reading[], word: string, sure: number): void {
    const postings = this.#terms.get(word[0] === INITIAL ? word : stem(word))
    const has = readings.find((r) => r.postings === postings)
    if (has) has.sure = Math.max(has.sure, sure)
    else if (postings) readings.push({ postings, sure })
  }

  #readings(word: string, mend: boolean): Reading[] {
    const readings: Reading[] = []
    this.#reading(readings, word, 1)
    const isKnown = readings.length > 0
    if (word.length < 5) this.#reading(readings, INITIAL + word, INITIALS)
    if (word.length > 2 && word.length < 6) {
      for (const w of this.#vocabulary.longer(word)) if (this.#standsFor(w)) this.#reading(readings, w, BEGINNING)
      if (!isKnown) {
        for (const w of this.#vocabulary.abbreviated(word))
          if (this.#standsFor(w)) this.#reading(readings, w, CONSONANTS)
      }
    }
    if (!readings.length && mend && word.length > 3) {
      for (const { word: w, differ } of this.#vocabulary.alike(word))
        this.#reading(readings, w, 1 - differ / word.length)
    }
    return readings
  }
}

/** Puts a hit in its place among the best. */
function insert(best: Hit[], hit: Hit, most: number): void {
  const isBefore = (other: Hit) => hit.score > other.score || hit.score === other.score && hit.doc.name < other.doc.name
  if (best.length === most && !isBefore(best[most - 1]!)) return
  let place = best.length
  while (place && isBefore(best[place - 1]!)) place--
  best.splice(place, 0, hit)
  if (best.length > most) best.pop()
}

/** A factor of a score, of which the share `most` depends on a value. */
const part = (most: number, value: number) => 1 - most + most * value

const rare = (having: number, all: number) => Math.log(1 + (all - having + 0.5) / (having + 0.5))

const words = (text: string, { most }: Field): string[] =>
  split(text.slice(0, LONGEST_TEXT), most).filter((w) => !isStopWord(w))

/** The sentences and lines of a text. */
const linesOf = (text: string): string[] => text.slice(0, LONGEST_TEXT).split(/\n+|(?<=[.!?:])\s+/)

/** The first letters of words that follow each other: pr of create_pull_request. */
function initials(name: string[]): Set<string> {
  const found = new Set<string>()
  for (let i = 0; i < name.length; i++) {
    let text = name[i]![0]!
    for (const word of name.slice(i + 1, i + 4)) found.add(text += word[0]!)
  }
  return found
}

/** The words of the query that a tool has, each in the first of its fields. */
const why = (asked: Asked[], n: number): string =>
  fields.map(({ name }, i) => {
    const all = asked.filter(({ bits }) => (bits[n]! & -bits[n]!) === 1 << i).map((a) => a.word)
    return all.length ? `${name}: ${all.join(', ')}` : ''
  }).filter(Boolean).join('; ')
