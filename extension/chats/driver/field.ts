const blocks = new Set(['P', 'DIV', 'LI', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'PRE', 'BLOCKQUOTE'])

const isTextarea = (el: Element): el is HTMLTextAreaElement =>
  el instanceof HTMLTextAreaElement || el instanceof HTMLInputElement

/** What is written in a field, by its lines: `innerText` differs between editors, and needs a layout. */
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
        // The last one only gives an empty line its height.
        if (node.nextSibling) out += '\n'
      } else if (node instanceof HTMLElement && node.contentEditable !== 'false') {
        const line = blocks.has(node.tagName)
        if (line && started) out += '\n'
        started ||= line
        walk(node)
      }
    }
  }
  walk(field)
  return out
}

/** Whether the focus could be given to it. */
export function focus(field: HTMLElement): boolean {
  field.focus({ preventScroll: true })
  const root = field.getRootNode() as Document | ShadowRoot
  return root.activeElement === field || field.contains(root.activeElement)
}

const command = (field: Element, name: string, value?: string) => field.ownerDocument.execCommand(name, false, value)

export function clear(field: HTMLElement): void {
  focus(field)
  if (isTextarea(field)) field.select()
  else command(field, 'selectAll')
  command(field, 'delete')
}

export function insert(field: HTMLElement, text: string): void {
  focus(field)
  command(field, 'insertText', text)
}

/** What sites take for a text; more at once they make an attachment of. */
const piece = 4000

/** As if from the clipboard. A textarea does nothing on a paste that is no person's: its value is set. */
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
    field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, composed: true, cancelable: true, clipboardData }))
  }
}

/** Cut within a word: editors drop white space at the ends of what is pasted. */
function pieces(text: string): string[] {
  const out: string[] = []
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + piece, text.length)
    if (end < text.length) {
      while (end > at + 1 && !/[^\s\ud800-\udbff][^\s\udc00-\udfff]/.test(text.slice(end - 1, end + 1))) end--
    }
    out.push(text.slice(at, end))
    at = end
  }
  return out
}

export function enter(field: HTMLElement, how: KeyboardEventInit = {}): void {
  focus(field)
  const key: KeyboardEventInit = {
    key: 'Enter',
    code: 'Enter',
    keyCode: 13,
    which: 13,
    bubbles: true,
    composed: true,
    cancelable: true,
    ...how,
  }
  if (field.dispatchEvent(new KeyboardEvent('keydown', key))) field.dispatchEvent(new KeyboardEvent('keypress', key))
  field.dispatchEvent(new KeyboardEvent('keyup', key))
}
