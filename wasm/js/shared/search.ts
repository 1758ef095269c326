import type { SearchDocument } from './searchdocument.ts'
import type { SearchHit } from './types.ts'
import { abbreviates, distance, pieces } from './vocabulary.ts'
import { split, stem, telling } from './words.ts'
import type { Steps } from './yield.ts'

/** A tool that fits a query. */
export type Found = Omit<SearchHit, 'description'>

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
/** The speed at which a word that weighs more in a tool stops counting more. */
const SATURATION = 2
/** The weights of a score: of the query's words, of the name's words, of the server's tools. */
const SHARE = 0.5, NAMED = 0.25, PEERS = 0.5
/** A line that this share of a server's tools has says nothing about one of them. */
const SHARED = 0.5
/** The certainty of a word that is meant by its initials, its beginning, or its consonants. */
const INITIALS = 0.75, BEGINNING = 0.6, CONSONANTS = 0.6
/** Stands before initials, which are in the same table as stems. */
const INITIAL = '\0'
/** The most words that share letters with a misspelled word and are compared with it, and that a word is read as. */
const COMPARED = 60, READINGS = 6

/** A tool. `named` is how many different words its name has. */
interface Doc {
  name: string
  server: string
  named: number
}

/** A tool with a stem: how much the stem weighs in it, and the fields with the stem as bits. */
interface Posting {
  doc: Doc
  weight: number
  bits: number
}

/** A stem, or initials. */
interface Term {
  /** The tools that have it, by server. */
  having: Map<string, Posting[]>
  /** The words with this stem. */
  words: Set<string>
}

/** A word of the query. */
interface Asked {
  word: string
  /** A weight that is high if few tools have the word. */
  rarity: number
  /** The word that it is read as, and the certainty: 1 for its own stem. */
  readings: Map<Term, number>
}

/** The fit of a word of the query to a tool, and the fields with it as bits. */
interface Match {
  asked: Asked
  value: number
  bits: number
}

interface Hit {
  doc: Doc
  score: number
  matches: Match[]
}

/** Finds tools by words. The same tools and query give the same hits, in whatever order the tools came. */
export class SearchIndex {
  /** The number of tools of each server. */
  readonly #sizes = new Map<string, number>()
  readonly #terms = new Map<string, Term>()
  /** The stems of words. */
  readonly #known = new Map<string, Term>()
  /** The words of all tools, by piece. */
  readonly #words = new Map<string, Set<string>>()

  /** The tools that fit a query best, at most `limit`, among those of the servers and of the names that are given. */
  search(
    query: string,
    limit: number,
    { servers, names }: { servers?: readonly string[]; names?: readonly string[] } = {},
  ): Found[] {
    const asked = this.#read(query)
    const whole = sum(asked, (a) => a.rarity)
    const { found, peers } = matchesOf(asked)
    const among = names && new Set(names)
    const hits: Hit[] = []
    for (const [doc, matches] of found) {
      if (servers && !servers.includes(doc.server) || among && !among.has(doc.name)) continue
      const share = sum(matches, (m) => m.asked.rarity) / whole
      const inName = Math.min(1, sum(matches, (m) => m.bits & NAME) / doc.named)
      const score = sum(matches, (m) => m.asked.rarity * m.value) / whole * part(SHARE, share ** 2) *
        part(NAMED, inName) * part(PEERS, peers.get(doc.server)! / whole)
      insert(hits, { doc, score, matches }, limit)
    }
    // A tool cannot have all words of a long sentence.
    const scale = Math.max(1, asked.length / USUAL) ** 0.6
    return hits.map(({ doc: { name, server }, score, matches }) => ({
      name,
      server,
      score: Math.min(1, Math.round(Math.sqrt(score * scale) * 1e4) / 1e4),
      why: why(matches),
    }))
  }

