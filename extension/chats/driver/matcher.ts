import type { Matcher } from '../sites/site.ts'
import { closest, parentOf, type ShadowDom } from './shadow.ts'
import { spoken } from './text.ts'

const pressables = 'button, [role="button"], input[type="submit"]'

export const visible = (el: Element): boolean => el.checkVisibility({ visibilityProperty: true })

export function enabled(el: Element): boolean {
  const button = pressable(el)
  return !button.matches(':disabled') && button.getAttribute('aria-disabled') !== 'true' && !closest(button, '[inert]')
}

/** Returns the button to click. A matcher may find only the icon in it. */
export const pressable = (el: Element): HTMLElement => (closest(el, pressables) ?? el) as HTMLElement

/** Returns a button's name, close to what a screen reader says. */
export function nameOf(el: Element): string {
  const label = el.getAttribute('aria-label') || el.getAttribute('title')
  return spoken(label ?? (el.textContent ?? '').slice(0, 200))
}

/**
 * Returns the visible elements of a matcher: by selector in `scope`, else by name. Names count in `near` only, because
 * a chat in the sidebar may be called "Stop".
 */
export function matched(
  dom: ShadowDom,
  matcher: Matcher | undefined,
  near: Element | null,
  scope: Document | Element = dom.document,
): Element[] {
  if (!matcher) return []
  const found = dom.first(matcher.selector, visible, scope)
  if (found.length || !matcher.words?.length || !near) return found
  const words = new Set(matcher.words)
  return dom.all(pressables, near).filter((el) => visible(el) && words.has(nameOf(el)))
}

/** Returns the element around the field and its buttons. It is never the whole page. */
export function composer(field: Element, dom: ShadowDom): Element {
  const form = closest(field, 'form')
  if (form) return form
  let at = field
  for (let i = 0; i < 8 && !dom.all(pressables, at).length; i++) at = parentOf(at) ?? at
  const next = parentOf(at)
  return next && !next.matches('body, main, [role="main"]') ? next : at
}
