/** Resolves as the promise does, or to undefined after `ms`. */
export async function timeout<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), ms)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
