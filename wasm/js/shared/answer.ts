// The result of a tool between the platform and the caller.

import { mayLoseDigits, memberText } from './json.ts'
import { finish, type Steps } from './yield.ts'

/**
 * A result, with its JSON text if parsing loses digits. Or, if it is large, the bytes of its message, which are
 * transferred between realms without a copy.
 */
export type ResultBody = { value: unknown; raw?: string } | { message: Uint8Array }

/** Opens a result step by step. Throws if the message is not JSON. `done` is called once the bytes are decoded. */
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

/** Opens a result in one step. */
export const opened = (answer: ResultBody): { value: unknown; raw?: string } => finish(opening(answer))
