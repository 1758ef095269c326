/** An element with properties and children. Foreign text is only ever a text node. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** A text about the app, which screen readers say. */
export const status = (text: string): HTMLElement => make('p', { className: 'why', role: 'status' }, text)

export const button = (label: string, onclick: () => void, className = ''): HTMLButtonElement =>
  make('button', { type: 'button', className, onclick }, label)

/** Clicks this soon after a question appears were meant for what was there before, in ms. */
const tooSoon = 500

/** Whether a click on a question that appeared at `since` can be an answer to it. */
export const isMeant = (since: number): boolean => performance.now() - since >= tooSoon
