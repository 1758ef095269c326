const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** Normalizes a field's text for comparison. Editors differ in spaces, but not in lines. */
export function normalised(text: string): string {
  return text.normalize('NFC').replace(/\r\n?/g, '\n').replace(invisible, '').replace(/[\u00a0\u202f]/g, ' ')
    .replace(/\t/g, ' ').replace(/ +/g, ' ').replace(/ ?\n ?/g, '\n').trim()
}

/** Removes all white space, because sites lay out a sent prompt in their own way. */
export const bare = (text: string) => normalised(text).replace(/\s+/g, '')

/** Normalizes a button's name or a notice's sentence, for comparison with a word list. */
export const spoken = (text: string) => normalised(text).replace(/\s+/g, ' ').replace(/[.…!。！]+$/u, '').toLowerCase()

const longEnough = 60
const addedByPage = 16

/**
 * Reports whether a turn's text is the prompt. Sites cut long prompts ("show more") and add a few words ("You said:").
 * So a long beginning, or a little more text, is accepted.
 */
export function samePrompt(prompt: string, turn: string): boolean {
  const want = bare(prompt)
  const got = bare(turn)
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
