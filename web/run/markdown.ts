/** A part of a line. */
export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'em'; parts: Inline[] }
  | { kind: 'link'; parts: Inline[]; url: string }

/** A part of a text. A list has a line for each item, the others have one. */
export interface Block {
  kind: 'heading' | 'paragraph' | 'list'
  lines: Inline[][]
}

/** Decides about a link: its address, or undefined to take the link out. */
export type Admit = (url: string) => string | undefined

/** Characters of a text that are read. */
const longest = 20_000

const inline = new RegExp(
  [
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /!?\[(?<label>[^[\]]*)\]\(\s{0,50}<?(?<target>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s{1,50}"[^"]*")?\s{0,50}\)/,
    /<(?<auto>[a-z][a-z\d+.-]{1,20}:[^<>\s]*)>/,
    /<[/!?]?[a-z][^<>]*>?/,
    /`(?<code>[^`]+)`/,
    /\*\*(?<strong>[^*]+)\*\*/,
    /\*(?<em>[^*\s][^*]*)\*/,
    /(?<bare>(?:\b[a-z][a-z\d+.-]{0,20}:\/\/|\bwww\.)[^\s<>()[\]"]*[^\s<>()[\]".,;:!?*_'])/,
    /(?<mail>[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{0,64}\w)/,
  ].map(({ source }) => source).join('|'),
  'giu',
)

/** A part that is only text. */
export const plain = (text: string): Inline => ({ kind: 'text', text })

/** Parts of a line. Raw HTML is dropped. A link that is not admitted leaves its words. */
function inlines(text: string, admit: Admit): Inline[] {
  const parts: Inline[] = []
  const put = (part: Inline) => {
    const last = parts.at(-1)
    if (part.kind === 'text' && last?.kind === 'text') last.text += part.text
    else parts.push(part)
  }
  let at = 0
  for (const match of text.matchAll(inline)) {
    if (match.index > at) put(plain(text.slice(at, match.index)))
    at = match.index + match[0].length
    const { escaped, label = '', target, auto, code, strong, em, bare, mail } = match.groups!
    const place = target ?? auto ?? bare
    if (escaped !== undefined) put(plain(escaped))
    else if (code !== undefined) put({ kind: 'code', text: code })
    else if (strong !== undefined) put({ kind: 'strong', parts: inlines(strong, admit) })
    else if (em !== undefined) put({ kind: 'em', parts: inlines(em, admit) })
    else if (mail !== undefined) admit(`mailto:${mail}`)
    else if (place !== undefined) {
      const url = admit(place)
      // Words of a link have no links.
      const words = inlines(label, () => undefined)
      if (url) put({ kind: 'link', url, parts: words.length ? words : [plain(url)] })
      else words.forEach(put)
    }
  }
  if (at < text.length) put(plain(text.slice(at)))
  return parts
}

/** The words of a heading, without the `#` after them. */
function withoutMarks(words: string): string {
  let end = words.length
  while (words[end - 1] === '#') end--
  return words.slice(0, end).trimEnd()
}

/** Reads headings, lists, paragraphs, emphasis, code and links. Everything else is text. */
export function parse(markdown: string, admit: Admit): Block[] {
  const blocks: Block[] = []
  let words: string[] = []
  const endParagraph = () => {
    if (words.length) blocks.push({ kind: 'paragraph', lines: [inlines(words.join(' '), admit)] })
    words = []
  }
  for (const line of markdown.slice(0, longest).split(/\r\n?|[\n\u2028\u2029]/)) {
    const heading = /^\s{0,3}#{1,6}\s+(.*)$/.exec(line)
    const item = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line)
    const last = blocks.at(-1)
    if (heading || item || !line.trim()) endParagraph()
    if (heading) blocks.push({ kind: 'heading', lines: [inlines(withoutMarks(heading[1]!), admit)] })
    else if (item) {
      const parts = inlines(item[1]!, admit)
      if (last?.kind === 'list' && blocks.at(-1) === last) last.lines.push(parts)
      else blocks.push({ kind: 'list', lines: [parts] })
    } else if (line.trim()) words.push(line.trim())
  }
  endParagraph()
  return blocks
}

/** A text that Markdown shows as it is. A `!` at its end would make an image of a link. */
const literal = (text: string) => text.replace(/[\\`*_[\]<>#|~]|!$/g, '\\$&')

/** The words of parts, without their form. */
export const wordsOf = (parts: Inline[]): string =>
  parts.map((part) => 'text' in part ? part.text : wordsOf(part.parts)).join('')

/** Parts of a line as Markdown, in which every link stands as one. */
const printInlines = (parts: Inline[]): string =>
  parts.map((part) => {
    switch (part.kind) {
      case 'text':
        return literal(part.text)
      case 'code':
        return `\`${part.text}\``
      case 'strong':
        return `**${printInlines(part.parts)}**`
      case 'em':
        return `*${printInlines(part.parts)}*`
      case 'link': {
        const words = wordsOf(part.parts)
        return words === part.url ? `<${part.url}>` : `[${literal(words)}](${part.url})`
      }
    }
  }).join('')

const marks = { heading: '## ', paragraph: '', list: '- ' }

/** Blocks as Markdown. Headings are of the second level. */
export const print = (blocks: Block[]): string =>
  blocks.map(({ kind, lines }) => lines.map((parts) => marks[kind] + printInlines(parts).trim()).join('\n'))
    .filter(Boolean).join('\n\n')
