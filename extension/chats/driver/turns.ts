import type { Layout } from '../sites/site.ts'
import { markdown } from './markdown/index.ts'
import { closest, contains, order, type ShadowDom } from './shadow.ts'
import { samePrompt } from './text.ts'

/** Our prompt on the page, with its answers. */
export interface Turn {
  user: Element
  answers: Element[]
  /** The elements that hold the marks of this turn: its container, or its answers. */
  region: Element[]
}

/**
 * Finds the turn of our prompt: it has the prompt's text, and was not on the page before sending. Turns are never
 * counted, because pages remove them, load old ones late, and replace elements.
 */
export class Turns {
  readonly #dom: ShadowDom
  readonly #layout: Layout
  readonly #prompt: string
  readonly #edited: boolean
  #known = new WeakSet<Element>()
  #keys = new Set<string>()
  /** Earlier turns without a key that have the same text. */
  #same = 0
  #accepted: Element | undefined

  /** `edited`: the user sends, and may change the prompt before. */
  constructor(dom: ShadowDom, layout: Layout, prompt: string, edited = false) {
    this.#dom = dom
    this.#layout = layout
    this.#prompt = prompt
    this.#edited = edited
  }

  get any(): boolean {
    return this.#users().length > 0
  }

  /** Records the turns on the page before our prompt is sent. */
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
    // A page that replaces an old turn's element does not show more turns than before.
    const more = !this.#same || fresh.includes(this.#accepted!) || fresh.some((user) => this.#key(user) !== null) ||
      users.filter((user) => this.#known.has(user) && this.#says(user)).length + fresh.length > this.#same
    if (!fresh.length || !more) return undefined
    const user = fresh.length === 1 ? fresh[0]! : fresh.reduce((a, b) => top(b) >= top(a) ? b : a)
    this.#accepted = user
    return this.#turn(user, users)
  }

  /** Reports whether an element is within a turn other than ours. */
  foreign(el: Element, ours: Turn | undefined): boolean {
    if (ours && [ours.user, ...ours.region].some((part) => contains(part, el))) return false
    const { turn, userTurn, answer } = this.#layout
    return [...(turn?.selector ?? []), ...userTurn, ...answer].some((selector) => closest(el, selector) !== null)
  }

  #users = () => this.#dom.first(this.#layout.userTurn)

  #container = (user: Element) => this.#layout.turn ? closest(user, this.#layout.turn.selector.join(',')) : null

  #key = (user: Element) => this.#container(user)?.getAttribute(this.#layout.turn!.key) ?? null

  #says(user: Element): boolean {
    const texts = this.#dom.first(this.#layout.userText, undefined, user)
    const els = texts.length ? texts : [user]
    const says = (text: string) => samePrompt(this.#prompt, text.slice(0, 2 * this.#prompt.length + 1000))
    return says(els.map((el) => el.textContent ?? '').join('\n')) ||
      // The page may render the prompt.
      els.some((el) => el.firstElementChild) && says(markdown(els, { base: '' }).text)
  }

  #turn(user: Element, users: Element[]): Turn {
    const container = this.#container(user)
    const next = users.filter((other) => order(user, other) < 0 && !contains(user, other)).sort(order)[0]
    const follows = (el: Element) => order(user, el) < 0 && (!next || order(el, next) < 0)
    const answers = outermost(
      container
        ? this.#dom.first(this.#layout.answer, undefined, container)
        : this.#dom.first(this.#layout.answer, follows),
    )
    return { user, answers, region: container ? [container] : answers }
  }
}

/** Pages may hold turns newest first. The lower turn on the screen is the later one. */
const top = (el: Element) => el.getBoundingClientRect().top

const outermost = (els: Element[]) => els.filter((el) => !els.some((other) => other !== el && contains(other, el)))
