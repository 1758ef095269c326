import { h, type Child } from './dom.ts'

/** A site's elements for the special parts of an answer. */
export interface Dress {
  code(language: string, text: string): HTMLElement
  math(tex: string, display: boolean): HTMLElement
  citation(label: string): HTMLElement
  image(alt: string, source: string): HTMLElement
  table(table: HTMLTableElement): HTMLElement
}

const marks: [RegExp, (match: RegExpExecArray, dress: Dress) => Child][] = [
  [/^`([^`]+)`/, ([, text]) => h('code', {}, text)],
  [/^\$([^$\n]+)\$/, ([, tex], dress) => dress.math(tex!, false)],
  [/^!\[([^\]]*)\]\(([^)]+)\)/, ([, alt, source], dress) => dress.image(alt!, source!)],
  [/^\[\^(\w+)\]/, ([, label], dress) => dress.citation(label!)],
  [
    /^\[([^\]]+)\]\(([^)]+)\)/,
    ([, text, href], dress) => h('a', { href, target: '_blank', rel: 'noopener' }, ...inline(text!, dress)),
  ],
  [/^\*\*([^*]+)\*\*/, ([, text], dress) => h('strong', {}, ...inline(text!, dress))],
  [/^\*([^*]+)\*/, ([, text], dress) => h('em', {}, ...inline(text!, dress))],
]

/** A line's text with its marks. A mark that is not closed yet stays text. */
export function inline(text: string, dress: Dress): Child[] {
  const made: Child[] = []
  let plain = ''
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at)
    const found = /^[`$![*]/.test(rest) &&
      marks.map(([mark, make]) => ({ match: mark.exec(rest), make })).find(({ match }) => match)
    if (found) {
      if (plain) made.push(plain)
      plain = ''
      made.push(found.make(found.match!, dress))
      at += found.match![0].length
    } else {
      plain += text[at++]
    }
  }
  if (plain) made.push(plain)
  return made
}
