import { knownNames } from '../shared/fields.ts'
import { RegistryError } from '../shared/registry-error.ts'
import type { Limits } from '../shared/types.ts'
import { limitDefaults } from '../shared/wire.gen.ts'

const limitNames = Object.keys(limitDefaults satisfies Limits)

/** Throws a RegistryError that names a wrong limit. */
export function checkLimits(limits: object): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!limitNames.includes(name)) {
      throw new RegistryError('invalid_option', `unknown limit "${name}"`, {
        hint: knownNames(name, limitNames),
      })
    }
    if (!Number.isSafeInteger(value) || (value as number) <= 0)
      throw new RegistryError('invalid_option', `limit "${name}" is not a whole number above 0`)
  }
}
