import { eventsOf, type Put } from '../loop/events.ts'
import type { Run, RunEvent, RunMetrics } from './types.ts'

/** The base of runs here and at an endpoint: events for one reader, counts, and a question for the person. */
export abstract class AskingRun implements Run {
  readonly metrics: RunMetrics = {
    modelCalls: 0,
    toolCalls: 0,
    retries: 0,
    cacheHits: 0,
    results: 0,
    listed: 0,
    clarifications: 0,
    removedLinks: 0,
    ms: {},
  }
  readonly #events = eventsOf<RunEvent>((put, reader) => this.work(put, reader))
  #answer: ((text: string) => void) | undefined

  /** Puts the events of the run, until the reader's signal ends. */
  protected abstract work(put: Put<RunEvent>, reader: AbortSignal): Promise<void>

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.#events
  }

  reply(text: string): boolean {
    const answer = this.#answer
    if (!answer || !text.trim()) return false
    this.#answer = undefined
    answer(text)
    return true
  }

  /** Puts a question to the person, and gives their reply, or what comes of `end` before it. */
  protected async ask<End>(put: Put<RunEvent>, question: string, end: Promise<End>): Promise<string | End> {
    try {
      const reply = new Promise<string>((resolve) => {
        this.#answer = resolve
        put({ type: 'clarify', question })
      })
      return await Promise.race([reply, end])
    } finally {
      this.#answer = undefined
    }
  }
}
