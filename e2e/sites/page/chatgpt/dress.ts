import { words } from '../boot.ts'
import { h } from '../dom.ts'
import { katex } from '../katex.ts'
import type { Dress } from '../markdown.ts'

/** ChatGPT's elements for code, tables, citations and pictures. */
export const dress: Dress = {
  code: (language, text) =>
    h(
      'pre',
      { class: 'overflow-visible!' },
      h(
        'div',
        { class: 'contain-inline-size code-block' },
        h('div', { class: 'code-head' }, language || 'text'),
        h(
          'div',
          { class: 'code-tools' },
          h('button', { type: 'button', 'aria-label': words.copyCode }, words.copyCode),
        ),
        h(
          'div',
          { class: 'code-body', dir: 'ltr' },
          h(
            'code',
            { class: language ? `whitespace-pre! language-${language}` : 'whitespace-pre!' },
            ...highlight(language, text),
          ),
        ),
      ),
    ),
  math: katex,
  citation: (label) =>
    h(
      'span',
      { 'data-state': 'closed' },
      h(
        'span',
        { class: 'ms-1 inline-flex', 'data-testid': 'webpage-citation-pill' },
        h('a', {
          href: `https://example.com/source/${label}`,
          target: '_blank',
          rel: 'noopener',
          alt: `https://example.com/source/${label}`,
          class: 'pill',
        }, h('span', { class: 'truncate' }, 'Example')),
      ),
    ),
  image: (alt, source) => h('img', { alt, src: source, width: '320', height: '180' }),
  table: (table) => h('div', { class: '_tableContainer' }, h('div', { class: '_tableWrapper', tabindex: '-1' }, table)),
}

/** Words in spans, like a highlighter's. */
function highlight(language: string, text: string): (HTMLElement | string)[] {
  if (!language) return [text]
  return text.split(/\b(def|if|print|return)\b/).map((part, n) =>
    n % 2 ? h('span', { class: part === 'print' ? 'hljs-built_in' : 'hljs-keyword' }, part) : part
  )
}
