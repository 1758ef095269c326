import type { ErrorKind } from '../../state.ts'
import { words } from '../boot.ts'
import { h } from '../dom.ts'
import { testId } from './testid.ts'

const said: Record<ErrorKind, string> = { network: words.network, ratelimit: words.rateLimited, expired: words.expired }

/** In place of an answer. */
export function trouble(error: ErrorKind): HTMLElement {
  return h(
    'div',
    { class: 'text-token-text-error border-token-surface-error trouble', role: 'alert' },
    h('div', {}, said[error]),
    h('button', { type: 'button', ...testId('regenerate-thread-error-button') }, words.retry),
  )
}

/** Over the page, when the session is over. */
export function expiredDialog(): HTMLElement {
  return h(
    'div',
    { class: 'veil' },
    h(
      'div',
      { role: 'dialog', 'aria-modal': 'true', id: 'modal-expired-session', ...testId('modal-expired-session') },
      h('p', {}, words.expired),
      h('a', { class: 'button', href: '/auth/login', ...testId('login-button') }, words.logIn),
    ),
  )
}
