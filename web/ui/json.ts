/** JSON in which the members of objects are in order: equal values have equal texts. */
export const sortedJSON = (value: unknown, indent?: number): string =>
  JSON.stringify(
    value,
    (_, v: unknown) =>
      typeof v === 'object' && v !== null && !Array.isArray(v)
        ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
        : v,
    indent,
  )

/** The value of a JSON text, or undefined if it is none. */
export function parsed(text: string, read: (text: string) => unknown = JSON.parse): unknown {
  try {
    return read(text)
  } catch {
    return undefined
  }
}
