import { boot, words } from '../boot.ts'
import type { Chat } from '../chat.ts'
import { arrive, Composer } from '../composer.ts'
import { fill, h, on, set } from '../dom.ts'
import { glyph } from '../glyph.ts'
import { spoilInput } from '../typed.ts'
import { testId } from './testid.ts'
import { prosemirror } from './prosemirror.ts'

/** ChatGPT's field, and the one position of the buttons that speak, send and stop. */
export function chatgptComposer(
  chat: Chat,
  settings: () => { model: string },
): { element: HTMLElement; show(): void } {
  const marked = boot.state.layout === 'article' && !boot.state.noTestIds
  const marks = (id: string): Record<string, string> => marked ? { id: 'composer-submit-button', ...testId(id) } : {}
  const editor = prosemirror(words.ask, {
    edited: () => {
      composer.edited()
      spoil?.edited()
    },
    entered: () => {
      composer.entered()
    },
  })
  const composer = new Composer(chat, editor, show, settings)
  const spoil = boot.state.mangle ? spoilInput(editor) : undefined
  const send = on(
    h('button', {
      type: marked ? 'button' : 'submit',
      class: 'composer-submit',
      'aria-label': words.send,
      ...marks('send-button'),
    }, glyph('send')),
    'click',
    (event: Event) => {
      event.preventDefault()
      composer.clicked()
    },
  )
  const stop = on(
    h(
      'button',
      { type: 'button', class: 'composer-submit stop', 'aria-label': words.stop, ...marks('stop-button') },
      glyph('stop'),
    ),
    'click',
    () => {
      chat.stop()
    },
  )
  const speak = h('button', {
    type: 'button',
    class: 'composer-submit speak',
    'aria-label': words.microphone,
    ...(marked ? testId('composer-speech-button') : {}),
  }, glyph('mic'))
  const trailing = h('div', { class: 'trailing' })
  const place = h(
    'div',
    { class: 'editor' },
    // Like the site: a hidden field for browsers without script.
    marked &&
      h('textarea', {
        class: 'fallbackTextarea',
        name: 'prompt-textarea',
        placeholder: words.ask,
        style: 'display: none',
      }),
  )
  const element = h(
    'form',
    { class: 'group/composer composer', 'data-type': marked ? 'unified-composer' : undefined },
    place,
    trailing,
  )
  on(element, 'submit', (event: Event) => {
    event.preventDefault()
  })
  arrive(() => {
    place.append(editor.element)
  })

  function show(): void {
    set(send, 'disabled', !composer.enabled)
    fill(trailing, chat.running ? stop : composer.hasText ? send : speak)
  }
  return { element, show }
}
