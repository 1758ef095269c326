import { notes as thinkingNotes } from '../sites/phrases.ts'
import type { Layout } from '../sites/site.ts'
import type { TurnState } from '../drivermessages.ts'
import { Completion } from './completion.ts'
import type { Completed, OpenedRun } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { markdown } from './markdown/index.ts'
import { matched, nameOf, visible } from './matcher.ts'
import { contains, type ShadowDom } from './shadow.ts'
import { sent } from './send.ts'
import { tail } from './text.ts'
import type { Turn } from './turns.ts'

const partialUnits = (64 << 10) / 3
const partialEvery = 500

/** Returns our turn once the user has sent it, perhaps changed. If they open another conversation, it has answers. */
export function sentByUser(run: OpenedRun): Turn | undefined {
  const turn = sent(run)
  if (!turn || run.conversation() === run.home || run.page.stopButtons.length) return turn
  const text = new AnswerText(run.dom, run.page.layout)
  text.read(turn, true)
  if (!text.text) return turn
  run.turns.record()
  return undefined
}

/** Watches our turn until its answer is complete. */
export class AnswerWatch {
  readonly #run: OpenedRun
  readonly #completion: Completion
  readonly #text: AnswerText
  #partialAt = 0
  #partial = ''
  #scrolledAt = 0
  #state = ''

  constructor(run: OpenedRun, sentAt: number) {
    this.#run = run
    this.#completion = new Completion(run.times, sentAt)
    this.#text = new AnswerText(run.dom, run.page.layout)
  }

  async complete(): Promise<Completed> {
    const { waiter, signal } = this.#run
    return (await waiter.until(() => this.#look(), Infinity, signal))!
  }

  seen(): Partial<TurnState> {
    return {
      stopSeen: this.#completion.stopSeen,
      thinking: this.#state === 'thinking',
      answerLength: this.#text.text.length,
      quietMs: Math.round(performance.now() - this.#completion.changedAt),
    }
  }

  #look(): Completed | undefined {
    const run = this.#run
    const turn = run.turns.ours()
    const now = performance.now()
    this.#text.read(turn)
    if (turn) run.home = run.conversation()
    else this.#scrollToEnd(now)
    const verdict = this.#completion.see({
      now,
      answer: (turn?.answers.length ?? 0) > 0,
      length: this.#text.text.length,
      version: this.#text.version,
      stop: run.page.stopButtons.length > 0,
      thinking: this.#shows(turn, 'thinking'),
      skip: this.#shows(turn, 'skip'),
      end: this.#ended(turn),
      idle: run.page.fieldEmpty,
    })
    const isOver = verdict.state === 'complete' || verdict.state === 'no response'
    if (isOver && !turn && run.conversation() !== run.home)
      throw new DriverFailure('TAB_CLOSED', reasons.left(run.spec.label))
    if (verdict.state === 'no response')
      throw new DriverFailure('STUCK', reasons.noResponse(run.spec.label), { kind: 'no response' })
    if (verdict.state === 'complete') return this.#completed(turn, verdict.confidence, verdict.evidence)
    if (run.handedOver) {
      run.handedOver = false
      this.#text.read(turn, true)
      if (this.#text.text) return this.#completed(turn, 'medium', ['handed over by the person'])
    }
    this.#state = verdict.state
    run.phase(verdict.state)
    this.#postPartial(now)
    return undefined
  }

  #completed(turn: Turn | undefined, confidence: Completed['confidence'], evidence: string[]): Completed {
    this.#run.phase('reading')
    this.#text.read(turn, true)
    const { text: answer, truncated } = this.#text
    if (turn) return { answer, truncated, confidence, evidence }
    return {
      answer,
      truncated,
      confidence: confidence === 'high' ? 'medium' : 'low',
      evidence: [...evidence, 'turn no longer on the page: as last read'],
    }
  }

  #postPartial(now: number): void {
    const { text } = this.#text
    if (text === this.#partial || now - this.#partialAt < partialEvery) return
    this.#partial = text
    this.#partialAt = now
    this.#run.post({ type: 'partial', text: tail(text, partialUnits) })
  }

  #shows(turn: Turn | undefined, matcher: 'thinking' | 'skip'): boolean {
    const { dom, page } = this.#run
    return turn !== undefined && turn.region.some((part) => matched(dom, page.layout[matcher], part, part).length > 0)
  }

  /** Reports whether the turn shows the marks of a complete answer. */
  #ended(turn: Turn | undefined): boolean {
    if (!turn) return false
    const { dom, page: { layout } } = this.#run
    const counts = (el: Element) => el.checkVisibility() && !contains(turn.user, el)
    const named = (el: Element) => visible(el) && counts(el) && layout.endWords!.includes(nameOf(el))
    return turn.region.some((part) =>
      dom.first(layout.end, counts, part).length > 0 ||
      (layout.endWords !== undefined && dom.all('button, [role="button"]', part).some(named))
    )
  }

  /** Scrolls to the end, where our turn may be, because the page removed it. */
  #scrollToEnd(now: number): void {
    const { dom, page: { layout }, takeover } = this.#run
    if (takeover.paused || !layout.scroller || now - this.#scrolledAt < 1000) return
    this.#scrolledAt = now
    const scroller = dom.first(layout.scroller)[0]
    if (!scroller) return
    const reversed = getComputedStyle(scroller).flexDirection === 'column-reverse'
    scroller.scrollTop = reversed ? 0 : scroller.scrollHeight
  }
}

/** Keeps the answer as last read. Pages that virtualise remove a turn while it streams, or afterwards. */
class AnswerText {
  text = ''
  truncated = false
  /** Changes with the page's text. */
  version = 0
  readonly #dom: ShadowDom
  readonly #layout: Layout
  #raw = ''
  #stale = false
  /** The earliest time of the next conversion. */
  #next = 0

  constructor(dom: ShadowDom, layout: Layout) {
    this.#dom = dom
    this.#layout = layout
  }

  /**
   * Reads a changed text. Conversions take at most a sixth of the page's time. With `now` it converts in any case,
   * because addresses and marks around the text may have changed without it.
   */
  read(turn: Turn | undefined, now = false): void {
    if (!turn?.answers.length) return
    const { answerText, omit } = this.#layout
    const parts = turn.answers.flatMap((answer) => {
      const texts = this.#dom.first(answerText, undefined, answer)
      const outer = texts.filter((el) => !texts.some((other) => other !== el && other.contains(el)))
      return outer.length ? outer : answer.matches(answerText.join(',')) ? [answer] : []
    })
    const elements = parts.length ? parts : turn.answers
    const raw = elements.flatMap((el) => this.#dom.trees(el)).map((tree) =>
      `${tree.textContent}\u0000${tree.querySelectorAll('img').length}`
    ).join('\u0000')
    if (raw !== this.#raw) {
      this.#raw = raw
      this.version++
      this.#stale = true
    }
    const begun = performance.now()
    if (!now && (!this.#stale || begun < this.#next)) return
    const { text, truncated } = markdown(elements, { base: this.#dom.document.baseURI, omit, notes: thinkingNotes })
    this.#next = performance.now() + 5 * (performance.now() - begun)
    this.#stale = false
    if (!text && this.text) return
    this.text = text
    this.truncated = truncated
  }
}
