import { h } from './dom.ts'

const mathml = 'http://www.w3.org/1998/Math/MathML'

function m(tag: string, text: string): Element {
  const element = document.createElementNS(mathml, tag)
  element.textContent = text
  return element
}

/** A formula like KaTeX's: MathML with the source, and visible HTML. */
export function katex(tex: string, display: boolean): HTMLElement {
  const inner = visible(tex)
  inner.prepend(h('span', { class: 'katex-mathml' }, source(tex, display)))
  return display ? h('span', { class: 'katex-display' }, inner) : inner
}

/** The HTML alone, as of KaTeX with `output: "html"`. */
export const visible = (tex: string): HTMLElement =>
  h(
    'span',
    { class: 'katex' },
    h('span', { class: 'katex-html', 'aria-hidden': 'true' }, h('span', { class: 'base' }, glyphs(tex))),
  )

function source(tex: string, display: boolean): Element {
  const annotation = m('annotation', tex)
  annotation.setAttribute('encoding', 'application/x-tex')
  const semantics = document.createElementNS(mathml, 'semantics')
  semantics.append(m('mrow', glyphs(tex)), annotation)
  const math = document.createElementNS(mathml, 'math')
  if (display) math.setAttribute('display', 'block')
  math.append(semantics)
  return math
}

const symbols: Record<string, string> = { '\\int': '∫', '\\pi': 'π', '\\,': ' ', '\\frac': '' }

function glyphs(tex: string): string {
  return tex.replace(/\\(?:[a-z]+|,)/g, (name) => symbols[name] ?? name.slice(1)).replaceAll(/[{}^_]/g, '')
}
