import type { Answer, PageDebug, TurnState } from '../drivermessages.ts'
import { suspicious } from '../suspicious.ts'
import { AnswerWatch, sentByUser } from './answer.ts'
import type { OpenedRun, RunContext } from './context.ts'
import { DriverFailure, noticeReasons, reasons } from './failure.ts'
import { fill, restore } from './input.ts'
import { enabled, pressable } from './matcher.ts'
import { pageDebug } from './debug.ts'
import { answeredBy } from './models.ts'
import { open, ready } from './open.ts'
import { noticeOn } from './page.ts'
import { send } from './send.ts'
import { applySettings } from './settings.ts'

/** Carries out one order: one prompt and its answer. */
export class PromptRun {
  readonly #context: RunContext
  readonly #begun = performance.now()
  #opened: OpenedRun | undefined
  #watch: AnswerWatch | undefined
  #sent = false
  #touched = false

  constructor(context: RunContext) {
    this.#context = context
  }

  async answer(): Promise<Answer> {
    const context = this.#context
    const { order, dom: { document }, waiter, signal, spec, takeover, conversation } = context
    const timings: Record<string, number> = {}
    let since = this.#begun
    const took = (name: string) => {
      const now = performance.now()
      timings[name] = Math.round(now - since)
      since = now
    }
    context.phase('opening')
    const run = this.#opened = Object.assign(context, await open(context))
    takeover.onreturn = () => {
      if (conversation() !== run.home && !run.turns.ours())
        throw new DriverFailure('TAB_CLOSED', reasons.left(spec.label))
    }
    await ready(run)
    took('waitInputMs')
    context.phase('input')
    run.turns.record()
    await applySettings(run)
    this.#touched = true
    await fill(run)
    took('inputMs')
    context.phase(order.mode === 'auto' ? 'sending' : 'handover')
    if (order.mode === 'auto') await send(run)
    else await waiter.until(() => sentByUser(run), Infinity, signal)
    this.#sent = true
    took('sendMs')
    context.phase('waiting')
    this.#watch = new AnswerWatch(run, performance.now())
    const completed = await this.#watch.complete()
    took('waitResponseMs')
    const conversationId = await waiter.until(conversation, 400, signal) ?? null
    const model = answeredBy(run, run.turns.ours()?.answers ?? [])
    const odd = suspicious(order.prompt, completed.answer)
    return {
      ...completed,
      model,
      flags: odd ? ['suspicious_answer'] : [],
      ...(odd && { debug: this.debug() }),
      evidence: [...completed.evidence, ...(model ? [`model: ${model}`] : []), ...context.notes],
      url: document.location.href.replace(/#.*/s, ''),
      conversationId,
      timings: { ...timings, totalMs: Math.round(performance.now() - this.#begun) },
      layout: run.page.layout.name,
    }
  }

  /** Returns why the run must end now: its deadline, or a notice of the page. Called on each tick. */
  problem(): DriverFailure | undefined {
    const { order, ends, dom, spec, takeover } = this.#context
    const run = this.#opened
    if (performance.now() >= ends) {
      if (takeover.paused) return new DriverFailure('PAUSED_BY_USER', reasons.paused(spec.label))
      const unsent = run && order.mode === 'assist' && !this.#sent
      return new DriverFailure(
        'TIMEOUT',
        unsent ? reasons.handover(spec.label) : reasons.timeout(spec.label, this.#seenText()),
      )
    }
    if (!run) return undefined
    const ours = run.turns.ours()
    // A link in our turn is the answer's own.
    const code = noticeOn(dom, spec, (el) => !run.turns.foreign(el, el.matches('a') ? undefined : ours))
    return code && new DriverFailure(code, noticeReasons[code](spec.label))
  }

  /** Presses the site's stop button if the site works on our prompt, and waits until the button is gone. */
  async stop(): Promise<void> {
    const run = this.#opened
    // Before we typed, the site's work is not ours.
    if (!run || !this.#touched) return
    const { page, waiter, order } = run
    const { signal } = new AbortController()
    const button = () => page.stopButtons[0]
    const press = button() ?? (page.holds(order.prompt) ? undefined : await waiter.until(button, 400, signal))
    if (!press) return
    pressable(press).click()
    await waiter.until(() => !button(), 1000, signal)
  }

  /** Restores the user's draft. */
  async leave(failed: boolean): Promise<void> {
    const run = this.#opened
    if (run && this.#touched && (run.order.mode === 'auto' || this.#sent) && (failed || run.draft))
      await restore(run)
  }

  /** Returns the state of the page, or nothing if its layout is not known. */
  debug(): PageDebug | undefined {
    try {
      return this.#opened && pageDebug(this.#opened, !!this.#context.order.debugTexts)
    } catch { // a page can break what it is asked
      return undefined
    }
  }

  seen(phase: TurnState['phase']): TurnState {
    const run = this.#opened
    return {
      phase,
      layout: run?.page.layout.name ?? '',
      stopSeen: false,
      stopVisible: run ? run.page.stopButtons.length > 0 : false,
      thinking: false,
      sendEnabled: run ? run.page.sendButtons.some(enabled) : false,
      turnFound: run?.turns.ours() !== undefined,
      answerLength: 0,
      quietMs: 0,
      ...this.#watch?.seen(),
    }
  }

  #seenText(): string {
    const { stopSeen, stopVisible, thinking, turnFound, answerLength, quietMs } = this.seen('waiting')
    return `sawStopButton=${stopSeen}, stopButton=${stopVisible}, thinking=${thinking}, turnFound=${turnFound}, ` +
      `answerLength=${answerLength}, quietMs=${quietMs}`
  }
}
