import type { Layout, SiteProfile } from '../profile.ts'
import type { Deep } from './deep.ts'
import { composer, marked, visible } from './mark.ts'

type Health = Record<string, Record<string, number>>

/** Of the layouts that match, the one with most of its marks on the page; the newer one among equals. */
export function chosen(deep: Deep, profile: SiteProfile): Layout | undefined {
  let best: Layout | undefined
  let most = 0
  for (const layout of profile.layouts) {
    if (!layout.present.every((selector) => deep.all(selector).length > 0) || !field(deep, layout)) continue
    const score = Object.values(count(deep, layout)).filter((n) => n > 0).length
    if (score > most) [best, most] = [layout, score]
  }
  return best
}

/** The field for the prompt, as the page has it now. */
export const field = (deep: Deep, layout: Layout): HTMLElement | undefined =>
  deep.first(layout.input, visible)[0] as HTMLElement | undefined

/** By layout, then mark: how many elements match. */
export const health = (deep: Deep, profile: SiteProfile): Health =>
  Object.fromEntries(profile.layouts.map((layout) => [layout.name, count(deep, layout)]))

function count(deep: Deep, layout: Layout): Record<string, number> {
  const input = field(deep, layout)
  const near = input ? composer(input, deep) : null
  const of = (selectors: string[] | undefined) => selectors ? deep.first(selectors).length : 0
  return {
    present: layout.present.filter((selector) => deep.all(selector).length > 0).length,
    input: input ? 1 : 0,
    send: marked(deep, layout.send, near).length,
    stop: marked(deep, layout.stop, near).length,
    turn: of(layout.turn?.selector),
    userTurn: of(layout.userTurn),
    userText: of(layout.userText),
    answer: of(layout.answer),
    answerText: of(layout.answerText),
    thinking: marked(deep, layout.thinking, null).length,
    skip: marked(deep, layout.skip, null).length,
    end: of(layout.end),
    scroller: of(layout.scroller),
    model: of(layout.model?.open),
    temperature: of(layout.temperature),
  }
}
