// Text without what nobody sees: registry/clean.go says the rules, and
// testdata/hygiene holds the two to each other.

/** What may have to go: controls, and what shows nothing or changes how other text shows. */
const candidate = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\r(?!\n)|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u

const isHidden = (c: number) => c > 0 && candidate.test(String.fromCodePoint(c))

const within = (c: number, ...ranges: number[]) => {
  for (let i = 0; i < ranges.length; i += 2) if (c >= ranges[i]! && c <= ranges[i + 1]!) return true
  return false
}

/** Letters of scripts that are written with joiners. */
const joins = (c: number) => within(c, 0x600, 0xdff, 0x1000, 0x109f, 0x1780, 0x18af, 0x1a20, 0x1aaf, 0x1b00, 0x1b7f, 0xa840, 0xa87f,
  0xa980, 0xa9df, 0xaa60, 0xaa7f, 0xfb50, 0xfdff, 0xfe70, 0xfefc, 0x11000, 0x11fff, 0x1e900, 0x1e95f)
const isEmoji = (c: number) => within(c, 0x2190, 0x2bff, 0xfe0f, 0xfe0f, 0x1f000, 0x1faff)
const isRTL = (c: number) => within(c, 0x590, 0x8ff, 0xfb1d, 0xfdff, 0xfe70, 0xfefc, 0x10800, 0x10fff, 0x1e800, 0x1efff)
const isHan = (c: number) => within(c, 0x2e80, 0x9fff, 0xf900, 0xfaff, 0x20000, 0x3ffff)

/** Whether a candidate is a part of ordinary writing where it stands. */
function isWanted(c: number, before: number, after: number): boolean {
  if (c === 0x200c) return joins(before) && joins(after)
  if (c === 0x200d) return joins(before) || (isEmoji(before) && isEmoji(after))
  if (c === 0x200e || c === 0x200f || c === 0x61c) return isRTL(before) || isRTL(after)
  if (within(c, 0xfe00, 0xfe0f)) {
    return (before >= 0x2000 && !isHidden(before)) || (c >= 0xfe0e && (within(before, 0x30, 0x39) || [0x23, 0x2a, 0xa9, 0xae].includes(before)))
  }
  return within(c, 0xe0100, 0xe01ef) && isHan(before)
}

const flag = 0x1f3f4
/** What makes the flags of England, Scotland and Wales of a black one. */
const nations = ['gbeng', 'gbsct', 'gbwls'].map((tags) => [...tags].map((t) => 0xe0000 + t.charCodeAt(0)).concat(0xe007f))

const ordinary = /^[\t\n\x20-\x7e]*$/

/** Whether `plain` may have something to do. */
export const mayHide = (s: string) => !ordinary.test(s) && candidate.test(s)

export interface Plain {
  text: string
  /** Where in the original, in code points, the first hidden character stood; -1: none. */
  at: number
}

/** The text without hidden characters and terminal sequences. */
export function plain(s: string): Plain {
  if (!mayHide(s)) return { text: s, at: -1 }
  const chars = Array.from(s, (c) => c.codePointAt(0)!)
  const kept: number[] = []
  let at = -1
  for (let i = chars[0] === 0xfeff ? 1 : 0; i < chars.length; i++) {
    const c = chars[i]!
    const before = kept.at(-1) ?? 0, after = chars[i + 1] ?? 0
    if (c === 0x0d) kept.push(after === 0x0a ? c : 0x0a)
    else if (c === 0x2028 || c === 0x2029) kept.push(0x0a)
    else if (c === flag && nations.some((n) => n.every((t, k) => chars[i + 1 + k] === t))) {
      kept.push(...chars.slice(i, i + 7))
      i += 6
    } else if ((c !== 0 && !isHidden(c)) || isWanted(c, before, after)) kept.push(c)
    else {
      if (at < 0) at = i
      i += sequence(chars, i) - 1
    }
  }
  let text = ''
  for (let i = 0; i < kept.length; i += 4096) text += String.fromCodePoint(...kept.slice(i, i + 4096))
  return { text, at }
}

const longestSequence = 256

/** The length of the terminal sequence that begins at i; 1 if there is none. */
function sequence(chars: readonly number[], i: number): number {
  const c = chars[i]!
  const next = chars[i + 1] ?? 0
  if (c === 0x9b) return control(chars, i, i + 1)
  if ([0x90, 0x98, 0x9d, 0x9e, 0x9f].includes(c)) return stringSequence(chars, i, i + 1)
  if (c !== 0x1b) return 1
  if (next === 0x5b) return control(chars, i, i + 2)
  if ([0x5d, 0x50, 0x58, 0x5e, 0x5f].includes(next)) return stringSequence(chars, i, i + 2)
  let j = i + 1
  while (within(chars[j] ?? 0, 0x20, 0x2f) && j - i < longestSequence) j++
  return within(chars[j] ?? 0, 0x30, 0x7e) ? j + 1 - i : 1
}

function control(chars: readonly number[], i: number, j: number): number {
  while (within(chars[j] ?? 0, 0x20, 0x3f) && j - i < longestSequence) j++
  return within(chars[j] ?? 0, 0x40, 0x7e) ? j + 1 - i : 1
}

function stringSequence(chars: readonly number[], i: number, j: number): number {
  for (; j < chars.length && j - i < longestSequence; j++) {
    if (chars[j] === 0x07 || chars[j] === 0x9c) return j + 1 - i
    if (chars[j] === 0x1b && chars[j + 1] === 0x5c) return j + 2 - i
  }
  return 1
}

/** What stands around a place, in code points, with hidden characters as ⟨U+200B⟩. */
export function excerptAt(s: string, at: number): string {
  const from = Math.max(0, at - 16)
  const shown = Array.from(s.slice(0, 2 * (at + 80))).slice(from, at + 40)
    .map((c) => (c === '\n' || c === '\t' || c === '\r' ? ' ' : isHidden(c.codePointAt(0)!) || c === '\0' ? `⟨U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩` : c)).join('')
  return (from ? '…' : '') + (shown.length > 120 ? shown.slice(0, 119) + '…' : shown)
}
