import type { Layout } from '../profile.ts'
import type { Deep } from './deep.ts'
import { markdown, type Markdown } from './markdown/index.ts'
import type { Turn } from './turns.ts'

/**
 * The answer as read so far. Pages that virtualise take a turn away while or after it
 * streams; what was read last stays.
 */
export class Reading {
  text = ''
  truncated = false
  /** Another whenever the page's text is another. */
  version = 0
  readonly #deep: Deep
  readonly #layout: Layout
  readonly #notes: RegExp
  #raw = ''
  #dirty = false
  #next = 0

  constructor(deep: Deep, layout: Layout, notes: RegExp) {
    this.#deep = deep
    this.#layout = layout
    this.#notes = notes
  }

  /** Reads if the text changed, but not so often that the page would feel it, unless `now`. */
  look(turn: Turn | undefined, now = false): void {
    if (!turn?.answers.length) return
    const parts = turn.answers.flatMap((answer) => {
      const texts = this.#deep.first(this.#layout.answerText, undefined, answer)
      const within = texts.filter((el) => !texts.some((other) => other !== el && other.contains(el)))
      return within.length ? within : answer.matches(this.#layout.answerText.join(',')) ? [answer] : []
    })
    const read = parts.length ? parts : turn.answers
    const raw = read.flatMap((el) => this.#deep.trees(el)).map((tree) =>
      `${tree.textContent}\u0000${tree.querySelectorAll('img').length}`
    ).join('\u0000')
    if (raw !== this.#raw) {
      this.#raw = raw
      this.version++
      this.#dirty = true
    }
    const begun = performance.now()
    if (!this.#dirty || (!now && begun < this.#next)) return
    this.#keep(markdown(read, { base: this.#deep.document.baseURI, omit: this.#layout.omit, notes: this.#notes }))
    this.#next = performance.now() + 5 * (performance.now() - begun)
    this.#dirty = false
  }

  #keep({ text, truncated }: Markdown): void {
    if (!text && this.text) return
    this.text = text
    this.truncated = truncated
  }
}
