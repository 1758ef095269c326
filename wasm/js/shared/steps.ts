// Long work that a page does in steps, so that what else it has to do can come between.

/** Work whose steps are short. */
export type Steps<T> = Generator<void, T, void>

/** A task of a page, in ms. */
const taskMs = 8

/** Does it all at once. */
export function finish<T>(work: Steps<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Does it in tasks of its own. */
export async function inTurns<T>(work: Steps<T>): Promise<T> {
  for (let began = performance.now();;) {
    const { done, value } = work.next()
    if (done) return value
    if (performance.now() - began < taskMs) continue
    await new Promise((resolve) => setTimeout(resolve))
    began = performance.now()
  }
}
