// The result of a tool between the platform and the caller.

import { mayLoseDigits, memberText } from './json.ts'

/** A value, and its JSON text if parsing loses digits. */
export interface Opened {
  value: unknown
  readonly raw?: string | undefined
}

/**
 * A result. If it is large or has large integers, the text of its message, which the page parses. `ordinary`: its
 * strings have no hidden characters.
 */
export type ResultBody = Opened | { message: string; ordinary: boolean }

/** Opens a result. Throws if the message is not JSON. The text is searched only if somebody reads `raw`. */
export function opened(answer: ResultBody): Opened {
  if (!('message' in answer)) return answer
  const text = answer.message
  return {
    value: (JSON.parse(text) as { result: unknown }).result,
    get raw() {
      return mayLoseDigits(text) ? memberText(text, 'result') : undefined
    },
  }
}
