import { visit } from 'jsonc-parser'
import type { Problem } from './types.ts'

const maxDepth = 64
const quotes = "“”‘’'"
/** Errors of jsonc-parser (its ParseErrorCode) that say more than the character at which they are. */
const InvalidCharacter = 16
/** CloseBraceExpected, CloseBracketExpected */
const noBracket = new Set<number>([7, 8])
const faults: { [error: number]: Problem['code'] } = {
  11: 'json_unclosed', // UnexpectedEndOfComment
  12: 'json_unclosed', // UnexpectedEndOfString
  14: 'json_string', // InvalidUnicode
  15: 'json_string', // InvalidEscapeCharacter
  [InvalidCharacter]: 'json_string',
}

/**
 * Reads JSON with comments and trailing commas, as editors write it. Codes: json_unexpected, json_unclosed,
 * json_string, json_quotes (typographic or single ones), json_depth, json_rest (something follows).
 */
export function parseJSON(text: string): { value: unknown; problem?: undefined } | { problem: Problem } {
  const s = plainSpaces(text)
  const root: unknown[] = []
  const open: { value: JsonObject | unknown[]; at: number }[] = [{ value: root, at: 0 }]
  let key = ''
  /** Where the container begins that has just ended, with or without its bracket. */
  let lastOpen = 0

  let problem: Problem | undefined
  /** Ends the reading: what follows a fault is not looked at. */
  const fail = (code: Problem['code'], at: number): never => {
    problem = { code, ...place(s, at) }
    throw new SyntaxError(code)
  }
  const put = (value: unknown) => {
    const into = open.at(-1)!.value
    if (Array.isArray(into)) into.push(value)
    else set(into, key, value)
  }
  const begin = (value: JsonObject | unknown[], at: number) => {
    if (open.length > maxDepth) fail('json_depth', at)
    put(value)
    open.push({ value, at })
  }
  const end = () => {
    lastOpen = open.pop()!.at
  }

  try {
    visit(s, {
      onObjectBegin: (at) => begin({}, at),
      onArrayBegin: (at) => begin([], at),
      onObjectEnd: end,
      onArrayEnd: end,
      onObjectProperty: (name) => {
        key = name
      },
      onLiteralValue: put,
      onError: (error, at, length) => {
        // People type tabs inside strings.
        const isTab = !/[\0-\x08\x0a-\x1f]/.test(s.slice(at, at + length))
        if (error as number === InvalidCharacter && isTab) return
        if (noBracket.has(error)) fail('json_unclosed', lastOpen)
        if (at >= s.length) fail('json_unclosed', open.at(-1)!.at)
        if (faults[error]) fail(faults[error], at)
        if (root.length && open.length === 1) fail('json_rest', at)
        fail(quotes.includes(s[at]!) ? 'json_quotes' : 'json_unexpected', at)
      },
    }, { allowTrailingComma: true })
    return { value: root[0] }
  } catch (e) {
    if (problem) return { problem }
    throw e
  }
}

/** Web pages have no-break spaces between the members. The text keeps its length. */
const plainSpaces = (s: string) => s.replace(/"(?:[^"\\\n]|\\.)*"?|[\u00a0\ufeff]/g, (m) => (m[0] === '"' ? m : ' '))

/** Line and column, from 1. */
function place(s: string, at: number): { line: number; column: number } {
  const lines = s.slice(0, at).split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}

// Access to parsed JSON that has not been checked. Only own members count.

export type JsonObject = Record<string, unknown>

export const isObject = (v: unknown): v is JsonObject => typeof v === 'object' && v !== null && !Array.isArray(v)

/** An own member; undefined if there is none. */
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
