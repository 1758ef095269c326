import type { Layout } from '../profile.ts'
import { closest, contains, order, type Deep } from './deep.ts'
import { samePrompt } from './text.ts'

/** Our prompt in the page, and what belongs to it. */
export interface Turn {
  user: Element
  answers: Element[]
  /** Where marks of this turn stand: around it, or its answers. */
  region: Element[]
}

/**
 * Finds the turn of our prompt among those on the page: it has the prompt's text and
 * was not there before sending. Turns are never counted, for pages take them away,
 * bring old ones late, and replace elements.
 */
export class Turns {
  readonly #deep: Deep
  readonly #layout: Layout
  readonly #prompt: string
  #known = new WeakSet<Element>()
  #keys = new Set<string>()
  /** Turns without a key that had the same text before. */
  #same = 0
  #accepted: Element | undefined
  readonly #edited: boolean

  /** `edited`: the person sends, and may change the prompt before. */
  constructor(deep: Deep, layout: Layout, prompt: string, edited = false) {
    this.#edited = edited
    this.#deep = deep
    this.#layout = layout
    this.#prompt = prompt
  }

  get any(): boolean {
    return this.#users().length > 0
  }

  /** What is on the page before our prompt is sent. */
  record(): void {
    this.#same = 0
    for (const user of this.#users()) {
      const key = this.#key(user)
      this.#known.add(user)
      if (key !== null) this.#keys.add(key)
      else if (this.#says(user)) this.#same++
    }
  }

  ours(): Turn | undefined {
    const users = this.#users()
    const strange = users.filter((user) => !this.#known.has(user) && !this.#keys.has(this.#key(user) ?? ''))
    const exact = strange.filter((user) => this.#says(user))
    const fresh = exact.length || !this.#edited ? exact : strange
    // A page that replaces the element of an old turn does not show more turns than before.
    const more = !this.#same || fresh.includes(this.#accepted!) || fresh.some((user) => this.#key(user) !== null) ||
      users.filter((user) => this.#known.has(user) && this.#says(user)).length + fresh.length > this.#same
    if (!fresh.length || !more) return undefined
    const user = fresh.length === 1 ? fresh[0]! : fresh.reduce((a, b) => top(b) >= top(a) ? b : a)
    this.#accepted = user
    return this.#turn(user, users)
  }

  /** Whether an element is within a turn other than ours. */
  foreign(el: Element, ours: Turn | undefined): boolean {
    if (ours && [ours.user, ...ours.region].some((part) => contains(part, el))) return false
    const { turn, userTurn, answer } = this.#layout
    return [...(turn?.selector ?? []), ...userTurn, ...answer].some((selector) => closest(el, selector) !== null)
  }

  #users = () => this.#deep.first(this.#layout.userTurn)

  #container = (user: Element) => this.#layout.turn ? closest(user, this.#layout.turn.selector.join(',')) : null

  #key = (user: Element) =>
    this.#layout.turn ? this.#container(user)?.getAttribute(this.#layout.turn.key) ?? null : null

  #says(user: Element): boolean {
    const texts = this.#deep.first(this.#layout.userText, undefined, user)
    const text = (texts.length ? texts : [user]).map((el) => el.textContent ?? '').join('\n')
    return samePrompt(this.#prompt, text.slice(0, 2 * this.#prompt.length + 1000))
  }

  #turn(user: Element, users: Element[]): Turn {
    const container = this.#container(user)
    if (container)
      return {
        user,
        answers: outermost(this.#deep.first(this.#layout.answer, undefined, container)),
        region: [container],
      }
    const next = users.filter((other) => order(user, other) < 0 && !contains(user, other)).sort(order)[0]
    const answers = outermost(
      this.#deep.first(this.#layout.answer, (el) => order(user, el) < 0 && (!next || order(el, next) < 0)),
    )
    return { user, answers, region: answers }
  }
}

/** Pages may hold turns newest first; what is lower for the eye is later. */
const top = (el: Element) => el.getBoundingClientRect().top

const outermost = (els: Element[]) => els.filter((el) => !els.some((other) => other !== el && contains(other, el)))
