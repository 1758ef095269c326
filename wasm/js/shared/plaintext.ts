// Text without what nobody sees: registry/text says the rules, and
// testdata/hygiene holds the two to each other.

import { finish, type Steps } from './yield.ts'

/** What may have to go: controls, and what shows nothing or changes how other text shows. */
const candidate =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\r(?!\n)|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u

const isHidden = (c: number) => c > 0 && candidate.test(String.fromCodePoint(c))

const within = (c: number, ...ranges: number[]) => {
  for (let i = 0; i < ranges.length; i += 2) if (c >= ranges[i]! && c <= ranges[i + 1]!) return true
  return false
}

/** Letters of scripts that are written with joiners. */
const joins = (c: number) =>
  within(
    c,
    0x600,
    0xdff,
    0x1000,
    0x109f,
    0x1780,
    0x18af,
    0x1a20,
    0x1aaf,
    0x1b00,
    0x1b7f,
    0xa840,
    0xa87f,
    0xa980,
    0xa9df,
    0xaa60,
    0xaa7f,
    0xfb50,
    0xfdff,
    0xfe70,
    0xfefc,
    0x11000,
    0x11fff,
    0x1e900,
    0x1e95f,
  )
const isEmoji = (c: number) => within(c, 0x2190, 0x2bff, 0xfe0f, 0xfe0f, 0x1f000, 0x1faff)
const isRTL = (c: number) => within(c, 0x590, 0x8ff, 0xfb1d, 0xfdff, 0xfe70, 0xfefc, 0x10800, 0x10fff, 0x1e800, 0x1efff)
const isHan = (c: number) => within(c, 0x2e80, 0x9fff, 0xf900, 0xfaff, 0x20000, 0x3ffff)

/** Whether a candidate is a part of ordinary writing where it stands. */
function isWanted(c: number, before: number, after: number): boolean {
  if (c === 0x200c) return joins(before) && joins(after)
  if (c === 0x200d) return joins(before) || (isEmoji(before) && isEmoji(after))
  if (c === 0x200e || c === 0x200f || c === 0x61c) return isRTL(before) || isRTL(after)
  if (within(c, 0xfe00, 0xfe0f)) {
    return (before >= 0x2000 && !isHidden(before)) ||
      (c >= 0xfe0e && (within(before, 0x30, 0x39) || [0x23, 0x2a, 0xa9, 0xae].includes(before)))
  }
  return within(c, 0xe0100, 0xe01ef) && isHan(before)
}

const flag = 0x1f3f4
/** What makes the flags of England, Scotland and Wales of a black one. */
const nations = ['gbeng', 'gbsct', 'gbwls'].map((tags) =>
  [...tags].map((t) => String.fromCodePoint(0xe0000 + t.charCodeAt(0))).join('') + '\u{e007f}'
)

const ordinary = /^[\t\n\x20-\x7e]*$/

/** Whether `plain` may have something to do. */
export const mayHide = (s: string) => !ordinary.test(s) && candidate.test(s)

export interface Plain {
  text: string
  /** Where in the original, in code points, the first hidden character stood; -1: none. */
  at: number
}

/** The text without hidden characters and terminal sequences. */
export const plain = (s: string): Plain => finish(plainly(s))

/** Of a long text so much is looked at in one step. */
const piece = 64 << 10

/** The same, step by step. */
export function* plainly(s: string): Steps<Plain> {
  let text = '', at = -1
  let i = s.charCodeAt(0) === 0xfeff ? 1 : 0
  let from = i // what is in text came from before it
  let last = 0 // the code point that text ends with
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
        else if (c === flag && nations.some((n) => s.startsWith(n, i + 2))) {
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
    } else i = end < s.length && lastOf(s, end) === flag ? end - 2 : end // what follows may belong to it
    yield
  }
  return { text: from ? text + s.slice(from) : s, at }
}

const isHigh = (s: string, i: number) => s.charCodeAt(i) >> 10 === 0x36
const isPair = (s: string, i: number) => isHigh(s, i) && s.charCodeAt(i + 1) >> 10 === 0x37

/** The code point that ends there. */
const lastOf = (s: string, end: number) => s.codePointAt(end > 1 && isPair(s, end - 2) ? end - 2 : end - 1)!

/** How many code points the first `end` units are. */
function points(s: string, end: number): number {
  let n = end
  for (let i = 1; i < end; i++) if (isPair(s, i - 1)) n--
  return n
}

const longestSequence = 256

/**
 * The length, in units, of the terminal sequence that begins at i; `size`, that of its first character, if there is
 * none.
 */
function sequence(s: string, i: number, size: number): number {
  const c = s.charCodeAt(i), next = s.charCodeAt(i + 1)
  if (c === 0x9b) return control(s, i, i + 1)
  if ([0x90, 0x98, 0x9d, 0x9e, 0x9f].includes(c)) return stringSequence(s, i, i + 1)
  if (c !== 0x1b) return size
  if (next === 0x5b) return control(s, i, i + 2)
  if ([0x5d, 0x50, 0x58, 0x5e, 0x5f].includes(next)) return stringSequence(s, i, i + 2)
  let j = i + 1
  while (within(s.charCodeAt(j), 0x20, 0x2f) && j - i < longestSequence) j++
  return within(s.charCodeAt(j), 0x30, 0x7e) ? j + 1 - i : 1
}

function control(s: string, i: number, j: number): number {
  while (within(s.charCodeAt(j), 0x20, 0x3f) && j - i < longestSequence) j++
  return within(s.charCodeAt(j), 0x40, 0x7e) ? j + 1 - i : 1
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

/** What stands around a place, in code points, with hidden characters as ⟨U+200B⟩. */
export function excerptAt(s: string, at: number): string {
  let from = 0
  for (let n = Math.max(0, at - 16); n > 0 && from < s.length; n--) from += isPair(s, from) ? 2 : 1
  const shown = Array.from(s.slice(from, from + 112)).slice(0, Math.min(at, 16) + 40)
    .map((c) => {
      if (c === '\n' || c === '\t' || c === '\r') return ' '
      const code = c.codePointAt(0)!
      return isHidden(code) || code === 0 ? `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩` : c
    }).join('')
  return (from ? '…' : '') + (shown.length > 120 ? shown.slice(0, 119) + '…' : shown)
}
