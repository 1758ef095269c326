/** Values of one registry, for a time and up to a number. */
class Kept {
  private readonly values = new Map<string, { value: unknown; until: number }>()

  get(key: string): unknown {
    const found = this.values.get(key)
    return found && found.until > Date.now() ? found.value : undefined
  }

  set(key: string, value: unknown, ms: number): void {
    this.values.delete(key)
    this.values.set(key, { value, until: Date.now() + ms })
    if (this.values.size > 100) this.values.delete(this.values.keys().next().value!)
  }
}

const kept = new WeakMap<object, Kept>()

/** The value that was made for these parts, unless it is too old. */
export async function cached<T>(
  owner: object | undefined,
  key: unknown[],
  ms: number,
  make: () => Promise<T>,
): Promise<{ value: T; hit: boolean }> {
  if (!owner) return { value: await make(), hit: false }
  let values = kept.get(owner)
  if (!values) kept.set(owner, values = new Kept())
  const name = JSON.stringify(key)
  const found = values.get(name) as T | undefined
  if (found !== undefined) return { value: found, hit: true }
  const value = await make()
  values.set(name, value, ms)
  return { value, hit: false }
}
