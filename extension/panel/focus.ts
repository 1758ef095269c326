/**
 * Keeps the focus in the app: when what has it is taken out of the document, as a
 * client that was forgotten, and no part knows better, `rest` gets it.
 */
export function keepFocus(root: ShadowRoot, rest: () => HTMLElement | null): void {
  let last: Element | undefined
  root.addEventListener('focusin', (e) => (last = e.target as Element))
  root.addEventListener('focusout', () => {
    const left = last
    queueMicrotask(() => {
      if (last === left && left?.isConnected) last = undefined
    }) // the person went away by themselves
  })
  new MutationObserver(() => {
    if (!last || last.isConnected || root.activeElement) return
    last = undefined
    rest()?.focus({ preventScroll: true })
  }).observe(root, { childList: true, subtree: true })
}
