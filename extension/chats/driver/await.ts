import { DriverFailure, asked } from './failure.ts'
import { contains } from './deep.ts'
import { Completion } from './completion.ts'
import { marked, nameOf, visible } from './mark.ts'
import { notes } from '../words.ts'
import { Reading } from './reading.ts'
import { fieldEmpty, stopButtons, type Completed, type Scene } from './stage.ts'
import { tail } from './text.ts'
import type { Turn } from './turns.ts'
import type { Seen } from '../wire.ts'

const partialBytes = 64 << 10
const partialEvery = 500

/** Looks at our turn until its answer is complete. */
export class Awaited {
  readonly #scene: Scene
  readonly #completion: Completion
  readonly #reading: Reading
  #partialAt = 0
  #partial = ''
  #scrolledAt = 0
  #state = ''

  constructor(scene: Scene, sentAt: number) {
    this.#scene = scene
    this.#completion = new Completion(scene.times, sentAt)
    this.#reading = new Reading(scene.deep, scene.layout, notes)
  }

  async complete(): Promise<Completed> {
    const { pulse, signal } = this.#scene
    return (await pulse.until(() => this.#look(), Infinity, signal))!
  }

  /** Our turn. Each look finds it again, because pages replace elements. */
  get turn(): Turn | undefined {
    return this.#scene.turns.ours()
  }

  seen(): Partial<Seen> {
    return {
      stopSeen: this.#completion.stopSeen,
      thinking: this.#state === 'thinking',
      answerLength: this.#reading.text.length,
      quietMs: Date.now() - this.#completion.changedAt,
    }
  }

  #look(): Completed | undefined {
    const { turn } = this
    const scene = this.#scene
    const now = Date.now()
    this.#reading.look(turn)
    if (!turn) this.#bringBack(now)
    const verdict = this.#completion.see({
      now,
      turn: turn !== undefined,
      answer: (turn?.answers.length ?? 0) > 0,
      length: this.#reading.text.length,
      version: this.#reading.version,
      stop: stopButtons(scene).length > 0,
      thinking: this.#within(turn, 'thinking'),
      skip: this.#within(turn, 'skip'),
      end: this.#ended(turn),
      idle: fieldEmpty(scene),
    })
    if (verdict.state === 'no response')
      throw new DriverFailure('STUCK', asked.noResponse(scene.profile.label), { kind: 'no response' })
    if (verdict.state === 'complete') return this.#read(turn, verdict.confidence, verdict.evidence)
    if (scene.handed) {
      scene.handed = false
      this.#reading.look(turn, true)
      if (this.#reading.text) return this.#read(turn, 'medium', ['handed over by the person'])
    }
    this.#state = verdict.state
    scene.phase(verdict.state)
    this.#tell(now)
    return undefined
  }

  #read(turn: Turn | undefined, confidence: Completed['confidence'], evidence: string[]): Completed {
    this.#scene.phase('reading')
    this.#reading.look(turn, true)
    const { text, truncated } = this.#reading
    if (turn) return { answer: text, truncated, confidence, evidence }
    return {
      answer: text,
      truncated,
      confidence: confidence === 'high' ? 'medium' : 'low',
      evidence: [...evidence, 'turn no longer on the page: as last read'],
    }
  }

  #tell(now: number): void {
    if (this.#reading.text === this.#partial || now - this.#partialAt < partialEvery) return
    this.#partial = this.#reading.text
    this.#partialAt = now
    this.#scene.post({ type: 'partial', text: tail(this.#partial, partialBytes / 3) })
  }

  #within(turn: Turn | undefined, mark: 'thinking' | 'skip'): boolean {
    const { deep, layout } = this.#scene
    return turn !== undefined && turn.region.some((part) => marked(deep, layout[mark], part, part).length > 0)
  }

  #ended(turn: Turn | undefined): boolean {
    if (!turn) return false
    const { deep, layout } = this.#scene
    const counts = (el: Element) => el.checkVisibility() && !contains(turn.user, el)
    return turn.region.some((part) =>
      deep.first(layout.end, counts, part).length > 0 ||
      (layout.endWords !== undefined && deep.all('button, [role="button"]', part).some((el) =>
        visible(el) && counts(el) && layout.endWords!.includes(nameOf(el))
      ))
    )
  }

  /** The page took our turn away: its end, where it may be, is scrolled to. */
  #bringBack(now: number): void {
    const { deep, layout, person } = this.#scene
    if (person.paused || !layout.scroller || now - this.#scrolledAt < 1000) return
    this.#scrolledAt = now
    const scroller = deep.first(layout.scroller)[0]
    if (!scroller) return
    const reversed = getComputedStyle(scroller).flexDirection === 'column-reverse'
    scroller.scrollTop = reversed ? 0 : scroller.scrollHeight
  }
}
