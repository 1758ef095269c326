import { loginPath, newChat } from '../../hosts.ts'
import { boot, words } from '../boot.ts'
import { Chat } from '../chat.ts'
import { arrive, Composer } from '../composer.ts'
import { fill, h, on, set } from '../dom.ts'
import { follow } from '../follow.ts'
import { ModelMenu } from '../modelmenu.ts'
import { refused } from '../refused.ts'
import { Timeline } from '../show.ts'
import { Sidebar } from '../sidebar.ts'
import { spoilInput } from '../typed.ts'
import { unknownPage } from '../unknown.ts'
import { markups } from './markup.ts'
import { otherTurn } from './turn.ts'

// Claude, Perplexity, Grok, DeepSeek, Mistral and Copilot: one page, whose elements are the site's.

const markup = markups[boot.site as keyof typeof markups]

const door = (): HTMLElement => h('a', { class: 'button', href: loginPath[boot.site] }, words.logIn)

function page(): void {
  const chat = new Chat()
  const menu = markup.models &&
    new ModelMenu(markup.models.map((name) => ({ name })), { 'data-testid': 'model-selector-dropdown' })
  const editor = markup.editor({
    edited() {
      composer.edited()
      spoil?.edited()
    },
    entered: () => composer.entered(),
  })
  const composer = new Composer(chat, editor, show, () => ({ model: menu?.chosen }))
  const spoil = boot.state.mangle ? spoilInput(editor) : undefined
  const send = on(markup.button(false), 'click', (event: Event) => {
    event.preventDefault()
    composer.clicked()
  })
  const stop = on(markup.button(true), 'click', () => chat.stop())
  const place = h('div', { class: 'field' })
  const buttons = h('div', { class: 'buttons' })
  const form = on(
    h(markup.composer, { class: 'composer' }, place, buttons, menu?.element),
    'submit',
    (event: Event) => event.preventDefault(),
  )
  arrive(() => place.append(editor.element))
  const thread = h('div', { class: 'thread' })
  const timeline = new Timeline(otherTurn(chat, markup), (shown) => {
    fill(thread, ...shown.flatMap(({ elements }) => elements))
  })
  const scroller = h('div', { class: 'scroll' }, thread)
  const sidebar = new Sidebar(h('nav', { 'aria-label': words.history }))
  timeline.painted = follow(scroller)

  function show(): void {
    timeline.show(chat)
    fill(buttons, chat.running ? stop : send)
    if (send instanceof HTMLButtonElement) set(send, 'disabled', !composer.enabled)
    else send.classList.toggle('ds-button--disabled', !composer.enabled)
    sidebar.show(chat)
  }
  chat.changed = show
  document.body.append(
    h('aside', {}, h('a', { href: newChat[boot.site] + location.search }, words.newChat), sidebar.element),
    h('main', {}, h('header', {}, h('span', {}, markup.title), boot.state.loggedOut && door()), scroller, form),
  )
  show()
}

const style = `
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: flex; height: 100vh }
aside { width: 220px; padding: 16px; background: #f4f4f2; overflow: auto; box-sizing: border-box }
aside a { display: block; color: inherit; overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
main { flex: 1; display: flex; flex-direction: column; min-width: 0; padding: 0 24px 16px; box-sizing: border-box }
header { display: flex; justify-content: space-between; padding: 12px 0 }
.scroll { flex: 1; overflow-y: auto } .thread { max-width: 720px; margin: 0 auto }
.pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: 0 }
.composer { display: flex; gap: 8px; border: 1px solid #bbb; border-radius: 12px; padding: 8px; margin: 8px auto 0;
  max-width: 720px; width: 100%; box-sizing: border-box; align-items: end }
.field { flex: 1; min-width: 0; max-height: 200px; overflow-y: auto } .field > * { outline: none; width: 100% }
.ProseMirror { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4 } .ProseMirror p, #ask-input p { margin: 0 }
.trouble { background: #fde8e8; padding: 8px 12px; border-radius: 8px } .actions { display: flex; gap: 4px }
.katex-mathml { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
.ds-button--disabled { opacity: .4 } .wall { margin: 20vh auto; text-align: center; display: block }
`
document.head.append(h('style', {}, style))
if (location.pathname === loginPath[boot.site])
  document.body.append(h('main', { class: 'wall' }, h('h1', {}, markup.title), refused(), door()))
else if (boot.state.layout === 'unknown') unknownPage(new Chat())
else page()
