import type { Chat, Turn } from './chat.ts'

/** A turn on the page. */
export interface TurnView {
  /** All elements of the turn, in the page's order. */
  elements: HTMLElement[]
  /** The parts that change at once: errors, the thinking block. */
  update(turn: Turn): void
  /** The parts that change in an animation frame, like the sites': the answer, and the buttons after it. */
  paint(turn: Turn): void
}

/** Keeps the elements of turns up to date with the chat. */
export class Timeline {
  /** After each frame. */
  painted: () => void = () => {}
  #views = new Map<string, { view: TurnView; mount: number }>()
  #keys = new WeakMap<Turn, string>()
  #frame = 0
  #made = 0
  #make: (turn: Turn) => TurnView
  #place: (shown: { turn: Turn; elements: HTMLElement[] }[]) => void
  #mounted: (turns: Turn[]) => Turn[]

  /** `mounted` returns the turns that have elements. `place` puts the elements into the page. */
  constructor(
    make: (turn: Turn) => TurnView,
    place: (shown: { turn: Turn; elements: HTMLElement[] }[]) => void,
    mounted = (turns: Turn[]): Turn[] => turns,
  ) {
    this.#make = make
    this.#place = place
    this.#mounted = mounted
  }

  show(chat: Chat): void {
    const turns = this.#mounted(chat.turns)
    const keys = new Set(turns.map((turn) => this.#key(turn)))
    for (const key of this.#views.keys()) if (!keys.has(key)) this.#views.delete(key)
    for (const turn of turns) this.#view(turn).update(turn)
    this.#place(turns.map((turn) => ({ turn, elements: this.#view(turn).elements })))
    if (!this.#frame)
      this.#frame = requestAnimationFrame(() => {
        this.#paint(chat)
      })
  }

  #paint(chat: Chat): void {
    this.#frame = 0
    for (const turn of this.#mounted(chat.turns)) this.#view(turn).paint(turn)
    this.painted()
  }

  // A turn's id changes when the backend sends its own.
  #key(turn: Turn): string {
    const key = this.#keys.get(turn) ?? `turn ${++this.#made}`
    this.#keys.set(turn, key)
    return key
  }

  #view(turn: Turn): TurnView {
    const known = this.#views.get(this.#key(turn))
    if (known && known.mount === turn.mount) return known.view
    const view = this.#make(turn)
    this.#views.set(this.#key(turn), { view, mount: turn.mount })
    if (known && turn.phase !== 'waiting') view.paint(turn)
    return view
  }
}
