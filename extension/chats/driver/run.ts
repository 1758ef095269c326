import type { Answer, Seen } from '../wire.ts'
import { Awaited } from './await.ts'
import { asked, DriverFailure, troubled } from './failure.ts'
import { fill, restore } from './input.ts'
import { enabled, pressable } from './mark.ts'
import { open, ready } from './open.ts'
import { send, sent } from './send.ts'
import { set as adjust } from './settings.ts'
import { holdsPrompt, sendButtons, stopButtons, type Scene, type Stage } from './stage.ts'
import { trouble } from './trouble.ts'

/** One prompt and its answer. */
export class Run {
  readonly #stage: Stage
  readonly #begun = Date.now()
  #scene: Scene | undefined
  #awaited: Awaited | undefined
  #sent = false
  #touched = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async answer(): Promise<Answer> {
    const stage = this.#stage
    const { order, deep, pulse, signal } = stage
    const marks: [string, number][] = []
    const mark = (name: string) => marks.push([name, Date.now()])
    stage.phase('opening')
    const scene = this.#scene = Object.assign(stage, await open(stage))
    await ready(scene)
    mark('waitInputMs')
    stage.phase('input')
    scene.turns.record()
    await adjust(scene)
    this.#touched = true
    await fill(scene)
    mark('inputMs')
    if (order.mode === 'auto') {
      stage.phase('sending')
      await send(scene)
    } else {
      stage.phase('handover')
      await pulse.until(() => sent(scene), Infinity, signal)
    }
    this.#sent = true
    mark('sendMs')
    stage.phase('waiting')
    this.#awaited = new Awaited(scene, Date.now())
    const completed = await this.#awaited.complete()
    mark('waitResponseMs')
    const id = () =>
      new RegExp(stage.profile.conversation).exec(deep.document.location.pathname + deep.document.location.search)?.[1]
    const conversationId = await pulse.until(id, 400, signal) ?? null
    const timings = Object.fromEntries(marks.map(([name, at], i) => [name, at - (marks[i - 1]?.[1] ?? this.#begun)]))
    return {
      ...completed,
      evidence: [...completed.evidence, ...stage.notes],
      url: deep.document.location.href.replace(/#.*/s, ''),
      conversationId,
      timings: { ...timings, totalMs: Date.now() - this.#begun },
      layout: scene.layout.name,
    }
  }

  /** On each tick: what ends a run from the outside. */
  watch(): DriverFailure | undefined {
    const { order, deep, profile, person } = this.#stage
    const scene = this.#scene
    if (Date.now() >= order.deadline) {
      if (person.paused) return new DriverFailure('PAUSED_BY_USER', asked.paused(profile.label))
      if (scene && order.mode === 'assist' && !this.#sent)
        return new DriverFailure('TIMEOUT', asked.handover(profile.label))
      return new DriverFailure('TIMEOUT', asked.timeout(profile.label, this.#words()))
    }
    if (!scene) return undefined
    const ours = scene.turns.ours()
    const code = trouble(deep, profile, (el) => !scene.turns.foreign(el, ours))
    return code && new DriverFailure(code, troubled[code](profile.label))
  }

  /** Presses the site's stop button if it works on our prompt, and waits until it is gone. */
  async stop(): Promise<void> {
    const scene = this.#scene
    // What was there before we typed is none of ours.
    if (!scene || !this.#touched) return
    const { signal } = new AbortController()
    const button = () => stopButtons(scene)[0]
    const press = button() ?? (holdsPrompt(scene) ? undefined : await scene.pulse.until(button, 400, signal))
    if (!press) return
    pressable(press).click()
    await scene.pulse.until(() => !button(), 1000, signal)
  }

  /** The field is left as the person had it. */
  leave(failed: boolean): void {
    const scene = this.#scene
    if (scene && this.#touched && (this.#stage.order.mode === 'auto' || this.#sent) && (failed || scene.draft))
      restore(scene)
  }

  seen(phase: Seen['phase']): Seen {
    const scene = this.#scene
    return {
      phase,
      layout: scene?.layout.name ?? '',
      stopSeen: false,
      stopVisible: scene ? stopButtons(scene).length > 0 : false,
      thinking: false,
      sendEnabled: scene ? sendButtons(scene).some(enabled) : false,
      turnFound: scene?.turns.ours() !== undefined,
      answerLength: 0,
      quietMs: 0,
      ...this.#awaited?.seen(),
    }
  }

  #words(): string {
    const { stopSeen, stopVisible, thinking, turnFound, answerLength, quietMs } = this.seen('waiting')
    return `sawStopButton=${stopSeen}, stopButton=${stopVisible}, thinking=${thinking}, turnFound=${turnFound}, answerLength=${answerLength}, quietMs=${quietMs}`
  }
}
