import type { Site } from '../drivermessages.ts'

/** The driver's waits, in ms. */
export type Times = ReturnType<typeof timesFor>

export function timesFor(site: Site) {
  const slow = site === 'chatgpt'
  return {
    /** For `document.readyState`, then for the field. */
    ready: 30_000,
    input: slow ? 30_000 : 15_000,
    /** For the page to rest before anything is typed. */
    settle: 500,
    /** For the turns of a conversation that continues. */
    turns: 10_000,
    /** Until the stop button of an earlier answer counts as stuck. */
    stop: 5000,
    /** Until an inserted text counts as not applied. */
    applied: 600,
    /** For trusted input by the background. */
    inserted: 10_000,
    /** For a send button to appear, and to be enabled. */
    button: 10_000,
    send: 60_000,
    /** For our turn, after each means of sending. */
    turn: slow ? 15_000 : 8000,
    /** For an answer to begin, and for one that the site says it works on. */
    response: 30_000,
    working: 90_000,
    /** Quiet text: with end marks, after the stop button left, without a stop button, with text in the field. */
    quietEnd: 100,
    quietGone: 4000,
    quietUnseen: 5000,
    quietLast: 10_000,
    /** With end marks, until the answer is complete despite its stop button, or despite missing text. */
    frozen: 15_000,
    empty: 3000,
  }
}
