import { words } from '../boot.ts'
import { h } from '../dom.ts'
import { glyph } from '../glyph.ts'
import { katex } from '../katex.ts'
import type { Dress } from '../markdown.ts'

const drawings: Record<string, string> = {
  thumb_up: 'up',
  thumb_down: 'down',
  error: 'alert',
  content_copy: 'copy',
  progress_activity: 'wait',
}

export function symbol(name: string): HTMLElement {
  return h('span', { class: 'material-symbols-outlined notranslate', 'aria-hidden': 'true' }, glyph(drawings[name]!))
}

/** A mark for the site's own copying, which nobody sees. */
const uncopied = (mark: string) =>
  h('div', { class: 'ignore-when-copying', 'aria-hidden': 'true', style: 'display: none' }, mark)

/** AI Studio's elements for code, tables, citations and pictures. */
export const dress: Dress = {
  code: (language, text) =>
    h(
      'ms-code-block',
      {},
      h(
        'div',
        { class: 'code-panel' },
        h(
          'div',
          { class: 'code-header' },
          h('span', { class: 'title' }, language || 'code'),
          h(
            'div',
            { class: 'toolbar' },
            h(
              'button',
              { type: 'button', 'aria-label': words.copyCode, iconname: 'content_copy' },
              symbol('content_copy'),
            ),
          ),
        ),
        h('pre', {}, h('code', { class: language ? `language-${language}` : undefined }, text)),
        uncopied('IGNORE_WHEN_COPYING_START'),
        h(
          'footer',
          {},
          h('a', { href: 'https://support.google.com/legal/answer/13505487' }, 'Use code with caution'),
          h('span', { class: 'language' }, language || ''),
        ),
        uncopied('IGNORE_WHEN_COPYING_END'),
      ),
    ),
  math: (tex, display) =>
    h(
      'ms-katex',
      { class: display ? 'display' : 'inline' },
      h('pre', {}, h('code', { class: 'rendered' }, katex(tex, display))),
    ),
  citation: (label) =>
    h(
      'sup',
      { class: 'citation-marker' },
      h('a', { href: `https://example.com/source/${label}`, class: 'citation' }, label),
    ),
  image: (alt, source) => h('ms-image', {}, h('img', { alt, src: source, width: '320', height: '180' })),
  table: (table) => h('div', { class: 'table-container' }, table),
}
