/**
 * Escapes what Markdown would read as markup, and nothing else: text is read by
 * people and models as it stands.
 */
export function escape(text: string): string {
  if (!/[\\`*_~<&\]$]/.test(text)) return text
  let out = text
    .replace(/\\(?=[!-/:-@[-`{-~]|$)/g, '\\\\')
    .replace(/`/g, '\\`')
    .replace(/\*+/g, (run, at: number) => alone(text, at, run.length) ? run : run.replace(/\*/g, '\\*'))
    .replace(
      /_+/g,
      (run, at: number, whole: string) =>
        within(whole, at, run.length) || alone(whole, at, run.length) ? run : run.replace(/_/g, '\\_'),
    )
    .replace(/~~+/g, (run) => run.replace(/~/g, '\\~'))
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replace(/&(?=#?\w{1,32};)/g, '\\&')
    .replace(/\](?=[([])/g, '\\]')
  // Only pairs that would enclose a formula.
  if (/\$\S[^$\n]*\S\$(?!\d)|\$[^\s$]\$(?!\d)|\$\$/.test(text)) out = out.replace(/\$/g, '\\$')
  return out
}

/** Puts `part` after `text`: at the seam two harmless ends may make markup. */
export function joined(text: string, part: string): string {
  if (text.endsWith('`') && part.startsWith('`')) return `${text} ${part}`
  const seam = (text.endsWith('!') && part.startsWith('[')) || (text.endsWith('<') && /^[a-z/!?]/i.test(part)) ||
    (text.endsWith('&') && /^#?\w/.test(part)) || (text.endsWith(']') && /^[([]/.test(part))
  return seam && !/(?<!\\)(?:\\\\)*\\.$/.test(text.slice(-8))
    ? `${text.slice(0, -1)}\\${text.slice(-1)}${part}`
    : text + part
}

/** Escapes characters in what is Markdown already, but for those that are escaped. */
export const also = (characters: RegExp, markdown: string) =>
  markdown.replace(new RegExp(`\\\\.|${characters.source}`, 'gs'), (found) => found.length > 1 ? found : '\\' + found)

const space = (c: string | undefined) => c === undefined || /\s/.test(c)

/** White space at both sides, inside the text: no emphasis begins or ends there. */
const alone = (text: string, at: number, length: number) =>
  at > 0 && at + length < text.length && space(text[at - 1]) && space(text[at + length])

const letter = /[\p{L}\p{N}]/u
const within = (text: string, at: number, length: number) =>
  letter.test(text[at - 1] ?? '') && letter.test(text[at + length] ?? '')

/** Escapes what is markup at the beginning of a line only. `text` is a paragraph's Markdown. */
export function escapeLines(text: string): string {
  if (!/^[\s#+*>|~\d=_[-]/m.test(text)) return text
  return text.replace(/^[ \t]+/gm, '')
    .replace(/^(#{1,6})(?=\s|$)/gm, '\\$1')
    .replace(/^([-+])(?=\s|$)/gm, '\\$1')
    .replace(/^(\*)(?=\s)/gm, '\\$1')
    .replace(/^(>|\||~~~)/gm, '\\$1')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, '$1\\$2')
    .replace(/^([-=_])(?=(?:[ \t]*\1)+[ \t]*$)/gm, '\\$1')
    .replace(/^=$/gm, '\\=')
    .replace(/^\[(?=[^\]\n]+\]:)/gm, '\\[')
}

/** As many backticks as the text has nowhere in a row, and at least `least`. */
export function fence(text: string, least: number): string {
  let longest = least - 1
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}

export function inlineCode(text: string): string {
  const code = text.replace(/\s*\n\s*/g, ' ')
  if (code === '') return ''
  const ticks = fence(code, 1)
  const pad = /^`|`$|^ .*\S.* $/.test(code) ? ' ' : ''
  return ticks + pad + code + pad + ticks
}

/** An address that may stand in an answer, absolute, or null. */
export function address(href: string | null, base: string, schemes = /^(?:https?|mailto):$/): string | null {
  if (!href) return null
  try {
    const url = new URL(href, base)
    if (!schemes.test(url.protocol) || url.href.length > 2048) return null
    return url.href.replace(/[()<>\\`]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase())
  } catch {
    return null
  }
}
