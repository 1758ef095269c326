import { boot, words } from '../boot.ts'
import type { Chat } from '../chat.ts'
import { arrive, Composer, type Editor } from '../composer.ts'
import { fill, h, on, set } from '../dom.ts'
import { spoilInput } from '../typed.ts'
import { symbol } from './dress.ts'

/** AI Studio's field and run button. Ctrl+Enter runs, Enter breaks the line. */
export function studioComposer(
  chat: Chat,
  settings: () => { model: string; temperature: number },
): { element: HTMLElement; show(): void } {
  const area = h('textarea', {
    formcontrolname: 'promptText',
    'aria-label': words.ask,
    placeholder: words.ask,
    rows: '1',
    class: 'textarea gmat-body-medium',
  })
  // Like a form control: the field's text counts only after an input event.
  let value = ''
  const editor: Editor = {
    element: area,
    text: () => value,
    set: (text) => {
      area.value = value = text
    },
  }
  const composer = new Composer(chat, editor, show, settings)
  const spoil = boot.state.mangle ? spoilInput(editor) : undefined
  on(area, 'input', () => {
    value = area.value
    composer.edited()
    spoil?.edited()
  })
  on(area, 'keydown', (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    composer.entered()
  })
  const label = h('span', { class: 'label' })
  const spinner = symbol('progress_activity')
  const run = on(h('button', { type: 'submit', class: 'run-button' }), 'click', (event: Event) => {
    event.preventDefault()
    if (chat.running) chat.stop()
    else if (run.getAttribute('aria-disabled') !== 'true') composer.clicked()
  })
  const place = h('ms-autosize-textarea')
  arrive(() => {
    place.append(area)
  })
  const element = h(
    'ms-prompt-input-wrapper',
    {},
    h('div', { class: 'prompt-input-wrapper-container' }, place, h('ms-run-button', {}, run)),
  )

  function show(): void {
    const running = chat.running !== undefined
    label.textContent = running ? words.stop : words.run
    set(run, 'aria-label', running ? words.stop : words.run)
    set(run, 'aria-disabled', running || composer.enabled ? 'false' : 'true')
    run.classList.toggle('stoppable', running)
    fill(run, running && spinner, label)
  }
  return { element, show }
}
