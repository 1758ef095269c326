import type { Layout, Notice, SiteSpec } from '../sites/site.ts'
import { fieldText } from './field.ts'
import { composer, matched, visible } from './matcher.ts'
import type { ShadowDom } from './shadow.ts'
import { normalised, spoken } from './text.ts'

/** Reads a site's page by one of the site's layouts. Each read searches again, because pages replace elements. */
export class ChatPage {
  readonly dom: ShadowDom
  readonly layout: Layout

  constructor(dom: ShadowDom, layout: Layout) {
    this.dom = dom
    this.layout = layout
  }

  /** The field for the prompt. */
  get field(): HTMLElement | undefined {
    return this.dom.first(this.layout.input, visible)[0] as HTMLElement | undefined
  }

  get stopButtons(): Element[] {
    return matched(this.dom, this.layout.stop, this.#composer)
  }

  get sendButtons(): Element[] {
    return matched(this.dom, this.layout.send, this.#composer)
  }

  /** Reports whether the field holds the whole prompt and nothing else. */
  holds(prompt: string): boolean {
    const { field } = this
    return field !== undefined && normalised(fieldText(field)) === normalised(prompt)
  }

  get fieldEmpty(): boolean {
    const { field } = this
    return field === undefined || normalised(fieldText(field)) === ''
  }

  /** Counts the elements that match, by the layout's selectors. */
  counts(): Record<string, number> {
    const { dom, layout } = this
    const of = (selectors: string[] | undefined) => selectors ? dom.first(selectors).length : 0
    return {
      present: layout.present.filter((selector) => dom.all(selector).length > 0).length,
      input: this.field ? 1 : 0,
      send: this.sendButtons.length,
      stop: this.stopButtons.length,
      turn: of(layout.turn?.selector),
      userTurn: of(layout.userTurn),
      userText: of(layout.userText),
      answer: of(layout.answer),
      answerText: of(layout.answerText),
      thinking: matched(dom, layout.thinking, null).length,
      skip: matched(dom, layout.skip, null).length,
      end: of(layout.end),
      scroller: of(layout.scroller),
      model: of(layout.model?.open),
      temperature: of(layout.temperature),
    }
  }

  get #composer(): Element | null {
    const { field } = this
    return field ? composer(field, this.dom) : null
  }
}

/** Returns the page by the layout with most matches. A newer layout wins a tie. */
export function pageOf(dom: ShadowDom, spec: SiteSpec): ChatPage | undefined {
  let best: ChatPage | undefined
  let most = 0
  for (const layout of spec.layouts) {
    const page = new ChatPage(dom, layout)
    if (!layout.present.every((selector) => dom.all(selector).length > 0) || !page.field) continue
    const score = Object.values(page.counts()).filter((n) => n > 0).length
    if (score > most) [best, most] = [page, score]
  }
  return best
}

/** Counts the elements that match, by layout and selector. */
export const health = (dom: ShadowDom, spec: SiteSpec): Record<string, Record<string, number>> =>
  Object.fromEntries(spec.layouts.map((layout) => [layout.name, new ChatPage(dom, layout).counts()]))

/** Returns the code of the page's first notice in an element that counts. */
export function noticeOn(dom: ShadowDom, spec: SiteSpec, counts: (el: Element) => boolean): Notice['code'] | undefined {
  const { pathname, search } = dom.document.location
  return spec.notices.find(({ selector, words, url }) => {
    if (url && !new RegExp(url).test(pathname + search)) return false
    if (!selector.length && url) return true
    const found = selector.flatMap((s) => dom.all(s)).filter((el) => visible(el) && counts(el))
    return found.some((el) => {
      const text = words && spoken((el.textContent ?? '').slice(0, 2000))
      return !words || words.some((word) => text!.includes(word))
    })
  })?.code
}
