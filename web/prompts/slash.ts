/** The `/…` that a person has typed: where it begins, and what follows the slash. */
export interface Slash {
  start: number
  end: number
  query: string
}

/** Finds the `/…` before the caret: at the start of the text, or after white space if the caret is at the end. */
export function slashAt(text: string, caret: number): Slash | undefined {
  const found = /(?:^|\s)\/(\S{0,100})$/u.exec(text.slice(0, caret))
  if (!found) return undefined
  const start = caret - found[1]!.length - 1
  return start === 0 || caret === text.length ? { start, end: caret, query: found[1]! } : undefined
}
