// A tool's result on its way from the platform to the caller.

import { mayLoseDigits, memberText } from './json.ts'
import { finish, type Steps } from './yield.ts'

/**
 * A result, and its JSON text where parsing loses digits; or, if it is large, the bytes
 * of the message that it came in, which cross realms without being copied.
 */
export type ResultBody = { value: unknown; raw?: string } | { message: Uint8Array }

/** Throws if the message is not JSON. `done` hears of it once it is decoded. */
export function* opening(
  answer: ResultBody,
  done?: (message: Uint8Array) => void,
): Steps<{ value: unknown; raw?: string }> {
  if (!('message' in answer)) return answer
  const text = new TextDecoder().decode(answer.message)
  done?.(answer.message)
  yield
  const { result } = JSON.parse(text) as { result: unknown }
  yield
  const raw = mayLoseDigits(text) ? memberText(text, 'result') : undefined
  return { value: result, ...(raw !== undefined && { raw }) }
}

/** The same, all at once. */
export const opened = (answer: ResultBody): { value: unknown; raw?: string } => finish(opening(answer))
