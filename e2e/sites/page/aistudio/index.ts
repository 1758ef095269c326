import { newChat } from '../../hosts.ts'
import { boot, words } from '../boot.ts'
import { Chat } from '../chat.ts'
import { refused } from '../refused.ts'
import { fill, h } from '../dom.ts'
import { follow } from '../follow.ts'
import { Timeline } from '../show.ts'
import { Sidebar } from '../sidebar.ts'
import { unknownPage } from '../unknown.ts'
import { studioComposer } from './composer.ts'
import { runSettings } from './settings.ts'
import { style } from './style.ts'
import { studioTurn } from './turn.ts'

const door = (): HTMLElement =>
  h(
    'a',
    { class: 'button', href: 'https://accounts.google.com/ServiceLogin?continue=https://aistudio.google.com/' },
    words.logIn,
  )

function page(): void {
  const chat = new Chat()
  const settings = runSettings()
  const composer = studioComposer(chat, settings.settings)
  const session = h('ms-chat-session')
  const timeline = new Timeline(studioTurn(chat), (shown) => {
    fill(session, ...shown.flatMap(({ elements }) => elements))
  })
  const scroller = h('ms-autoscroll-container', {}, session)
  const sidebar = new Sidebar(h('div', { class: 'prompt-history' }), { class: 'prompt-link' })
  timeline.painted = follow(scroller)
  const expired = h(
    'div',
    { class: 'cdk-overlay-container' },
    h('mat-dialog-container', { role: 'alertdialog' }, h('p', {}, words.expired), door()),
  )
  chat.changed = () => {
    timeline.show(chat)
    composer.show()
    sidebar.show(chat)
    if (chat.turns.some(({ error }) => error === 'expired')) document.body.append(expired)
  }
  document.body.append(
    h(
      'app-root',
      {},
      h(
        'ms-app',
        {},
        h('ms-navbar', {}, h('a', { href: newChat.aistudio + location.search }, words.newChat), sidebar.element),
        h(
          'ms-chunk-editor',
          {},
          h(
            'ms-toolbar',
            {},
            h('h1', { style: 'font-size: 16px; margin: 0' }, 'Google AI Studio'),
            boot.state.loggedOut && door(),
          ),
          scroller,
          composer.element,
        ),
        settings.element,
      ),
    ),
  )
  chat.changed()
}

document.head.append(h('style', {}, style))
if (location.pathname === '/welcome')
  document.body.append(h('main', { class: 'wall' }, h('h1', {}, 'Google AI Studio'), refused(), door()))
else if (boot.state.layout === 'unknown') unknownPage(new Chat())
else page()
