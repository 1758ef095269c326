import { DriverFailure, asked } from './failure.ts'
import { contains } from './deep.ts'
import { Completion } from './completion.ts'
import { marked, nameOf, visible } from './mark.ts'
import { notes } from '../words.ts'
import { Reading } from './reading.ts'
import { fieldEmpty, stopButtons, type Completed, type Set } from './stage.ts'
import { tail } from './text.ts'
import type { Turn } from './turns.ts'
import type { Seen } from '../wire.ts'

const partialBytes = 64 << 10
const partialEvery = 500

/** Looks at our turn until its answer is complete. */
export class Awaited {
  readonly #set: Set
  readonly #completion: Completion
  readonly #reading: Reading
  #partialAt = 0
  #partial = ''
  #scrolledAt = 0
  #state = ''

  constructor(set: Set, sentAt: number) {
    this.#set = set
    this.#completion = new Completion(set.times, sentAt)
    this.#reading = new Reading(set.deep, set.layout, notes)
  }

  async complete(): Promise<Completed> {
    const { pulse, signal } = this.#set
    return (await pulse.until(() => this.#look(), Infinity, signal))!
  }

  /** Our turn, found anew at each look: pages make elements anew. */
  get turn(): Turn | undefined { return this.#set.turns.ours() }

  seen(): Partial<Seen> {
    return { stopSeen: this.#completion.stopSeen, thinking: this.#state === 'thinking', answerLength: this.#reading.text.length, quietMs: Date.now() - this.#completion.changedAt }
  }

  #look(): Completed | undefined {
    const { turn } = this
    const set = this.#set
    const now = Date.now()
    this.#reading.look(turn)
    if (!turn) this.#bringBack(now)
    const verdict = this.#completion.see({
      now, turn: turn !== undefined, answer: (turn?.answers.length ?? 0) > 0, length: this.#reading.text.length, version: this.#reading.version,
      stop: stopButtons(set).length > 0, thinking: this.#within(turn, 'thinking'), skip: this.#within(turn, 'skip'), end: this.#ended(turn), idle: fieldEmpty(set),
    })
    if (verdict.state === 'no response') throw new DriverFailure('STUCK', asked.noResponse(set.profile.label), { kind: 'no response' })
    if (verdict.state === 'complete') return this.#read(turn, verdict.confidence, verdict.evidence)
    if (set.handed) {
      set.handed = false
      this.#reading.look(turn, true)
      if (this.#reading.text) return this.#read(turn, 'medium', ['handed over by the person'])
    }
    this.#state = verdict.state
    set.phase(verdict.state)
    this.#tell(now)
    return undefined
  }

  #read(turn: Turn | undefined, confidence: Completed['confidence'], evidence: string[]): Completed {
    this.#set.phase('reading')
    this.#reading.look(turn, true)
    const { text, truncated } = this.#reading
    if (turn) return { answer: text, truncated, confidence, evidence }
    return { answer: text, truncated, confidence: confidence === 'high' ? 'medium' : 'low', evidence: [...evidence, 'turn no longer on the page: as last read'] }
  }

  #tell(now: number): void {
    if (this.#reading.text === this.#partial || now - this.#partialAt < partialEvery) return
    this.#partial = this.#reading.text
    this.#partialAt = now
    this.#set.post({ type: 'partial', text: tail(this.#partial, partialBytes / 3) })
  }

  #within(turn: Turn | undefined, mark: 'thinking' | 'skip'): boolean {
    const { deep, layout } = this.#set
    return turn !== undefined && turn.region.some((part) => marked(deep, layout[mark], part, part).length > 0)
  }

  #ended(turn: Turn | undefined): boolean {
    if (!turn) return false
    const { deep, layout } = this.#set
    const counts = (el: Element) => el.checkVisibility() && !contains(turn.user, el)
    return turn.region.some((part) => deep.first(layout.end, counts, part).length > 0
      || (layout.endWords !== undefined && deep.all('button, [role="button"]', part).some((el) => visible(el) && counts(el) && layout.endWords!.includes(nameOf(el)))))
  }

  /** The page took our turn away: its end, where it may be, is scrolled to. */
  #bringBack(now: number): void {
    const { deep, layout, person } = this.#set
    if (person.paused || !layout.scroller || now - this.#scrolledAt < 1000) return
    this.#scrolledAt = now
    const scroller = deep.first(layout.scroller)[0]
    if (!scroller) return
    const reversed = getComputedStyle(scroller).flexDirection === 'column-reverse'
    scroller.scrollTop = reversed ? 0 : scroller.scrollHeight
  }
}
