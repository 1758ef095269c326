import { Scenario } from '../../scenario.ts'
import { boot } from '../boot.ts'
import type { Turn } from '../chat.ts'
import { fill, h } from '../dom.ts'

/** The scroller of the newer generation. It mounts the turns around the view, and keeps space for the others. */
export class Virtual {
  readonly scroller: HTMLElement
  #list = h('div', { class: 'timeline' })
  #above = h('div', { 'aria-hidden': 'true' })
  #below = h('div', { 'aria-hidden': 'true' })
  /** The number of turns after the mounted ones that are not mounted. */
  #skipped = 0
  #scrolled: () => void

  constructor(scrolled: () => void) {
    this.#scrolled = scrolled
    this.scroller = h('div', { 'data-app-action-timeline-scroll': true, class: 'scroller' }, this.#list)
    this.scroller.addEventListener('scroll', () => {
      // In a column-reverse box the end is 0, and positions above are negative.
      const { scrollTop, scrollHeight, clientHeight } = this.scroller
      const atTop = scrollHeight - clientHeight + scrollTop < 10
      const skipped = atTop ? Infinity : Math.max(0, Math.floor(-scrollTop / turnHeight) - 1)
      if (skipped === this.#skipped) return
      this.#skipped = skipped
      this.#scrolled()
    })
  }

  mounted(turns: Turn[]): Turn[] {
    const size = turns.reduce((size, turn) => new Scenario(turn.prompt).number('virtual', 'n', size), 4)
    const end = Math.max(Math.min(size, turns.length), turns.length - this.#skipped)
    const start = Math.max(0, end - size)
    this.#above.style.height = `${start * turnHeight}px`
    this.#below.style.height = `${(turns.length - end) * turnHeight}px`
    return turns.slice(start, end)
  }

  place(shown: { elements: HTMLElement[] }[]): void {
    const elements = shown.flatMap(({ elements }) => elements)
    const column = [this.#above, ...elements, this.#below]
    fill(this.#list, ...(boot.state.newestFirst ? column.reverse() : column))
    this.#list.classList.toggle('newest-first', boot.state.newestFirst)
  }
}

/** The assumed height of a turn that is not mounted, in px. */
const turnHeight = 220
