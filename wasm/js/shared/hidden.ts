// Hidden characters, by the table of registry/wire. registry/text has the same rule.

import { emojiRanges, hanRanges, hiddenRanges, joiningRanges, nationTags, rightToLeftRanges } from './wire.gen.ts'

/** The first and the last code point of each range in turn. */
const parse = (ranges: string) =>
  ranges.split(' ').flatMap((range) => {
    const [first, last = first] = range.split('-')
    return [parseInt(first!, 16), parseInt(last!, 16)]
  })

/** The code points that are invisible or change the display of others: the first and the last of each range. */
export const hidden = parse(hiddenRanges)
const joining = parse(joiningRanges), emoji = parse(emojiRanges)
const rightToLeft = parse(rightToLeftRanges), han = parse(hanRanges)

function within(c: number, ranges: number[]): boolean {
  for (let i = 0; i < ranges.length && c >= ranges[i]!; i += 2) if (c <= ranges[i + 1]!) return true
  return false
}

/** Whether a code point is invisible or changes the display of others. */
export const isHidden = (c: number) => within(c, hidden)

/** Whether ordinary text needs a hidden code point between its neighbours. */
export function isWanted(c: number, before: number, after: number): boolean {
  if (c === 0x200c) return within(before, joining) && within(after, joining)
  if (c === 0x200d) return within(before, joining) || (within(before, emoji) && within(after, emoji))
  if (c === 0x200e || c === 0x200f || c === 0x61c) return within(before, rightToLeft) || within(after, rightToLeft)
  if (c >= 0xfe00 && c <= 0xfe0f) {
    return (before >= 0x2000 && !isHidden(before)) ||
      (c >= 0xfe0e && ((before >= 0x30 && before <= 0x39) || [0x23, 0x2a, 0xa9, 0xae].includes(before)))
  }
  return c >= 0xe0100 && c <= 0xe01ef && within(before, han)
}

/** The flag before {@link nations}. */
export const blackFlag = 0x1f3f4

/** The tags of the flags of England, Scotland and Wales. */
export const nations = nationTags.map((tags) =>
  [...tags].map((t) => String.fromCodePoint(0xe0000 + t.charCodeAt(0))).join('') + '\u{e007f}'
)
