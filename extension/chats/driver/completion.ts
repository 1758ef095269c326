import type { Answer, Phase } from '../drivermessages.ts'
import type { Times } from './times.ts'

/** The findings of one look at our turn. */
export interface Look {
  /** In ms of performance.now(): the clock may be set meanwhile. */
  now: number
  /** The turn has an answer's element. */
  answer: boolean
  /** Length of the answer's Markdown. */
  length: number
  /** Changes with the answer's raw text. */
  version: number
  stop: boolean
  thinking: boolean
  skip: boolean
  /** The site's marks of a complete answer are in our turn. */
  end: boolean
  /** The field is empty again. */
  idle: boolean
}

type Complete = Pick<Answer, 'confidence' | 'evidence'>
export type Verdict =
  | { state: Extract<Phase, 'waiting' | 'thinking' | 'answering'> }
  | { state: 'complete' } & Complete
  | { state: 'no response' }

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`

/** Decides from look to look whether our answer is complete. Time comes from the looks. It never reads the page. */
export class Completion {
  stopSeen = false
  /** When the text last changed. */
  changedAt: number
  readonly #times: Times
  readonly #sentAt: number
  /** When the site last showed that it works. */
  #busyAt: number
  /** Since when the end marks are there. */
  #endAt: number | null = null
  #version = -1
  #begun = false

  constructor(times: Times, sentAt: number) {
    this.#times = times
    this.#sentAt = this.changedAt = this.#busyAt = sentAt
  }

  see(look: Look): Verdict {
    const { now } = look
    const t = this.#times
    const thinks = look.thinking || look.skip
    if (look.version !== this.#version) {
      this.#version = look.version
      this.changedAt = now
    }
    this.stopSeen ||= look.stop
    this.#begun ||= look.length > 0 || thinks
    if (look.stop || thinks) this.#busyAt = now
    this.#endAt = look.end ? this.#endAt ?? now : null
    if (!this.#begun && !look.end) {
      const working = look.stop && look.answer
      return now - this.#sentAt >= (working ? t.working : t.response) ? { state: 'no response' } : { state: 'waiting' }
    }
    if (thinks) return { state: 'thinking' }
    const complete = this.#complete(look)
    if (complete) return { state: 'complete', ...complete }
    return { state: look.length > 0 ? 'answering' : 'waiting' }
  }

  /** Tries the signs by falling certainty. */
  #complete(look: Look): Complete | undefined {
    const t = this.#times
    const quiet = look.now - this.changedAt
    const gone = look.now - this.#busyAt
    const marked = look.end ? look.now - this.#endAt! : 0
    const stop = this.stopSeen ? 'stop gone' : 'stop never seen'
    const stable = `text stable ${seconds(quiet)}`
    if (look.length === 0 && !(look.end && !look.stop && quiet >= t.empty)) return undefined
    if (look.end && look.stop) {
      if (Math.min(quiet, marked) < t.frozen) return undefined
      return { confidence: 'low', evidence: ['feedback buttons', 'stop button stays', stable] }
    }
    if (look.length === 0) return { confidence: 'low', evidence: [stop, 'feedback buttons', 'no text'] }
    if (look.end && quiet >= t.quietEnd) {
      if (this.stopSeen) return { confidence: 'high', evidence: [stop, 'feedback buttons'] }
      // An answer may only look complete if the site never showed that it works. So the marks must stay a moment.
      if (marked >= 2 * t.quietEnd) return { confidence: 'high', evidence: ['feedback buttons', stop] }
    }
    const still = Math.min(gone, quiet)
    if (this.stopSeen && look.idle && still >= t.quietGone)
      return { confidence: 'medium', evidence: [stop, 'field empty', stable] }
    if (look.idle && still >= t.quietUnseen) return { confidence: 'low', evidence: [stop, 'field empty', stable] }
    if (still >= t.quietLast) return { confidence: 'low', evidence: [stop, stable] }
    return undefined
  }
}
