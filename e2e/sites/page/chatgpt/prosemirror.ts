import { baseKeymap, chainCommands, exitCode } from 'prosemirror-commands'
import { history, redo, undo } from 'prosemirror-history'
import { keymap } from 'prosemirror-keymap'
import { Fragment, Schema, Slice, type Node as ProseNode } from 'prosemirror-model'
import { EditorState, Plugin, type Command } from 'prosemirror-state'
import { Decoration, DecorationSet, EditorView } from 'prosemirror-view'
import type { Editor } from '../composer.ts'
import { h } from '../dom.ts'

const schema = new Schema({
  nodes: {
    doc: { content: 'paragraph+' },
    paragraph: { content: 'inline*', group: 'block', parseDOM: [{ tag: 'p' }], toDOM: () => ['p', 0] },
    hard_break: {
      inline: true,
      group: 'inline',
      selectable: false,
      parseDOM: [{ tag: 'br' }],
      toDOM: () => ['br'],
      leafText: () => '\n',
    },
    text: { group: 'inline' },
  },
})

const chatgpt = { id: 'prompt-textarea', translate: 'no', 'data-virtualkeyboard': 'true' }

/** ChatGPT's field, or with other attributes another site's: Enter sends, Shift+Enter breaks the line. */
export function prosemirror(
  placeholder: string,
  o: { edited(): void; entered(): void },
  attributes: Record<string, string> = chatgpt,
): Editor {
  const breakLine: Command = chainCommands(exitCode, (state, dispatch) => {
    dispatch?.(state.tr.replaceSelectionWith(schema.nodes.hard_break!.create()).scrollIntoView())
    return true
  })
  const enter: Command = () => {
    o.entered()
    return true
  }
  const plugins = [
    keymap({ Enter: enter, 'Shift-Enter': breakLine, 'Mod-z': undo, 'Mod-y': redo }),
    keymap(baseKeymap),
    history(),
    hint(placeholder),
  ]
  const view = new EditorView(h('div'), {
    state: EditorState.create({ doc: doc(''), plugins }),
    attributes: { ...attributes, 'aria-label': placeholder },
    clipboardTextParser: (text) => new Slice(doc(text.replace(/\r\n?/g, '\n')).content, 1, 1),
    clipboardTextSerializer: (slice) => text(slice.content),
    dispatchTransaction(transaction) {
      view.updateState(view.state.apply(transaction))
      if (transaction.docChanged) o.edited()
    },
  })
  return {
    element: view.dom,
    text: () => text(view.state.doc.content),
    set(value) {
      view.dispatch(view.state.tr.replaceWith(0, view.state.doc.content.size, doc(value).content))
    },
  }
}

function doc(value: string): ProseNode {
  return schema.node(
    'doc',
    null,
    value.split('\n').map((line) => schema.node('paragraph', null, line ? [schema.text(line)] : [])),
  )
}

function text(content: Fragment): string {
  return Array.from({ length: content.childCount }, (_, n) => content.child(n)).map((node) =>
    node.textBetween(0, node.content.size, '\n', (leaf) => leaf.type.name === 'hard_break' ? '\n' : '')
  ).join('\n')
}

function hint(placeholder: string): Plugin {
  return new Plugin({
    props: {
      decorations(state) {
        const empty = state.doc.childCount === 1 && state.doc.firstChild!.content.size === 0
        return empty
          ? DecorationSet.create(state.doc, [
            Decoration.node(0, state.doc.firstChild!.nodeSize, {
              class: 'placeholder',
              'data-placeholder': placeholder,
            }),
          ])
          : null
      },
    },
  })
}
