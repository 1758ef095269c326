import { boot, words } from '../boot.ts'
import type { Chat } from '../chat.ts'
import { arrive, Composer } from '../composer.ts'
import { fill, h, on, set, shadow } from '../dom.ts'
import { ModelMenu } from '../modelmenu.ts'
import { spoilInput } from '../typed.ts'
import { icon } from './dress.ts'
import { quill } from './quill.ts'
import { style } from './style.ts'

/** Gemini's field, in a shadow root within the page's. */
export function geminiComposer(chat: Chat): { element: HTMLElement; show(): void } {
  const field = h('div', { class: 'ql-container' })
  const rich = h('rich-textarea', { class: 'text-input-field_textarea', 'enterkeyhint': 'send' }, field)
  const area = h('div', { class: 'text-input-field' })
  const buttons = h('div', { class: 'trailing-actions-wrapper' })
  const menu = new ModelMenu(
    [['fast', 'Fast'], ['thinking', 'Thinking'], ['pro', 'Pro']].map(([id, name]) => ({
      name: name!,
      attributes: { 'data-test-id': `bard-mode-option-${id}` },
    })),
    { 'data-test-id': 'bard-mode-menu-button' },
    { role: 'menuitemradio', class: 'mat-mdc-menu-item bard-mode-list-button' },
    'click',
  )
  const modes = h('bard-mode-switcher', {}, menu.element)
  const element = h('input-area-v2')
  shadow(element, style, h('div', { class: 'input-area' }, area, modes, buttons))
  const editor = quill(field, {
    edited: () => {
      composer.edited()
      spoil?.edited()
    },
    entered: () => {
      composer.entered()
    },
  })
  const composer = new Composer(chat, editor, show, () => ({ model: menu.chosen }))
  const spoil = boot.state.mangle ? spoilInput(editor) : undefined
  const send = on(h('button', { class: 'send-button submit', 'aria-label': words.send }, icon('send')), 'click', () => {
    if (send.getAttribute('aria-disabled') !== 'true') composer.clicked()
  })
  const stop = on(h('button', { class: 'send-button stop', 'aria-label': words.stop }, icon('stop')), 'click', () => {
    chat.stop()
  })
  const speak = h(
    'button',
    { class: 'speech_dictation_mic_button', 'aria-label': words.microphone },
    h('img', { alt: 'mic', src: '/icons/mic.svg', width: '18', height: '18' }),
  )
  arrive(() => {
    area.append(rich)
  })

  function show(): void {
    set(send, 'aria-disabled', composer.enabled ? 'false' : 'true')
    fill(buttons, chat.running ? stop : composer.hasText ? send : speak)
  }
  return { element, show }
}
