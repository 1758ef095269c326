// Finds suspicious text of servers. registry/scan does the same and explains it. testdata/scan holds both to one
// output.

import source from '../../../registry/scan/rules.json' with { type: 'json' }
import { isObject } from './object.ts'
import { pointer, shown, step } from './pointer.ts'
import { excerptAt, plain } from './plaintext.ts'
import type { Flag, ToolInfo } from './types.ts'

const compile = (pattern: string) => new RegExp(pattern, 'i')
const rules = source.rules.map(({ rule, pattern }) => ({ rule, pattern: compile(pattern) }))
const [parameters, asking, asked, instructs] = [source.parameters, source.asking, source.asked, source.instructs].map(
  compile,
) as [RegExp, RegExp, RegExp, RegExp]
const latin = new Map(
  source.lookalikes.split(' ').map((pair) => {
    const [from, to] = [...pair]
    return [from!, to!]
  }),
)

const maxText = 64 << 10, maxStrings = 2000, maxFlags = 20, maxDepth = 64

/** The flags of a definition. `others` are the names of other servers' tools. */
export function scanDefinition(definition: unknown, others: ReadonlySet<string> = new Set()): Flag[] {
  return new Scan(others, true).over(definition)
}

/** The flags of a CallToolResult. */
export function scanResult(result: unknown): Flag[] {
  return new Scan(new Set(), false).over(result)
}

/** Scans on demand. */
export class Scanner {
  #known: readonly ToolInfo[] = []
  #names = new Map<string, Set<string>>()

  /** Defines `flags` of a tool as a getter that scans at first use. */
  watch(info: ToolInfo, all: () => readonly ToolInfo[]): void {
    const hidden = info.flags ?? []
    let found: Flag[] | undefined
    const find = () => (found ??= [...hidden, ...scanDefinition(info.definition, this.#others(info.server, all()))])
    Object.defineProperty(info, 'flags', { enumerable: true, configurable: true, get: find })
  }

  result(result: unknown): Flag[] {
    return scanResult(result)
  }

  #others(server: string, all: readonly ToolInfo[]): Set<string> {
    if (this.#known !== all) {
      this.#known = all
      this.#names = new Map()
    }
    let names = this.#names.get(server)
    if (!names)
      this.#names.set(server, names = new Set(all.flatMap((t) => (t.server === server ? [] : [t.name, t.tool]))))
    return names
  }
}

class Scan {
  #left = maxText
  #count = 0
  readonly #flags: Flag[] = []
  readonly #others: ReadonlySet<string>
  readonly #definition: boolean

  constructor(others: ReadonlySet<string>, definition: boolean) {
    this.#others = others
    this.#definition = definition
  }

  over(value: unknown): Flag[] {
    this.#walk(value, '', 0)
    return this.#flags
  }

  get #full(): boolean {
    return this.#left <= 0 || this.#count >= maxStrings || this.#flags.length >= maxFlags
  }

  #flag(rule: string, where: string, text: string, at: number): void {
    if (this.#flags.length < maxFlags) this.#flags.push({ rule, where: shown(where), excerpt: excerptAt(text, at) })
  }

  #walk(v: unknown, where: string, depth: number): void {
    if (depth > maxDepth || this.#full) return
    if (typeof v === 'string') return this.#text(v, where)
    if (Array.isArray(v)) {
      for (const [i, e] of v.entries()) // a long list of numbers has no words
        if (typeof e === 'string' || typeof e === 'object') this.#walk(e, pointer(where, `/${i}`), depth + 1)
    }
    if (!isObject(v)) return
    for (const [key, value] of Object.entries(v)) {
      const at = pointer(where, step(key))
      if (!/^[\w$./-]*$/.test(key)) this.#text(key, at)
      if (this.#definition && key === 'properties' && isObject(value)) this.#parameters(value, at)
      if (this.#definition || (key !== 'data' && key !== 'blob')) this.#walk(value, at, depth + 1)
    }
  }

  /** Parameter names that ask for the model's instructions. */
  #parameters(properties: Record<string, unknown>, where: string): void {
    for (const [name, schema] of Object.entries(properties)) {
      const snake = name.replaceAll('-', '_').replace(/([a-z])(?=[A-Z])/g, '$1_')
      const described = isObject(schema) && typeof schema['description'] === 'string' ? schema['description'] : ''
      if (parameters.test(snake) || (asking.test(snake) && asked.test(spaced(described)))) {
        this.#flag('parameter', pointer(where, step(name)), name, 0)
      }
    }
  }

  #text(s: string, where: string): void {
    if (this.#full) return
    this.#count++
    const given = s.slice(0, this.#left)
    this.#left -= given.length
    const cleaned = plain(given)
    if (cleaned.at >= 0) this.#flag('hidden_text', where, given, cleaned.at)
    const words = spaced(cleaned.text)
    const { text, at } = fold(words)
    if (at >= 0) this.#flag('lookalike', where, words, at)
    const flagged = new Set<string>()
    for (const { rule, pattern } of rules) {
      if (flagged.has(rule)) continue
      const m = pattern.exec(text)
      if (!m || (rule === 'blob' && !isBlob(m[0]))) continue
      flagged.add(rule)
      this.#flag(rule, where, text, characters(text, m.index))
    }
    if (flagged.has('shadowing') || !this.#others.size) return
    const shadow = this.#shadows(text)
    if (shadow >= 0) this.#flag('shadowing', where, text, characters(text, shadow))
  }

  #shadows(text: string): number {
    for (const { 0: name, index } of text.matchAll(/[A-Za-z][\w-]{4,}/g)) {
      if (
        this.#others.has(name) && (/[_-]/.test(name) || /[A-Z]/.test(name.slice(1))) &&
        instructs.test(text.slice(Math.max(0, index - 80), index + name.length + 80))
      ) return index
    }
    return -1
  }
}

const characters = (text: string, at: number) => [...text.slice(0, at)].length

const isBlob = (s: string) => !/^[A-Za-z0-9+/]/.test(s) || s.includes(' ') || (/[A-Z]/.test(s) && /[a-z]/.test(s))

const spaced = (s: string) => s.replace(/[\t-\r \u00a0\u2000-\u200a\u202f\u205f\u3000]+/g, ' ').trim()

/** Replaces letters that look like Latin ones in words with both. Also returns the place of the first such word. */
function fold(s: string): { text: string; at: number } {
  if (!/[^\x00-\x7f]/.test(s)) return { text: s, at: -1 }
  let at = -1
  const text = s.replace(/\p{L}+/gu, (word, index: number) => {
    const letters = [...word]
    const narrow = letters.map(unwide)
    const wide = narrow.some((c, i) => c !== letters[i])
    if (!narrow.some((c) => c < '\x80') || !(wide || narrow.some((c) => latin.has(c)))) return word
    if (at < 0) at = characters(s, index)
    return narrow.map((c) => latin.get(c) ?? c).join('')
  })
  return { text, at }
}

/** The plain letter of a wide or mathematical one. */
function unwide(letter: string): string {
  const c = letter.codePointAt(0)!
  if (c >= 0xff21 && c <= 0xff5a) return String.fromCharCode(c - 0xfee0)
  if (c < 0x1d400 || c > 0x1d6a3) return letter
  const k = (c - 0x1d400) % 52
  return String.fromCharCode(k < 26 ? 65 + k : 71 + k)
}
