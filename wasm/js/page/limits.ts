import { RegistryError } from '../shared/registry-error.ts'

const limitNames = [
  'responseBytes',
  'eventBytes',
  'errorBytes',
  'definitionBytes',
  'depth',
  'pages',
  'toolsPerServer',
  'tools',
  'listBytes',
  'resultBytes',
  'resultValues',
  'eventsPerSecond',
  'pingsPerSecond',
  'messageBytes',
  'memoryBytes',
  'descriptionBytes',
  'connects',
  'schemaDepth',
  'schemaNodes',
  'enumValues',
]

/** Throws a RegistryError that names a wrong limit. */
export function checkLimits(limits: object): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!limitNames.includes(name)) {
      throw new RegistryError('invalid_option', `unknown limit "${name}"`, {
        hint: `Known are ${limitNames.join(', ')}.`,
      })
    }
    if (!Number.isSafeInteger(value) || (value as number) <= 0)
      throw new RegistryError('invalid_option', `limit "${name}" is not a whole number above 0`)
  }
}
