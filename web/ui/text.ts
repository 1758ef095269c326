// Foreign text made harmless for display. A hidden character is shown by its code point,
// so that a reader sees that it is there.

import { blackFlag, isHidden as hides, isWanted, nations } from '../../wasm/js/shared/hidden.ts'

/** Whether a code point shows nothing or changes how others show; lone surrogates count. */
export const isHidden = (c: number) => hides(c) || (c >= 0xd800 && c <= 0xdfff)

/** Tag characters: a copy of ASCII that nobody sees and models read. */
const isTag = (c: number) => c >= 0xe0020 && c <= 0xe007e

/** A letter may carry a few marks; more are meant to cover the lines around it. */
const maxMarks = 4
const mark = /\p{M}/u

/**
 * The text, at most `max` UTF-16 units long, then an ellipsis. Line feeds and tabs
 * stay. Hidden characters become ⟨U+202E⟩, a run of tag characters ⟨U+E0020: what it says⟩.
 */
export function clean(text: unknown, max = 2000): string {
  const s = String(text ?? '')
  let out = ''
  let before = 0
  let marks = 0
  for (let i = 0; i < s.length;) {
    const c = s.codePointAt(i)!
    let part = String.fromCodePoint(c)
    let next = i + part.length
    marks = c > 0x2ff && mark.test(part) ? marks + 1 : 0
    const nation = c === blackFlag && nations.find((tags) => s.startsWith(tags, next))
    if (nation) {
      part += nation
      next = i + part.length
    } else if (isTag(c)) {
      part = ''
      for (next = i; isTag(s.codePointAt(next) ?? 0) && part.length < max; next += 2)
        part += String.fromCharCode(s.codePointAt(next)! - 0xe0000)
      part = `⟨U+E0020: ${part}⟩`
    } else if ((isHidden(c) && !isWanted(c, before, s.codePointAt(next) ?? 0)) || marks > maxMarks) {
      part = c === 13 && s[next] === '\n' ? '' : code(c)
    }
    if (out.length + part.length > max) return out + '…'
    out += part
    before = c
    i = next
  }
  return out
}

/** The same on one line: white space of any kind is one space. */
export const line = (text: unknown, max = 200) =>
  clean(String(text ?? '').slice(0, 4 * max).replace(/\s+/g, ' ').trim(), max)

const code = (c: number) => '⟨U+' + c.toString(16).toUpperCase().padStart(4, '0') + '⟩'
