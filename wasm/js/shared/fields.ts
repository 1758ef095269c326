import { isObject } from './object.ts'
import { RegistryError } from './registry-error.ts'
import type { RegistryErrorDetails } from './types.ts'

/** The error of a wrong option. */
export const invalidOption = (message: string, details?: RegistryErrorDetails): RegistryError =>
  new RegistryError('invalid_option', message, details)

/** The fault in the options of a method, if there is one. `known` has a space between two names. */
export function fieldFault(
  method: string,
  options: unknown,
  known: string,
): { message: string; hint: string } | undefined {
  if (options === undefined) return
  const names = known.split(' ')
  const object = isObject(options)
  const name = object ? Object.keys(options).find((field) => !names.includes(field)) : ''
  if (name === undefined) return
  return {
    message: object ? `unknown option "${name}" of ${method}` : `the options of ${method} are not an object`,
    hint: knownNames(name, names),
  }
}

/** Whether a value is an AbortSignal. One of another realm is no instance of this one's class. */
export const isSignal = (value: unknown): boolean =>
  (value as Record<symbol, unknown> | null)?.[Symbol.toStringTag] === 'AbortSignal'

/** Throws a RegistryError for wrong options of a method. */
export function checkFields(method: string, options: unknown, known: string): void {
  const fault = fieldFault(method, options, known)
  if (fault) throw invalidOption(fault.message, fault)
  const signal = (options as { signal?: unknown } | undefined)?.signal
  if (signal != null && !isSignal(signal)) throw invalidOption('signal is not an AbortSignal')
}

/** A hint for an unknown name: the known one that was probably meant, and all known ones. */
export function knownNames(name: string, known: readonly string[]): string {
  const meant = known.find((other) => alike(name.toLowerCase(), other.toLowerCase()))
  return `${meant ? `Did you mean ${meant}? ` : ''}Known are ${known.join(', ')}.`
}

/** Whether one name contains the other, or at most two letters differ. */
function alike(a: string, b: string): boolean {
  if (a.length < 3 || a.length > 40) return false
  if (a.includes(b) || b.includes(a)) return true
  // The edit distance of Levenshtein. `row` has that of the letters of a so far to each beginning of b.
  let row = [...b, b].map((_, i) => i)
  for (const letter of a) {
    let left = row[0]! + 1
    row = row.map((above, i) => left = i ? Math.min(above + 1, left + 1, row[i - 1]! + +(letter !== b[i - 1])) : left)
  }
  return row.at(-1)! <= Math.min(2, b.length / 3)
}
