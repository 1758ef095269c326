import { line } from '../ui/text.ts'
import { button, isMeant, make } from './dom.ts'
import { invalidParams, Refusal } from './frame.ts'

interface Words {
  (key: 'app_link' | 'app_link_open' | 'app_no'): string
}

/** Asks the person whether an app may open an address. The page opens only by their click on a link. */
export async function askLink(place: HTMLElement, url: unknown, t: Words, signal: AbortSignal): Promise<object> {
  const address = typeof url === 'string' && url.length < 4000 && URL.canParse(url) ? new URL(url) : undefined
  if (address?.protocol !== 'https:' || address.username || address.password)
    throw new Refusal('only https addresses without a user can be opened', invalidParams)
  if (place.firstChild) throw new Refusal('another question waits for the person')
  return new Promise((resolve) => {
    const since = performance.now()
    const end = (result: object) => {
      const hasFocus = place.matches(':focus-within')
      place.replaceChildren()
      if (hasFocus) place.parentElement!.querySelector('iframe')?.focus() // it has asked
      resolve(result)
    }
    const open = make(
      'a',
      { href: address.href, target: '_blank', rel: 'noopener noreferrer', className: 'primary' },
      t('app_link_open'),
    )
    open.addEventListener('click', (e) => {
      if (!isMeant(since)) return e.preventDefault()
      setTimeout(() => end({})) // the click has opened it by then
    })
    place.replaceChildren(
      make('p', {}, t('app_link'), ' ', make('strong', {}, make('bdi', {}, line(address.host, 260)))),
      open,
      button(t('app_no'), () => end({ isError: true })),
    )
    signal.addEventListener('abort', () => end({ isError: true }))
  })
}
