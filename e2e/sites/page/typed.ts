import { boot } from './boot.ts'
import type { Editor } from './composer.ts'

/**
 * Spoils scripted input, as the page's state says. Chromium fires no
 * beforeinput for execCommand, and an input event for each line. Typed text, and text
 * from the debugger, have one beforeinput for all further events in their task.
 */
export function spoilInput(editor: Editor): { edited(): void } {
  const kind = boot.state.mangle
  let before = editor.text()
  let announced = false
  let key = false
  let spent = false
  const put = (text: string): void => {
    editor.set(text)
    before = editor.text()
  }
  const field = editor.element
  field.addEventListener('keydown', (event) => {
    key = event.isTrusted
  }, true)
  field.addEventListener('keyup', () => {
    key = false
  }, true)
  field.addEventListener('beforeinput', (event) => {
    announced = true
    setTimeout(() => {
      announced = false
    })
    if (kind === 'all' && event.inputType.startsWith('insert') && !key) event.preventDefault()
  }, true)
  field.addEventListener('paste', (event) => {
    if (event.isTrusted || (kind !== 'scripted' && kind !== 'all')) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }, true)
  field.addEventListener('input', (event) => {
    const commanded = event.isTrusted && !announced && (event as InputEvent).inputType.startsWith('insert')
    const forged = !event.isTrusted && (kind === 'scripted' || kind === 'all')
    if ((!commanded && !forged) || spent) return
    spent = kind === 'once'
    // The editor reads its document after this event.
    const was = before
    queueMicrotask(() => {
      put(kind === 'newlines' ? editor.text().replace(/\s*\n\s*/g, ' ') : was)
    })
  }, true)
  return {
    edited: () => {
      queueMicrotask(() => {
        before = editor.text()
      })
    },
  }
}
