const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** Normalizes a field's text for comparison. Editors differ in spaces, but not in lines. */
export function normalised(text: string): string {
  return text.normalize('NFC').replace(/\r\n?/g, '\n').replace(invisible, '').replace(/[\u00a0\u202f]/g, ' ')
    .replace(/\t/g, ' ').replace(/ +/g, ' ').replace(/ ?\n ?/g, '\n').trim()
}

/** Removes all white space, because sites lay out a sent prompt in their own way. */
export const bare = (text: string) => normalised(text).replace(/\s+/g, '')

/** Normalizes a button's name or a notice's sentence, for comparison with a word list. */
export const spoken = (text: string) =>
  normalised(text).replace(/\s+/g, ' ').replace(/(?<![.…!。！])[.…!。！]+$/u, '').toLowerCase()

const longEnough = 60
const addedByPage = 16

const hidden = /^[ \t]*(?:\d+[.)][ \t]|(?:```|~~~).*)|\]\((?:[^()\s]|\([^()\s]*\))*\)|&#?\w{1,32};/gm

/**
 * Removes what a page that renders a prompt's Markdown does not show: marks, numbers of lists, addresses of links,
 * names of characters.
 */
const unmarked = (text: string) => text.normalize('NFC').replace(hidden, '').replace(/[^\p{L}\p{N}]+/gu, '')

/**
 * Reports whether a turn's text is the prompt. Sites cut long prompts ("show more"), add a few words ("You said:"), and
 * render Markdown. So a long beginning, a little more text, or the same letters and digits are accepted.
 */
export function samePrompt(prompt: string, turn: string): boolean {
  if (same(bare(prompt), bare(turn))) return true
  const want = unmarked(prompt)
  return want.length >= 8 && same(want, unmarked(turn))
}

function same(want: string, got: string): boolean {
  if (want === got) return true
  if (got.length >= longEnough && want.startsWith(got.replace(/(?:…|\.\.\.)$/u, ''))) return true
  return want.length >= 8 && got.length <= want.length + addedByPage && (got.startsWith(want) || got.endsWith(want))
}

/** Cuts text to at most `max` bytes of UTF-8, between characters. */
export function cutBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= max) return text
  let end = max
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end))
}

/** Returns the last `max` UTF-16 units, from the start of a character. */
export const tail = (text: string, max: number) =>
  text.length <= max ? text : text.slice(-max).replace(/^[\udc00-\udfff]/, '')
