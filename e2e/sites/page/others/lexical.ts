import {
  $createLineBreakNode,
  $createParagraphNode,
  $createTextNode,
  $getRoot,
  COMMAND_PRIORITY_HIGH,
  createEditor,
  KEY_ENTER_COMMAND,
} from 'lexical'
import { registerPlainText } from '@lexical/plain-text'
import type { Editor } from '../composer.ts'
import { h } from '../dom.ts'

/** Perplexity's field: Enter sends, Shift+Enter breaks the line. */
export function lexical(placeholder: string, o: { edited(): void; entered(): void }): Editor {
  const element = h('div', {
    id: 'ask-input',
    contenteditable: 'true',
    role: 'textbox',
    'aria-label': placeholder,
    'data-lexical-editor': 'true',
    style: 'user-select: text; white-space: pre-wrap; word-break: break-word',
  })
  const editor = createEditor({
    namespace: 'ask',
    onError(error) {
      throw error
    },
  })
  editor.setRootElement(element)
  registerPlainText(editor)
  editor.registerCommand(KEY_ENTER_COMMAND, (event) => {
    if (!event || event.shiftKey) return false
    event.preventDefault()
    o.entered()
    return true
  }, COMMAND_PRIORITY_HIGH)
  const text = (): string => editor.getEditorState().read(() => $getRoot().getTextContent())
  let before = ''
  editor.registerUpdateListener(() => {
    if (text() === before) return
    before = text()
    o.edited()
  })
  return {
    element,
    text,
    set(value) {
      editor.update(() => {
        const paragraph = $createParagraphNode()
        for (const [n, line] of value.split('\n').entries()) {
          if (n) paragraph.append($createLineBreakNode())
          if (line) paragraph.append($createTextNode(line))
        }
        $getRoot().clear().append(paragraph)
        paragraph.selectEnd()
      }, { discrete: true })
    },
  }
}
