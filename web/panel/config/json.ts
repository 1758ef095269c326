import type { Problem } from './types.ts'

const maxDepth = 64
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literals: [string, unknown][] = [['true', true], ['false', false], ['null', null]]

/**
 * Reads JSON with comments and trailing commas, as editors write it. Codes:
 * json_unexpected, json_unclosed, json_string, json_quotes (typographic ones,
 * or single), json_depth, json_rest (something follows), with where it is.
 */
export function parseJSON(s: string): { value: unknown; problem?: undefined } | { problem: Problem } {
  let at = 0

  const fail: (code: string, where?: number) => never = (code, where = at) => {
    throw new Fault({ code, ...place(s, where) })
  }

  function space(): void {
    for (;;) {
      const c = s.charCodeAt(at)
      if (c <= 32 || c === 0xa0 || c === 0xfeff) at++
      else if (s.startsWith('//', at)) at = until('\n', at)
      else if (s.startsWith('/*', at)) {
        const end = s.indexOf('*/', at + 2)
        if (end < 0) fail('json_unclosed')
        at = end + 2
      } else return
    }
  }

  const until = (mark: string, from: number) => {
    const end = s.indexOf(mark, from)
    return end < 0 ? s.length : end
  }

  function text(): string {
    const start = at++
    for (;;) {
      const c = s[at]
      if (c === undefined || c === '\n') fail('json_unclosed', start)
      at += c === '\\' ? 2 : 1
      if (c === '"') break
    }
    const raw = s.slice(start, at)
    try {
      return JSON.parse(raw) as string
    } catch {
      // A tab inside is what people type; anything else is a fault.
      try {
        return JSON.parse(raw.replaceAll('\t', '\\t')) as string
      } catch {
        return fail('json_string', start)
      }
    }
  }

  function value(depth: number): unknown {
    space()
    const c = s[at]
    if (c === '"') return text()
    if (c === '{' || c === '[') {
      if (depth === maxDepth) fail('json_depth')
      return c === '{' ? object(depth + 1) : array(depth + 1)
    }
    for (const [word, v] of literals) {
      if (s.startsWith(word, at)) {
        at += word.length
        return v
      }
    }
    number.lastIndex = at
    const n = number.exec(s)
    if (n) {
      at += n[0].length
      return Number(n[0])
    }
    return fail(c === undefined ? 'json_unclosed' : "“”‘’'".includes(c) ? 'json_quotes' : 'json_unexpected')
  }

  /** Steps over a comma; true when the closing bracket has come. */
  function ends(bracket: string, first: boolean, open: number): boolean {
    space()
    if (!first && s[at] === ',') {
      at++
      space()
    } else if (!first && s[at] !== bracket && at < s.length) fail('json_unexpected')
    if (at >= s.length) fail('json_unclosed', open)
    return s[at] === bracket && !!++at
  }

  function object(depth: number): Obj {
    const o: Obj = {}
    const open = at++
    for (let first = true; !ends('}', first, open); first = false) {
      if (s[at] !== '"') fail("“”‘’'".includes(s[at]!) ? 'json_quotes' : 'json_unexpected')
      const key = text()
      space()
      if (s[at] !== ':') fail(at < s.length ? 'json_unexpected' : 'json_unclosed')
      at++
      set(o, key, value(depth))
    }
    return o
  }

  function array(depth: number): unknown[] {
    const list: unknown[] = []
    const open = at++
    for (let first = true; !ends(']', first, open); first = false) list.push(value(depth))
    return list
  }

  try {
    const v = value(0)
    space()
    if (at < s.length) fail('json_rest')
    return { value: v }
  } catch (e) {
    if (e instanceof Fault) return { problem: e.problem }
    throw e
  }
}

class Fault {
  readonly problem: Problem
  constructor(problem: Problem) {
    this.problem = problem
  }
}

function place(s: string, at: number): { line: number; column: number } {
  const lines = s.slice(0, at).split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}

// Parsed JSON that nobody has checked: read by own members only.

export type Obj = Record<string, unknown>

export const isObject = (v: unknown): v is Obj => typeof v === 'object' && v !== null && !Array.isArray(v)

/** An own member, undefined where there is none. */
export const get = (v: unknown, key: string): unknown => (isObject(v) && Object.hasOwn(v, key) ? v[key] : undefined)

/** The first of the members that is a string and says something. */
export function text(v: unknown, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const s = get(v, key)
    if (typeof s === 'string' && s.trim()) return s
  }
  return undefined
}

export const strings = (v: unknown): string[] => (Array.isArray(v) ? v.filter((e) => typeof e === 'string') : [])

/** The members as name and text; numbers and booleans are written out. */
export const pairs = (v: unknown): [string, string][] =>
  (isObject(v) ? Object.entries(v) : [])
    .filter(([, e]) => ['string', 'number', 'boolean'].includes(typeof e)).map(([k, e]) => [k, String(e)])

/** Without percent signs; undefined where they mean nothing. */
export function decoded(s: string): string | undefined {
  try {
    return decodeURIComponent(s)
  } catch {
    return undefined
  }
}

/** Sets a member, also one that JavaScript would take for the prototype. */
export function set<T>(o: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__')
    Object.defineProperty(o, key, { value, enumerable: true, configurable: true, writable: true })
  else o[key] = value
}
