import type { Site } from '../protocol.ts'

/** The driver's waits, in ms. */
export interface Times {
  /** For `document.readyState`, then for the field. */
  ready: number
  input: number
  /** For the page to rest before anything is typed. */
  settle: number
  /** For the turns of a conversation that continues. */
  turns: number
  /** Until the stop button of an earlier answer counts as stuck. */
  stop: number
  /** Until an inserted text counts as not applied. */
  applied: number
  /** For trusted input by the background. */
  inserted: number
  /** For a send button to appear, and to be enabled. */
  button: number
  send: number
  /** For our turn, after each means of sending. */
  turn: number
  /** For an answer to begin, and for one that the site says it works on. */
  response: number
  working: number
  /** Quiet text: with end marks, after the stop button left, without a stop button, with text in the field. */
  quietEnd: number
  quietGone: number
  quietUnseen: number
  quietLast: number
  /** With end marks, until the answer is complete despite its stop button, or despite missing text. */
  frozen: number
  empty: number
}

export function timesFor(site: Site): Times {
  const slow = site === 'chatgpt'
  return {
    ready: 30_000,
    input: slow ? 30_000 : 15_000,
    settle: 500,
    turns: 10_000,
    stop: 5000,
    applied: 600,
    inserted: 10_000,
    button: 10_000,
    send: 60_000,
    turn: slow ? 15_000 : 8000,
    response: 30_000,
    working: 90_000,
    quietEnd: 100,
    quietGone: 4000,
    quietUnseen: 5000,
    quietLast: 10_000,
    frozen: 15_000,
    empty: 3000,
  }
}
