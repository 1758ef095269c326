import type { SiteProfile, Trouble } from '../profile.ts'
import type { Deep } from './deep.ts'
import { visible } from './mark.ts'
import { spoken } from './text.ts'

/** The first trouble that the page tells of, in an element that counts. */
export function trouble(
  deep: Deep,
  profile: SiteProfile,
  counts: (el: Element) => boolean,
): Trouble['code'] | undefined {
  const { pathname, search } = deep.document.location
  for (const { code, selector, words, url } of profile.trouble) {
    if (url && !new RegExp(url).test(pathname + search)) continue
    if (!selector.length && url) return code
    const found = selector.flatMap((s) => deep.all(s)).filter((el) => visible(el) && counts(el))
    if (!words) {
      if (found.length) return code
      continue
    }
    for (const el of found) {
      const text = spoken((el.textContent ?? '').slice(0, 2000))
      if (words.some((word) => text.includes(word))) return code
    }
  }
  return undefined
}
