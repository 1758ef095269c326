const lineTags = new Set(['P', 'DIV', 'LI', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'PRE', 'BLOCKQUOTE'])

const isTextarea = (el: Element): el is HTMLTextAreaElement =>
  el instanceof HTMLTextAreaElement || el instanceof HTMLInputElement

/** Returns a field's text by lines. `innerText` differs between editors and needs a layout. */
export function fieldText(field: Element): string {
  if (isTextarea(field)) return field.value
  let out = ''
  let started = false
  const walk = (parent: Node) => {
    for (const node of parent.childNodes) {
      if (node instanceof Text) {
        out += node.data
        started ||= node.data !== ''
      } else if (node instanceof HTMLBRElement) {
        // A last <br> only gives an empty line its height.
        if (node.nextSibling) out += '\n'
      } else if (node instanceof HTMLElement && node.contentEditable !== 'false') {
        const line = lineTags.has(node.tagName)
        if (line && started) out += '\n'
        started ||= line
        walk(node)
      }
    }
  }
  walk(field)
  return out
}

/** Focuses a field. Reports whether it has the focus. */
export function focus(field: HTMLElement): boolean {
  field.focus({ preventScroll: true })
  const root = field.getRootNode() as Document | ShadowRoot
  return root.activeElement === field || field.contains(root.activeElement)
}

/** Puts the caret at the end of an editor's text. */
export function placeCaret(field: HTMLElement): void {
  focus(field)
  const selection = field.ownerDocument.getSelection()
  selection?.selectAllChildren(field.lastElementChild ?? field)
  selection?.collapseToEnd()
}

const command = (field: Element, name: string, value?: string) => field.ownerDocument.execCommand(name, false, value)

/**
 * Empties a field. Lexical learns of a selection only afterwards, takes back what a command deletes, and deletes by the
 * key. `rest` waits a moment.
 */
export async function clear(field: HTMLElement, rest: () => Promise<unknown>): Promise<void> {
  focus(field)
  if (isTextarea(field)) {
    field.select()
    command(field, 'delete')
    return
  }
  command(field, 'selectAll')
  command(field, 'delete')
  await rest()
  if (fieldText(field).trim() === '') return
  command(field, 'selectAll')
  await rest()
  press(field, { key: 'Backspace', code: 'Backspace', keyCode: 8, which: 8 })
}

export function insert(field: HTMLElement, text: string): void {
  focus(field)
  command(field, 'insertText', text)
}

/** Pastes text as from the clipboard. A textarea ignores an untrusted paste, so its value is set. */
export function paste(field: HTMLElement, text: string): void {
  focus(field)
  if (isTextarea(field)) {
    field.value = text
    field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertFromPaste' }))
    return
  }
  for (const part of pieces(text)) {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', part)
    // Firefox takes the text from `data` only.
    const pasted = { clipboardData, data: part, dataType: 'text/plain' }
    field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, composed: true, cancelable: true, ...pasted }))
  }
}

/** Sites turn a larger paste into an attachment. */
const largestPaste = 4000

/** Cuts text within words, because editors drop white space at the ends of a paste. */
function pieces(text: string): string[] {
  const out: string[] = []
  for (let at = 0; at < text.length;) {
    const most = Math.min(at + largestPaste, text.length)
    let end = most
    if (end < text.length) {
      while (end > at && !/[^\s\ud800-\udbff][^\s\udc00-\udfff]/.test(text.slice(end - 1, end + 1))) end--
      if (end === at) end = most // no word has two letters
    }
    out.push(text.slice(at, end))
    at = end
  }
  return out
}

export function pressEnter(field: HTMLElement, ctrlKey: boolean): void {
  focus(field)
  press(field, { key: 'Enter', code: 'Enter', keyCode: 13, which: 13, ctrlKey })
}

function press(field: HTMLElement, which: KeyboardEventInit): void {
  const key = { ...which, bubbles: true, composed: true, cancelable: true }
  if (field.dispatchEvent(new KeyboardEvent('keydown', key)) && which.key === 'Enter')
    field.dispatchEvent(new KeyboardEvent('keypress', key))
  field.dispatchEvent(new KeyboardEvent('keyup', key))
}
