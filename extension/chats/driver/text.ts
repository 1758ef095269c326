const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** What a field holds and what was meant to be in it, in one form: editors differ in spaces, not in lines. */
export function normalised(text: string): string {
  return text.normalize('NFC').replace(/\r\n?/g, '\n').replace(invisible, '').replace(/[\u00a0\u202f]/g, ' ')
    .replace(/\t/g, ' ').replace(/ +/g, ' ').replace(/ ?\n ?/g, '\n').trim()
}

/** Without any white space: sites lay a sent prompt out in their own way. */
export const bare = (text: string) => normalised(text).replace(/\s+/g, '')

/** A name of a button or a sentence of a notice, for comparing with a word list. */
export const spoken = (text: string) => normalised(text).replace(/\s+/g, ' ').replace(/[.…!。！]+$/u, '').toLowerCase()

const longEnough = 60
const chrome = 16

/**
 * Whether a turn's text is the prompt's. Sites cut long prompts ("show more") and put
 * a few words around them ("You said:"), so a long beginning, or a little more, will do.
 */
export function samePrompt(prompt: string, turn: string): boolean {
  const want = bare(prompt)
  const got = bare(turn)
  if (want === got) return true
  if (got.length >= longEnough && want.startsWith(got.replace(/(?:…|\.\.\.)$/u, ''))) return true
  return want.length >= 8 && got.length <= want.length + chrome && (got.startsWith(want) || got.endsWith(want))
}

/** At most `max` bytes of UTF-8, cut between characters. */
export function cutBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= max) return text
  let end = max
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end))
}

/** The last `max` units, not from the middle of a character. */
export const tail = (text: string, max: number) =>
  text.length <= max ? text : text.slice(-max).replace(/^[\udc00-\udfff]/, '')
