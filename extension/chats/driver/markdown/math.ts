const formulas = 'math, .katex, .katex-display, mjx-container, .MathJax'

/** The TeX of a formula, of which pages hold several pictures; undefined: the element is none. */
export function formula(el: Element): { tex: string; display: boolean } | undefined {
  if (!el.matches(formulas)) return undefined
  const tex = el.querySelector('annotation[encoding="application/x-tex"]')?.textContent?.trim()
  if (!tex) return undefined
  const display = el.matches('[display="true"], [display="block"]') || el.closest('.katex-display') !== null ||
    el.querySelector('.katex-display, math[display="block"]') !== null
  // A line feed within is a space in TeX; a dollar would end the formula.
  return { tex: tex.replace(/\s*\n\s*/g, ' ').replace(/(?<!\\)\$/g, '\\$'), display }
}
