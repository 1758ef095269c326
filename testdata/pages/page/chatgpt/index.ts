import { boot, words } from '../boot.ts'
import { Chat } from '../chat.ts'
import { fill, h } from '../dom.ts'
import { Timeline } from '../show.ts'
import { unknownPage } from '../unknown.ts'
import { articleTurn, testId } from './article.ts'
import { chatgptComposer } from './composer.ts'
import { style } from './style.ts'
import { expiredDialog } from './trouble.ts'
import { turnKeyTurn } from './turnkey.ts'
import { Virtual } from './virtual.ts'

const doors = (): HTMLElement[] => [h('a', { class: 'button', href: '/auth/login', ...testId('login-button') }, words.logIn), h('a', { class: 'button', href: '/auth/login', ...testId('signup-button') }, words.signUp)]

function page(): void {
  const chat = new Chat()
  const composer = chatgptComposer(chat)
  const virtual = boot.state.layout === 'turn-key' ? new Virtual(() => { show() }) : undefined
  const thread = h('div', { class: 'thread' })
  const timeline = virtual
    ? new Timeline(turnKeyTurn(chat), (shown) => { virtual.place(shown) }, (turns) => virtual.mounted(turns))
    : new Timeline(articleTurn(chat), (shown) => { fill(thread, ...shown.flatMap(({ elements }) => elements)) })
  let asked = false
  function show(): void {
    timeline.show(chat)
    composer.show()
    if (!asked && chat.turns.some(({ error }) => error === 'expired')) {
      asked = true
      document.body.append(expiredDialog())
    }
  }
  chat.changed = show
  document.body.append(
    h('nav', { 'aria-label': words.history }, h('a', { href: '/' + location.search, ...testId('create-new-chat-button') }, words.newChat),
      h('h2', { class: 'sr-only' }, words.history), h('div', { id: 'history' }, ...boot.history.map(({ id, title }) => h('a', { href: `/c/${id}${location.search}`, title }, title)))),
    h('main', { id: 'main' }, h('header', {}, h('span', {}, 'ChatGPT'), h('span', {}, ...(boot.state.loggedOut ? doors() : []))),
      virtual ? virtual.scroller : h('div', { class: 'scroll' }, thread), composer.element))
  show()
}

document.head.append(h('style', {}, style))
if (location.pathname === '/auth/login') document.body.append(h('main', { class: 'wall' }, h('h1', {}, words.welcome), ...doors()))
else if (boot.state.layout === 'unknown') unknownPage(new Chat())
else page()
