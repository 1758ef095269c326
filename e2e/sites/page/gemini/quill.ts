import Quill from 'quill'
import { words } from '../boot.ts'
import type { Editor } from '../composer.ts'

/** Quill's own record of the selection, which its types hide. */
interface Selection {
  root: HTMLElement
  normalizeNative(
    range: { startContainer: Node; startOffset: number; endContainer: Node; endOffset: number; collapsed: boolean },
  ): unknown
  getNativeRange(): unknown
  hasFocus(): boolean
}

/** Gemini's field: Enter sends, Shift+Enter breaks the line. */
export function quill(place: HTMLElement, o: { edited(): void; entered(): void }): Editor {
  const editor = new Quill(place, {
    formats: [],
    modules: {
      toolbar: false,
      keyboard: {
        bindings: {
          send: {
            key: 'Enter',
            shiftKey: false,
            handler: () => {
              o.entered()
              return false
            },
          },
        },
      },
    },
  })
  pierce(editor)
  const { root } = editor
  root.classList.add('textarea', 'new-input-ui')
  for (
    const [name, value] of Object.entries({
      role: 'textbox',
      'aria-multiline': 'true',
      'aria-label': words.ask,
      'data-placeholder': words.ask,
    })
  ) root.setAttribute(name, value)
  editor.on('text-change', () => {
    o.edited()
  })
  return {
    element: root,
    text: () => editor.getText().replace(/\n$/, ''),
    set: (text) => {
      editor.setText(text)
    },
  }
}

// Quill reads the document's selection, which does not reach into a shadow root.
function pierce(editor: Quill): void {
  const selection = (editor as unknown as { selection: Selection }).selection
  const within = (): Document | ShadowRoot => selection.root.getRootNode() as Document | ShadowRoot
  selection.getNativeRange = () => {
    const ranges = document.getSelection()?.getComposedRanges({ shadowRoots: shadowRoots(selection.root) })
    const range = ranges?.[0]
    if (!range || !selection.root.contains(range.startContainer)) return null
    return selection.normalizeNative(live(range))
  }
  selection.hasFocus = () => selection.root.contains(within().activeElement)
}

function live(range: StaticRange): Range {
  const made = document.createRange()
  made.setStart(range.startContainer, range.startOffset)
  made.setEnd(range.endContainer, range.endOffset)
  return made
}

function shadowRoots(node: Node): ShadowRoot[] {
  const root = node.getRootNode()
  return root instanceof ShadowRoot ? [root, ...shadowRoots(root.host)] : []
}
