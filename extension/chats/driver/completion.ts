import type { Answer, Phase } from '../wire.ts'
import type { Times } from './times.ts'

/** What one look at the page found of our turn. */
export interface Sight {
  /** ms since the epoch. */
  now: number
  /** Our turn is on the page; virtualised pages take it away. */
  turn: boolean
  /** It has an answer's element. */
  answer: boolean
  /** Of the answer's Markdown. */
  length: number
  /** Another whenever the answer's raw text is another. */
  version: number
  stop: boolean
  thinking: boolean
  skip: boolean
  /** The site's marks of a complete answer, within ours. */
  end: boolean
  /** The field is empty again. */
  idle: boolean
}

export type Verdict =
  | { state: Extract<Phase, 'waiting' | 'thinking' | 'answering'> }
  | { state: 'complete'; confidence: Answer['confidence']; evidence: string[] }
  | { state: 'no response' }

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`

/**
 * Decides from one look to the next whether the answer of our turn is complete. It
 * knows time only from what it is shown, and nothing of the page.
 */
export class Completion {
  stopSeen = false
  /** When the text last changed. */
  changedAt: number
  readonly #times: Times
  readonly #sentAt: number
  #goneAt: number
  #endAt: number | null = null
  #version = -1
  #begun = false

  constructor(times: Times, sentAt: number) {
    this.#times = times
    this.#sentAt = this.changedAt = this.#goneAt = sentAt
  }

  see(sight: Sight): Verdict {
    const { now } = sight
    const t = this.#times
    if (sight.version !== this.#version) {
      this.#version = sight.version
      this.changedAt = now
    }
    const busy = sight.stop || sight.thinking || sight.skip
    this.stopSeen ||= sight.stop
    this.#begun ||= sight.length > 0 || sight.thinking || sight.skip
    if (busy) this.#goneAt = now
    if (!sight.end) this.#endAt = null
    else this.#endAt ??= now
    if (!this.#begun && !sight.end) {
      const working = sight.stop && sight.answer
      return now - this.#sentAt >= (working ? t.working : t.response) ? { state: 'no response' } : { state: 'waiting' }
    }
    const quiet = now - this.changedAt
    const gone = now - this.#goneAt
    const done = sight.thinking || sight.skip ? undefined : this.#decide(sight, quiet, gone)
    if (done) return { state: 'complete', ...done }
    return {
      state: sight.length > 0 && !sight.thinking && !sight.skip
        ? 'answering'
        : sight.thinking || sight.skip
        ? 'thinking'
        : 'waiting',
    }
  }

  /** By falling certainty. */
  #decide(
    sight: Sight,
    quiet: number,
    gone: number,
  ): { confidence: Answer['confidence']; evidence: string[] } | undefined {
    const t = this.#times
    const stop = this.stopSeen ? 'stop gone' : 'stop never seen'
    if (sight.length === 0 && !(sight.end && !sight.stop && quiet >= t.empty)) return undefined
    if (sight.end && sight.stop) {
      const since = Math.min(quiet, sight.now - this.#endAt!)
      return since >= t.frozen
        ? { confidence: 'low', evidence: ['feedback buttons', 'stop button stays', `text stable ${seconds(quiet)}`] }
        : undefined
    }
    if (sight.length === 0) return { confidence: 'low', evidence: [stop, 'feedback buttons', 'no text'] }
    if (sight.end && quiet >= t.quietEnd) {
      if (this.stopSeen) return { confidence: 'high', evidence: [stop, 'feedback buttons'] }
      // What never was seen at work may only look complete; its marks must have stayed a moment.
      if (sight.now - this.#endAt! >= 2 * t.quietEnd)
        return { confidence: 'high', evidence: ['feedback buttons', stop] }
    }
    const stable = `text stable ${seconds(quiet)}`
    if (this.stopSeen && sight.idle && gone >= t.quietGone && quiet >= t.quietGone)
      return { confidence: 'medium', evidence: [stop, 'field empty', stable] }
    if (sight.idle && gone >= t.quietUnseen && quiet >= t.quietUnseen)
      return { confidence: 'low', evidence: [stop, 'field empty', stable] }
    if (gone >= t.quietLast && quiet >= t.quietLast) return { confidence: 'low', evidence: [stop, stable] }
    return undefined
  }
}
