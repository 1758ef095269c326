// Removes hidden characters from text. registry/text does the same and explains it. testdata/hygiene holds both to one
// output.

import { blackFlag, hidden, isHidden, isWanted, nations } from './hidden.ts'
import { finish, type Steps } from './yield.ts'

const ordinary = /^[\t\n\x20-\x7e]*$/

/** A code point in a regular expression. terser rejects the escape in a template. */
const escaped = (c: number) => '\\u{' + c.toString(16) + '}'

/** A character class of the ranges between two code points, without CR. */
const classOf = (from: number, to: number) => {
  let text = ''
  for (let i = 0; i < hidden.length; i += 2) {
    const first = hidden[i]!, last = hidden[i + 1]!
    if (first < from || first > to) continue
    const parts = first <= 0x0d && last >= 0x0d ? [first, 0x0c, 0x0e, last] : [first, last]
    for (let k = 0; k < parts.length; k += 2)
      text += `${escaped(parts[k]!)}-${escaped(parts[k + 1]!)}`
  }
  return `[${text}]`
}

/** Finds text that may hold hidden characters. A lone CR counts, CRLF does not. V8 is fastest with this order. */
const mayHoldHidden = new RegExp(
  String.raw`${classOf(0, 0xffff)}|\r(?!\n)|${classOf(0x10000, 0x10ffff)}`,
  'u',
)

/** Whether `plain` may change the text. */
export const mayHide = (s: string) => !ordinary.test(s) && mayHoldHidden.test(s)

interface Plain {
  text: string
  /** The place of the first hidden character in the original, in code points. -1: none. */
  at: number
}

/** The text without hidden characters and terminal sequences. */
export const plain = (s: string): Plain => finish(plainly(s))

/** The characters that one step reads. */
const piece = 64 << 10

/** Removes hidden characters step by step. */
export function* plainly(s: string): Steps<Plain> {
  let text = '', at = -1
  let i = s.charCodeAt(0) === 0xfeff ? 1 : 0
  let from = i // the text up to here is done
  let last = 0 // the last code point of the text
  while (i < s.length) {
    const end = Math.min(i + piece, s.length) - (isHigh(s, i + piece - 1) ? 1 : 0)
    if (mayHide(s.slice(i, end))) {
      const kept: string[] = []
      while (i < end) {
        const c = s.codePointAt(i)!
        if (c >= 0x20 && c < 0x7f) {
          i++
          continue
        }
        const size = c > 0xffff ? 2 : 1
        const before = i > from ? lastOf(s, i) : last, after = s.codePointAt(i + size) ?? 0
        let instead = ''
        if (c === 0x0d && after !== 0x0a || c === 0x2028 || c === 0x2029) instead = '\n'
        else if (c === blackFlag && nations.some((n) => s.startsWith(n, i + 2))) {
          i += 14
          continue
        } else if ((c !== 0 && (c === 0x0d || !isHidden(c))) || isWanted(c, before, after)) {
          i += size
          continue
        } else if (at < 0) at = points(s, i)
        kept.push(s.slice(from, i), instead)
        last = instead ? 0x0a : before
        i += instead ? size : sequence(s, i, size)
        from = i
      }
      text += kept.join('')
    } else i = end < s.length && lastOf(s, end) === blackFlag ? end - 2 : end // the next characters may belong to it
    yield
  }
  return { text: from ? text + s.slice(from) : s, at }
}

const isHigh = (s: string, i: number) => s.charCodeAt(i) >> 10 === 0x36
const isPair = (s: string, i: number) => isHigh(s, i) && s.charCodeAt(i + 1) >> 10 === 0x37

/** The code point before `end`. */
const lastOf = (s: string, end: number) => s.codePointAt(end > 1 && isPair(s, end - 2) ? end - 2 : end - 1)!

/** The number of code points in the first `end` units. */
function points(s: string, end: number): number {
  let n = end
  for (let i = 1; i < end; i++) if (isPair(s, i - 1)) n--
  return n
}

const isBetween = (c: number, first: number, last: number) => c >= first && c <= last

const longestSequence = 256

/**
 * The length, in units, of the terminal sequence at i. `size`, the length of the first character, if there is none.
 */
function sequence(s: string, i: number, size: number): number {
  const c = s.charCodeAt(i), next = s.charCodeAt(i + 1)
  if (c === 0x9b) return control(s, i, i + 1)
  if ([0x90, 0x98, 0x9d, 0x9e, 0x9f].includes(c)) return stringSequence(s, i, i + 1)
  if (c !== 0x1b) return size
  if (next === 0x5b) return control(s, i, i + 2)
  if ([0x5d, 0x50, 0x58, 0x5e, 0x5f].includes(next)) return stringSequence(s, i, i + 2)
  let j = i + 1
  while (isBetween(s.charCodeAt(j), 0x20, 0x2f) && j - i < longestSequence) j++
  return isBetween(s.charCodeAt(j), 0x30, 0x7e) ? j + 1 - i : 1
}

function control(s: string, i: number, j: number): number {
  while (isBetween(s.charCodeAt(j), 0x20, 0x3f) && j - i < longestSequence) j++
  return isBetween(s.charCodeAt(j), 0x40, 0x7e) ? j + 1 - i : 1
}

function stringSequence(s: string, i: number, j: number): number {
  for (let n = j - i; j < s.length && n < longestSequence; n++) {
    const c = s.charCodeAt(j)
    if (c === 0x07 || c === 0x9c) return j + 1 - i
    if (c === 0x1b && s.charCodeAt(j + 1) === 0x5c) return j + 2 - i
    j += isPair(s, j) ? 2 : 1
  }
  return 1
}

/** The text around a place, in code points, with hidden characters as ⟨U+200B⟩. */
export function excerptAt(s: string, at: number): string {
  let from = 0
  for (let n = Math.max(0, at - 16); n > 0 && from < s.length; n--) from += isPair(s, from) ? 2 : 1
  let shown = ''
  for (const c of Array.from(s.slice(from, from + 112)).slice(0, Math.min(at, 16) + 40)) {
    const code = c.codePointAt(0)!
    let part = c
    if (c === '\n' || c === '\t' || c === '\r') part = ' '
    else if (isHidden(code) || code === 0) part = `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
    if (shown.length + part.length > 120) {
      shown += '…'
      break
    }
    shown += part
  }
  return (from ? '…' : '') + shown
}
