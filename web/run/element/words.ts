import { html, type TemplateResult } from 'lit'
import { clean, line } from '../../ui/text.ts'
import { parse, wordsOf, type Admit, type Inline } from '../markdown.ts'

/** A link that opens apart from the page, which it cannot reach. */
export const link = (url: string, words: unknown): TemplateResult =>
  html`<a href=${url} target="_blank" rel="noopener noreferrer">${words}</a>`

const inline = (parts: Inline[]): (TemplateResult | string)[] =>
  parts.map((part) => {
    switch (part.kind) {
      case 'text':
        return clean(part.text)
      case 'code':
        return html`<code>${clean(part.text)}</code>`
      case 'strong':
        return html`<strong>${inline(part.parts)}</strong>`
      case 'em':
        return html`<em>${inline(part.parts)}</em>`
      case 'link':
        return link(part.url, html`<bdi>${line(wordsOf(part.parts), 300)}</bdi>`)
    }
  })

/** Markdown as elements. `heading` has the words of a heading in the language of the page. */
export const markdownView = (markdown: string, admit: Admit, heading: (words: string) => string): TemplateResult[] =>
  parse(markdown, admit).map(({ kind, lines }) => {
    switch (kind) {
      case 'heading':
        return html`<h3>${heading(line(wordsOf(lines.flat())))}</h3>`
      case 'paragraph':
        return html`<p dir="auto">${inline(lines.flat())}</p>`
      case 'list':
        return html`<ul dir="auto">${lines.map((parts) => html`<li>${inline(parts)}</li>`)}</ul>`
    }
  })
