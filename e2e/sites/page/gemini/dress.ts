import { words } from '../boot.ts'
import { h } from '../dom.ts'
import { glyph } from '../glyph.ts'
import { visible } from '../katex.ts'
import type { Dress } from '../markdown.ts'

/** An icon, by its Material name. */
export function icon(name: string): HTMLElement {
  return h('mat-icon', {
    role: 'img',
    class: 'mat-icon notranslate google-symbols',
    'aria-hidden': 'true',
    'data-mat-icon-type': 'font',
    'data-mat-icon-name': name,
    fonticon: name,
  }, glyph(drawings[name]!))
}

const drawings: Record<string, string> = {
  send: 'send',
  stop: 'stop',
  thumb_up: 'up',
  thumb_down: 'down',
  content_copy: 'copy',
  share: 'share',
  mic: 'mic',
  edit_square: 'new',
  expand_more: 'open',
  link: 'link',
}

/** Gemini's elements for code, tables, citations and pictures. */
export const dress: Dress = {
  code: (language, text) =>
    h(
      'code-block',
      {},
      h(
        'div',
        { class: 'code-block' },
        h(
          'div',
          { class: 'code-block-decoration header-formatted' },
          h('span', {}, language ? language[0]!.toUpperCase() + language.slice(1) : ''),
          h(
            'div',
            { class: 'buttons' },
            h('button', { type: 'button', class: 'copy-button', 'aria-label': words.copyCode }, icon('content_copy')),
          ),
        ),
        h(
          'div',
          { class: 'formatted-code-block-internal-container' },
          h(
            'pre',
            {},
            h('code', {
              role: 'text',
              'data-test-id': 'code-content',
              class: language ? `code-container formatted language-${language}` : 'code-container formatted',
            }, text),
          ),
        ),
      ),
    ),
  math: (tex, display) =>
    display
      ? h('div', { class: 'math-block', 'data-math': tex }, h('span', { class: 'katex-display' }, visible(tex)))
      : h('span', { class: 'math-inline', 'data-math': tex }, visible(tex)),
  citation: () =>
    h(
      'source-footnote',
      {},
      h(
        'sup',
        { class: 'superscript' },
        h('button', { type: 'button', class: 'button', 'aria-label': 'Example' }, icon('link')),
      ),
    ),
  image: (alt, source) =>
    h('single-image', {}, h('img', { class: 'image', alt, src: source, width: '320', height: '180' })),
  table: (table) =>
    h(
      'div',
      { class: 'horizontal-scroll-wrapper' },
      h(
        'table-block',
        {},
        h('div', { class: 'table-content' }, table),
        h(
          'div',
          { class: 'table-footer' },
          h('button', { type: 'button', 'aria-label': words.copy }, icon('content_copy')),
        ),
      ),
    ),
}
