import { boot, words } from './boot.ts'
import { h } from './dom.ts'

/** On a log-in page: the form refused what was entered. */
export const refused = (): HTMLElement | string =>
  boot.state.loggedOut === 'refused' ? h('p', { role: 'alert' }, words.refused) : ''
