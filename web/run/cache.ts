/** The most values that are kept for one registry. */
const most = 100

const kept = new WeakMap<object, Map<string, { value: unknown; until: number }>>()

/** The value that was made for these parts, unless it is too old. Without an owner, none is kept. */
export async function cached<T>(
  owner: object | undefined,
  key: unknown[],
  ms: number,
  make: () => Promise<T>,
): Promise<{ value: T; hit: boolean }> {
  const name = JSON.stringify(key)
  const values = kept.get(owner!) ?? new Map<string, { value: unknown; until: number }>()
  const found = values.get(name)
  if (found && found.until > Date.now()) return { value: found.value as T, hit: true }
  const value = await make()
  values.delete(name) // the newest is last
  values.set(name, { value, until: Date.now() + ms })
  if (values.size > most) values.delete(values.keys().next().value!)
  if (owner) kept.set(owner, values)
  return { value, hit: false }
}
