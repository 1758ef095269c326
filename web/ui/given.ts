/** The value of a property of an element. A value without the method is reported, and counts as none. */
export function given<T>(value: T, method: keyof NonNullable<T>, name: string, hint: string): T | undefined {
  if (typeof value?.[method] === 'function') return value
  if (value) reportError(new TypeError(`the property ${name} is no ${name}: set ${hint}`))
  return undefined
}

/** The registry that an element was given. A promise is none. */
export const registryOf = <R extends { getSnapshot(): unknown } | undefined>(registry: R): R | undefined =>
  given(registry, 'getSnapshot', 'registry', 'the one that createRegistry() resolved to')
