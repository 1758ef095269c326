import type { CSSResult } from 'lit'

/** The sheets of styles for the windows other than this one. */
const made = new WeakMap<object, Map<CSSResult, CSSStyleSheet>>()

/** The sheet of a style for the document that a node is in. No document takes the sheet of another. */
export function sheetFor(node: Node, style: CSSResult): CSSStyleSheet {
  const view = node.ownerDocument!.defaultView
  if (!view || view === window) return style.styleSheet!
  const sheets = made.get(view) ?? new Map<CSSResult, CSSStyleSheet>()
  made.set(view, sheets)
  const sheet = sheets.get(style) ?? new view.CSSStyleSheet()
  sheets.set(style, sheet)
  sheet.replaceSync(style.cssText)
  return sheet
}
