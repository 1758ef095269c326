import type { Mark } from '../profile.ts'
import { around, closest, type Deep } from './deep.ts'
import { spoken } from './text.ts'

const pressables = 'button, [role="button"], input[type="submit"]'

export const visible = (el: Element): boolean => el.checkVisibility({ visibilityProperty: true })

export function enabled(el: Element): boolean {
  const button = closest(el, pressables) ?? el
  return !button.matches(':disabled') && button.getAttribute('aria-disabled') !== 'true' && !closest(button, '[inert]')
}

/** What is pressed where a mark is an icon in a button. */
export const pressable = (el: Element): HTMLElement => (closest(el, pressables) ?? el) as HTMLElement

/** What a screen reader calls a button, nearly. */
export function nameOf(el: Element): string {
  const label = el.getAttribute('aria-label') || el.getAttribute('title')
  return spoken(label ?? (el.textContent ?? '').slice(0, 200))
}

/**
 * The visible elements of a mark: by selector in `scope`, else by name. Names count in
 * `near` only: a chat in the sidebar may be called "Stop".
 */
export function marked(
  deep: Deep,
  mark: Mark | undefined,
  near: Element | null,
  scope: Document | Element = deep.document,
): Element[] {
  if (!mark) return []
  const found = deep.first(mark.selector, visible, scope)
  if (found.length || !mark.words?.length || !near) return found
  const words = new Set(mark.words)
  return deep.all(pressables, near).filter((el) => visible(el) && words.has(nameOf(el)))
}

/** What is around the field and its buttons, never as far as the page. */
export function composer(field: Element, deep: Deep): Element {
  const form = closest(field, 'form')
  if (form) return form
  let at = field
  for (let i = 0; i < 8 && !deep.all(pressables, at).length; i++) at = around(at) ?? at
  const next = around(at)
  return next && !next.matches('body, main, [role="main"]') ? next : at
}
