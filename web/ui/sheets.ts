/** The sheets that were made, by window and text. */
const made = new WeakMap<object, Record<string, CSSStyleSheet>>()

/** Lengths in rem grow with the font of the browser. They do not shrink where a page makes its rem smaller. */
const sized = (css: string) =>
  css.replace(
    /(?<![<=] ?|[\d.])(-?)([\d.]+)rem/g,
    (rem, minus, n) => `${minus ? 'min' : 'max'}(${rem},${minus}${n * 16}px)`,
  )

/** The sheets of styles for a document, which takes none of another one. A document without a window has none. */
export function sheetsFor({ defaultView: view }: Document, ...styles: string[]): CSSStyleSheet[] {
  if (!view) return []
  const sheets = made.get(view) ?? {}
  made.set(view, sheets)
  return styles.map((css) => {
    if (!sheets[css]) (sheets[css] = new view.CSSStyleSheet()).replaceSync(sized(css))
    return sheets[css]
  })
}
