import { removePermissions, requestPermissions, type Wanted } from '../browser.ts'
import type { AppContext } from './context.ts'
import { RequestError } from './store.ts'

// A page's origin as people type it.

/** The reason why a text is no origin that could be approved. */
export type OriginProblem = 'empty' | 'no_origin' | 'scheme' | 'more'

/**
 * The origin that a text names: scheme, host and port, and nothing that would be
 * dropped silently: an approval of `https://a.example/app` means less than all of a.example.
 */
export function originOf(text: string): { origin: string } | { problem: OriginProblem; origin?: string } {
  const wanted = text.trim()
  if (!wanted) return { problem: 'empty' }
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(wanted) || !URL.canParse(wanted)) return { problem: 'no_origin' }
  const url = new URL(wanted)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: 'scheme' }
  if (url.username || url.password || url.pathname !== '/' || url.search || url.hash || /[?#*]/.test(wanted))
    return { problem: 'more', origin: url.origin }
  return { origin: url.origin }
}

/** Whether match patterns let the extension reach an origin. */
export function covers(patterns: readonly string[], origin: string): boolean {
  const { protocol, hostname, port } = new URL(origin)
  return patterns.some((pattern) => {
    if (pattern === '<all_urls>') return true
    const parts = /^(\*|https?):\/\/(\*|(?:\*\.)?[^/*:]+|\[[^\]]+\])(?::(\*|\d+))?\/\*?$/.exec(pattern)
    if (!parts) return false
    const [, scheme, host, onPort] = parts as unknown as [string, string, string, string | undefined]
    return (scheme === '*' || `${scheme}:` === protocol) &&
      (host === '*' || host === hostname ||
        (host.startsWith('*.') && (hostname === host.slice(2) || hostname.endsWith(host.slice(1))))) &&
      (onPort === undefined || onPort === '*' || onPort === (port || (protocol === 'https:' ? '443' : '80')))
  })
}

/**
 * Asks the browser for a permission; must be the first thing that a click does.
 * If the browser cannot ask, it throws `permission_impossible`.
 */
export async function permit(wanted: Wanted): Promise<boolean> {
  try {
    return await requestPermissions(wanted)
  } catch (e) {
    throw new RequestError('permission_impossible', (e as Error).message)
  }
}

/** Gives a permission back. Whether the browser had it does not matter. */
export async function giveBack(wanted: Wanted): Promise<void> {
  await removePermissions(wanted).catch(() => false)
}

/** Switches an option that needs a permission, and gives back what no other option needs. Returns whether it is so. */
export async function switchOption(
  panel: AppContext,
  option: 'bookmarks' | 'pages',
  on: boolean,
  wanted: Wanted,
  own = wanted,
): Promise<boolean> {
  if (!on) {
    const off = await panel.send('setOptions', { [option]: false })
    if (off) await giveBack(own)
    return off
  }
  const granted = await panel.run(() => permit(wanted))
  if (granted === false) panel.warn(panel.words(option === 'pages' ? 'pages_refused' : 'bookmarks_refused'))
  return !!granted && panel.send('setOptions', { [option]: true })
}