  /** Replaces the tools of a server. */
  *set(server: string, documents: readonly SearchDocument[]): Steps<void> {
    yield* this.#remove(server)
    const lines: string[][][] = []
    const counts = new Map<string, number>()
    for (const { texts } of documents.slice(0, MOST_TOOLS - this.#count())) {
      const own = texts.map(linesOf)
      for (const line of new Set(own.flat())) counts.set(line, (counts.get(line) ?? 0) + 1)
      if (lines.push(own) % 100 === 0) yield
    }
    if (!lines.length) return
    this.#sizes.set(server, lines.length)
    const common = Math.max(3, SHARED * lines.length)
    const known = new Map<string, Posting[]>()
    for (const [i, own] of lines.entries()) {
      const texts = own.map((all) => all.filter((line) => counts.get(line)! < common).join('\n'))
      this.#add({ name: documents[i]!.name, server, named: 0 }, [...texts, server], known)
      if (i % 16 === 15) yield
    }
  }

  #count(): number {
    return sum([...this.#sizes.values()], (size) => size)
  }

  /** Adds the texts of a tool, one for each field. */
  #add(doc: Doc, texts: string[], known: Map<string, Posting[]>): void {
    for (const [i, { most, norm, usual, weight }] of fields.entries()) {
      const all = split(texts[i]!.slice(0, LONGEST_TEXT), most), words = telling(all)
      for (const word of words) {
        let having = known.get(word)
        if (!having) known.set(word, having = this.#learn(doc.server, word))
        const isNew = post(having, doc, weight / (1 - norm + norm * words.length / usual), 1 << i)
        if (!i && isNew) doc.named++
      }
      for (const letters of i ? [] : initials(all)) {
        post(valueIn(this.#term(INITIAL + letters).having, doc.server, (): Posting[] => []), doc, 1, NAME)
      }
    }
    doc.named ||= 1
  }

  /** The tools of a server with the stem of a word, which is added if it is new. */
  #learn(server: string, word: string): Posting[] {
    const term = valueIn(this.#known, word, () => {
      for (const piece of pieces(word)) valueIn(this.#words, piece, () => new Set<string>()).add(word)
      return this.#term(stem(word))
    })
    term.words.add(word)
    return valueIn(term.having, server, (): Posting[] => [])
  }

  #term(text: string): Term {
    return valueIn(this.#terms, text, (): Term => ({ having: new Map(), words: new Set() }))
  }

  *#remove(server: string): Steps<void> {
    if (!this.#sizes.delete(server)) return
    let seen = 0
    for (const [text, { having, words }] of this.#terms) {
      if (having.delete(server) && !having.size) {
        this.#terms.delete(text)
        for (const word of words) {
          this.#known.delete(word)
          for (const piece of pieces(word)) {
            const others = this.#words.get(piece)!
            others.delete(word)
            if (!others.size) this.#words.delete(piece)
          }
        }
      }
      if (++seen % 500 === 0) yield
    }
  }

  /** The words of the query that count. */
  #read(query: string): Asked[] {
    const all = [...new Set(split(query.slice(0, LONGEST_QUERY), QUERY_WORDS))]
    const tools = this.#count()
    const known: Asked[] = [], unknown: Asked[] = []
    for (const word of telling(all).flatMap((w) => this.#parts(w))) {
      const place = all.indexOf(word)
      const readings = this.#readings(word, unknown.length < UNKNOWN)
      for (const joined of place < 0 ? [] : [word + (all[place + 1] ?? ''), (all[place - 1] ?? '') + word])
        if (joined !== word) this.#reading(readings, stem(joined), 1)
      const having = [...readings.keys()].map((term) => term.having)
      const most = Math.max(0, ...having.map((by) => sum([...by.values()], (some) => some.length)))
      const servers = Math.max(0, ...having.map((by) => by.size))
      const rarity = 0.8 * rare(most, tools) + 0.4 * rare(servers, this.#sizes.size)
      ;(readings.size ? known : unknown).push({ word, rarity, readings })
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
    const having = this.#terms.get(stem(word))?.having.values() ?? []
    return [...having].some((all) => all.some((p) => p.bits & ABBREVIATED))
  }

  #reading(readings: Map<Term, number>, text: string, sure: number): void {
    const term = this.#terms.get(text)
    if (term) readings.set(term, Math.max(sure, readings.get(term) ?? 0))
  }

  #readings(word: string, mend: boolean): Map<Term, number> {
    const readings = new Map<Term, number>()
    const read = (words: string[], sure: number) => {
      for (const w of words) if (this.#standsFor(w)) this.#reading(readings, stem(w), sure)
    }
    this.#reading(readings, stem(word), 1)
    const isKnown = readings.size > 0
    if (word.length < 5) this.#reading(readings, INITIAL + word, INITIALS)
    if (word.length > 2 && word.length < 6) {
      read(this.#beginning(word.slice(0, 2)).filter((w) => w.length > word.length + 2 && w.startsWith(word)), BEGINNING)
      if (!isKnown)
        read(this.#beginning(word[0]!).filter((w) => abbreviates(word, w)).sort().slice(0, READINGS), CONSONANTS)
    }
    if (!readings.size && mend && word.length > 3) {
      for (const { other, differ } of this.#alike(word))
        this.#reading(readings, stem(other), 1 - differ / word.length)
    }
    return readings
  }

  /** Words that begin with one or two letters. */
  #beginning(letters: string): string[] {
    return [...this.#words.get(`^${letters}`) ?? []]
  }

  /** Words with one or two other letters, and how many differ. */
  #alike(word: string): { other: string; differ: number }[] {
    const common = new Map<string, number>()
    for (const piece of pieces(word)) {
      for (const other of this.#words.get(piece) ?? []) common.set(other, (common.get(other) ?? 0) + 1)
    }
    const most = word.length < 8 ? 1 : 2
    const near = [...common].filter(([other]) => Math.abs(other.length - word.length) <= most)
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, COMPARED)
      .map(([other]) => ({ other, differ: distance(word, other) }))
    const least = Math.min(most, ...near.map((n) => n.differ))
    return near.filter((n) => n.differ === least).slice(0, READINGS)
  }
}

/** The tools with words of the query, and how well their servers' best tools fit. */
function matchesOf(asked: Asked[]): { found: Map<Doc, Match[]>; peers: Map<string, number> } {
  const found = new Map<Doc, Match[]>(), peers = new Map<string, number>()
  for (const a of asked) {
    const tops = new Map<string, number>()
    for (const [{ having }, sure] of a.readings) {
      for (const [server, postings] of having) {
        let top = tops.get(server) ?? 0
        for (const { doc, weight, bits } of postings) {
          const value = sure * weight / (weight + SATURATION)
          const matches = valueIn(found, doc, (): Match[] => []), last = matches.at(-1)
          top = Math.max(top, value)
          if (last?.asked === a) {
            last.value = Math.max(last.value, value)
            last.bits |= bits
          } else matches.push({ asked: a, value, bits })
        }
        tops.set(server, top)
      }
    }
    for (const [server, top] of tops) peers.set(server, (peers.get(server) ?? 0) + a.rarity * top)
  }
  return { found, peers }
}

/** Adds weight of a term to a tool, the last one so far. Returns whether the tool did not have it. */
function post(having: Posting[], doc: Doc, weight: number, bits: number): boolean {
  const last = having.at(-1)
  if (last?.doc !== doc) return having.push({ doc, weight, bits }) > 0
  last.weight += weight
  last.bits |= bits
  return false
}

/** The value of a key, made if there is none. */
function valueIn<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, value = make())
  return value
}

const sum = <T>(all: readonly T[], value: (one: T) => number): number => all.reduce((n, one) => n + value(one), 0)

/** Puts a hit in its place among the best. */
function insert(best: Hit[], hit: Hit, most: number): void {
  const place = best.findIndex((b) => hit.score > b.score || hit.score === b.score && hit.doc.name < b.doc.name)
  best.splice(place < 0 ? best.length : place, 0, hit)
  if (best.length > most) best.pop()
}

/** A factor of a score, of which the share `most` depends on a value. */
const part = (most: number, value: number) => 1 - most + most * value

const rare = (having: number, all: number) => Math.log(1 + (all - having + 0.5) / (having + 0.5))

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
const why = (matches: Match[]): string =>
  fields.flatMap(({ name }, i) => {
    const all = matches.filter(({ bits }) => (bits & -bits) === 1 << i).map((m) => m.asked.word)
    return all.length ? `${name}: ${all.join(', ')}` : []
  }).join('; ')
