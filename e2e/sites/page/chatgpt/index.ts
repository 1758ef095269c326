import { boot, words } from '../boot.ts'
import { Chat } from '../chat.ts'
import { ModelMenu } from '../modelmenu.ts'
import { refused } from '../refused.ts'
import { fill, h } from '../dom.ts'
import { follow } from '../follow.ts'
import { Timeline } from '../show.ts'
import { Sidebar } from '../sidebar.ts'
import { unknownPage } from '../unknown.ts'
import { articleTurn } from './article.ts'
import { testId } from './testid.ts'
import { chatgptComposer } from './composer.ts'
import { style } from './style.ts'
import { expiredDialog } from './trouble.ts'
import { turnKeyTurn } from './turnkey.ts'
import { Virtual } from './virtual.ts'

const doors = (): HTMLElement[] => [
  h('a', { class: 'button', href: '/auth/login', ...testId('login-button') }, words.logIn),
  h('a', { class: 'button', href: '/auth/login', ...testId('signup-button') }, words.signUp),
]

function page(): void {
  const chat = new Chat()
  const menu = new ModelMenu(
    [['gpt-5', 'GPT-5'], ['gpt-5-thinking', 'GPT-5 Thinking'], ['gpt-4o', 'GPT-4o']].map(([id, name]) => ({
      name: name!,
      attributes: testId(`model-switcher-${id}`),
    })),
    testId('model-switcher-dropdown-button'),
  )
  const composer = chatgptComposer(chat, () => ({ model: menu.chosen }))
  const virtual = boot.state.layout === 'turn-key'
    ? new Virtual(() => {
      show()
    })
    : undefined
  const thread = h('div', { class: 'thread' })
  const timeline = virtual
    ? new Timeline(turnKeyTurn(chat), (shown) => {
      virtual.place(shown)
    }, (turns) => virtual.mounted(turns))
    : new Timeline(articleTurn(chat), (shown) => {
      fill(thread, ...shown.flatMap(({ elements }) => elements))
    })
  const scroller = virtual ? virtual.scroller : h('div', { class: 'scroll' }, thread)
  // A column-reverse box stays at its end.
  if (!virtual) timeline.painted = follow(scroller)
  const sidebar = new Sidebar(h('div', { id: 'history' }))
  let asked = false
  function show(): void {
    timeline.show(chat)
    composer.show()
    sidebar.show(chat)
    if (!asked && chat.turns.some(({ error }) => error === 'expired')) {
      asked = true
      document.body.append(expiredDialog())
    }
  }
  chat.changed = show
  document.body.append(
    h(
      'nav',
      { 'aria-label': words.history },
      h('a', { href: '/' + location.search, ...testId('create-new-chat-button') }, words.newChat),
      h('h2', { class: 'sr-only' }, words.history),
      sidebar.element,
    ),
    h(
      'main',
      { id: 'main' },
      h('header', {}, h('span', {}, 'ChatGPT'), menu.element, h('span', {}, ...(boot.state.loggedOut ? doors() : []))),
      scroller,
      composer.element,
    ),
  )
  show()
}

document.head.append(h('style', {}, style))
if (location.pathname === '/auth/login')
  document.body.append(h('main', { class: 'wall' }, h('h1', {}, words.welcome), refused(), ...doors()))
else if (boot.state.layout === 'unknown') unknownPage(new Chat())
else page()
