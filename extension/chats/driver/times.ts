import type { Site } from '../wire.ts'

/** How long the driver waits for what, in ms. */
export interface Times {
  /** For `document.readyState`, then for the field. */
  ready: number
  input: number
  /** For the page to come to rest before anything is typed. */
  settle: number
  /** For the turns of a conversation that goes on. */
  turns: number
  /** Until the stop button of an earlier answer counts as stuck. */
  stop: number
  /** Until text that was put in counts as not applied. */
  applied: number
  /** For trusted input by the background. */
  inserted: number
  /** For a send button to be there at all, and to be enabled. */
  button: number
  send: number
  /** For our turn, after each means of sending. */
  turn: number
  /** For an answer to begin, and if the site says that it works on one. */
  response: number
  working: number
  /** Text is quiet: beside end marks, after the stop button went, without ever one, without an idle field. */
  quietEnd: number
  quietGone: number
  quietUnseen: number
  quietLast: number
  /** Complete by its end marks, though the stop button stays, or though there is no text. */
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
