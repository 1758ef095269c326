// For tests: which of a profile's selectors a page has had.
import type { SiteSpec } from '../../extension/chats/sites/site.ts'
import type { Driven } from './drivenpage.ts'

/** Returns every selector of a layout. */
export function selectors(profile: SiteSpec, layout: string): string[] {
  const own = profile.layouts.find(({ name }) => name === layout)!
  return [
    ...own.present,
    ...own.input,
    ...own.send.selector,
    ...own.stop.selector,
    ...(own.turn?.selector ?? []),
    ...own.userTurn,
    ...own.userText,
    ...own.answer,
    ...own.answerText,
    ...own.omit,
    ...(own.thinking?.selector ?? []),
    ...(own.skip?.selector ?? []),
    ...own.end,
    ...(own.scroller ?? []),
    ...(own.model?.open ?? []),
    ...(own.model?.option ?? []),
    ...(own.model?.name ?? []),
    ...(own.answeredBy?.selector ?? []),
    ...(own.temperature ?? []),
  ]
}

declare global {
  /** In the page: searches, and returns what was found so far. */
  var search: () => string[]
}

/** Looks for the selectors in the page from now on. */
export async function watch(driven: Driven, wanted: string[]): Promise<void> {
  await driven.page.evaluate((wanted) => {
    const found = new Set<string>()
    const roots = (root: ParentNode): ParentNode[] => [
      root,
      ...[...root.querySelectorAll('*')].flatMap((el) => el.shadowRoot ? roots(el.shadowRoot) : []),
    ]
    globalThis.search = () => {
      const all = roots(document)
      for (const root of all) observer.observe(root, { subtree: true, childList: true, attributes: true })
      for (const selector of wanted)
        if (!found.has(selector) && all.some((root) => root.querySelector(selector.split('>>>').at(-1)!)))
          found.add(selector)
      return [...found]
    }
    // Some are there for less time than a timer needs. A new shadow root is no mutation.
    const observer = new MutationObserver(globalThis.search)
    setInterval(globalThis.search, 30)
    globalThis.search()
  }, wanted)
}

/** Returns the selectors that were found. */
export const seen = (driven: Driven): Promise<string[]> => driven.page.evaluate(() => globalThis.search())
