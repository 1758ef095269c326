import { knownNames } from '../../shared/fields.ts'
import { RegistryError } from '../../shared/registry-error.ts'

/** The error for a format that a method does not know. */
export function unknownFormat(format: unknown, known: readonly string[]): RegistryError {
  const shown = typeof format === 'string' ? JSON.stringify(format) : `of type ${typeof format}`
  return new RegistryError('invalid_option', `unknown format ${shown}`, { hint: knownNames('', known) })
}
