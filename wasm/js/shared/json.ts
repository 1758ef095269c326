// JSON beyond JSON.parse: depths, digits of large integers, and texts of members.

import type { JsonObject } from './object.ts'

export { isObject, type JsonObject } from './object.ts'

/** The findings of one walk over a parsed value. */
interface Extent {
  /** The approximate size as JSON text: strings count their UTF-16 units, numbers 4. */
  size: number
  /** The nesting. */
  levels: number
  objects: number
  /** The length of the longest array. */
  longest: number
}

/** The extent of a value. Undefined if it nests deeper than `most` levels. */
export function extentOf(v: unknown, most: number): Extent | undefined {
  const e: Extent = { size: 0, levels: 0, objects: 0, longest: 0 }
  const fits = (v: unknown, level: number): boolean => {
    if (typeof v !== 'object' || v === null) {
      e.size += typeof v === 'string' ? v.length + 2 : 4
      return true
    }
    if (level === most) return false
    if (++level > e.levels) e.levels = level
    if (Array.isArray(v)) {
      e.size += 2 + v.length
      if (v.length > e.longest) e.longest = v.length
      for (let i = 0; i < v.length; i++) if (!fits(v[i], level)) return false
      return true
    }
    e.size += 2
    e.objects++
    for (const key in v) {
      e.size += key.length + 4
      if (!fits((v as JsonObject)[key], level)) return false
    }
    return true
  }
  return fits(v, 0) ? e : undefined
}

/** Whether a text may have a number that a double cannot hold. It may be true without one, never false with one. */
export function mayLoseDigits(text: string): boolean {
  return /\d{16}/.test(text)
}

/** The value of a JSON text, for people to read. An integer that a double cannot hold is a text with its digits. */
export function legible(text: string): unknown {
  if (!mayLoseDigits(text)) return JSON.parse(text)
  return JSON.parse(
    outsideStrings(
      text,
      /-?\d[\d.eE+-]*/g,
      (part) => (/^-?\d+$/.test(part) && !Number.isSafeInteger(+part) ? `"${part}"` : part),
    ),
  )
}

/**
 * Replaces what a pattern finds outside of the strings of a JSON text. A pattern of whole strings overflows the stack
 * at a long one.
 */
export function outsideStrings(text: string, pattern: RegExp, replace: (part: string) => string): string {
  let out = ''
  for (let at = 0; at < text.length;) {
    const quote = (text.indexOf('"', at) + 1 || text.length + 1) - 1
    out += text.slice(at, quote).replace(pattern, replace)
    at = skipString(text, quote)
    out += text.slice(quote, at)
  }
  return out
}

/** The text among others that says a value with all its digits. Undefined if there is none, or none is needed. */
export function exactText(value: unknown, texts: readonly unknown[]): string | undefined {
  let said: string | undefined // made once, because a server may send a large value with many texts
  return texts.find((t) => {
    try {
      return typeof t === 'string' && mayLoseDigits(t) && JSON.stringify(JSON.parse(t)) ===
          (said ??= JSON.stringify(value))
    } catch { /* it is no JSON */ }
  }) as string | undefined
}

/**
 * The text of the member `key` of the object in `text`, which has to be valid JSON. Undefined if there is none. The
 * last of several counts, as for JSON.parse.
 */
export function memberText(text: string, key: string): string | undefined {
  let found: string | undefined
  let at = text.indexOf('{') + 1
  while (at > 0) {
    at = skipSpace(text, at)
    if (text[at] !== '"') break
    const nameEnd = skipString(text, at)
    const name: unknown = JSON.parse(text.slice(at, nameEnd))
    const from = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const to = skipValue(text, from)
    if (name === key) found = text.slice(from, to)
    at = skipSpace(text, to)
    if (text[at] !== ',') break
    at++
  }
  return found
}

/** The texts of the elements of the array in `text`, which has to be valid JSON. */
export function elementTexts(text: string): string[] {
  const found: string[] = []
  let at = skipSpace(text, text.indexOf('[') + 1)
  while (at < text.length && text[at] !== ']') {
    const to = skipValue(text, at)
    found.push(text.slice(at, to))
    at = skipSpace(text, to)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return found
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++
  return at
}

/** The end of the string that begins at `at`. A string ends at the first quote after an even number of backslashes. */
export function skipString(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at < 0) return text.length
    let slash = at
    while (text[slash - 1] === '\\') slash--
    if ((at - slash) % 2 === 0) return at + 1
  }
}

function skipValue(text: string, at: number): number {
  const structural = /["[\]{},]/g
  for (let depth = 0; at < text.length;) {
    structural.lastIndex = at
    const hit = structural.exec(text)
    if (!hit) return text.length
    const c = hit[0]
    if (c === '"') {
      at = skipString(text, hit.index)
      continue
    }
    if (c === '{' || c === '[') depth++
    else if (c === ',') {
      if (depth === 0) return trimEnd(text, hit.index)
    } else if (depth === 0) return trimEnd(text, hit.index)
    else depth--
    at = hit.index + 1
  }
  return text.length
}

function trimEnd(text: string, at: number): number {
  while (at > 0 && ' \t\n\r'.includes(text[at - 1]!)) at--
  return at
}
