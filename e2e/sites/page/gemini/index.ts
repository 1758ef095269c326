import { boot, words } from '../boot.ts'
import { Chat } from '../chat.ts'
import { refused } from '../refused.ts'
import { fill, h, shadow } from '../dom.ts'
import { follow } from '../follow.ts'
import { Timeline } from '../show.ts'
import { Sidebar } from '../sidebar.ts'
import { unknownPage } from '../unknown.ts'
import { geminiComposer } from './composer.ts'
import { icon } from './dress.ts'
import { style } from './style.ts'
import { geminiTurn } from './turn.ts'

const door = (): HTMLElement =>
  h('a', {
    class: 'gb_button',
    href: 'https://accounts.google.com/ServiceLogin?continue=https://gemini.google.com/app',
    'aria-label': words.logIn,
  }, words.logIn)

function page(): void {
  const chat = new Chat()
  const composer = geminiComposer(chat)
  const history = h('div', { class: 'history' })
  const timeline = new Timeline(geminiTurn(chat), (shown) => {
    fill(history, ...shown.flatMap(({ elements }) => elements))
  })
  const scroller = h('infinite-scroller', { 'data-test-id': 'chat-history-container' }, history)
  const sidebar = new Sidebar(h('conversations-list'), { class: 'conversation', 'data-test-id': 'conversation' })
  timeline.painted = follow(scroller)
  chat.changed = () => {
    timeline.show(chat)
    composer.show()
    sidebar.show(chat)
  }
  const win = h('chat-window')
  shadow(
    win,
    style,
    h(
      'div',
      { class: 'window' },
      h('div', { class: 'top' }, h('span', {}, 'Gemini'), boot.state.loggedOut && door()),
      scroller,
      composer.element,
    ),
  )
  const app = h('chat-app', { id: 'app-root' })
  shadow(
    app,
    style,
    h(
      'div',
      { class: 'app' },
      h(
        'bard-sidenav',
        { class: 'side' },
        h(
          'a',
          { href: '/app' + location.search, 'data-test-id': 'new-chat-button' },
          icon('edit_square'),
          ' ',
          words.newChat,
        ),
        sidebar.element,
      ),
      win,
    ),
  )
  document.body.append(app)
  chat.changed()
}

document.head.append(h('style', {}, style))
if (location.pathname === '/signin')
  document.body.append(h('main', { class: 'wall' }, h('h1', {}, 'Gemini'), refused(), door()))
else if (boot.state.layout === 'unknown') unknownPage(new Chat())
else page()
