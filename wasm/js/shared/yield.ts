// Splits long work into steps. Between them a thread runs its other tasks.

/** Work whose steps are short. */
export type Steps<T> = Generator<void, T, void>

/** The longest task of a page, in ms. */
const taskMs = 8

/** Runs all steps at once. */
export function finish<T>(work: Steps<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Runs the steps in tasks of at most 8 ms. */
export async function inTurns<T>(work: Steps<T>): Promise<T> {
  for (let began = performance.now();;) {
    const { done, value } = work.next()
    if (done) return value
    if (performance.now() - began < taskMs) continue
    await turn()
    began = performance.now()
  }
}

/** The longest reading of a body before other streams and calls get the thread, in ms. */
const SLICE_MS = 4

interface Yields {
  scheduler?: { postTask?(fn: () => void, options: { priority: string }): Promise<void> }
  setImmediate?(fn: () => void): unknown
  document?: unknown
}

const { scheduler, setImmediate, document } = globalThis as Yields

/**
 * Lets other tasks of the thread run. The priority keeps it ahead of arriving bodies: Chromium would first take in all
 * bytes that fast servers have sent, which costs memory and time. On a page's thread, it waits its turn instead.
 */
const pause = (): Promise<void> =>
  scheduler?.postTask?.(() => {}, { priority: document ? 'user-visible' : 'user-blocking' }) ??
    new Promise((resolve) => void (setImmediate ? setImmediate(resolve) : setTimeout(resolve, 0)))

/** Lets other tasks run, those of bodies too. Chromium delays each of many timers by 4 ms. */
const turn = (): Promise<void> =>
  scheduler?.postTask?.(() => {}, { priority: 'user-visible' }) ?? new Promise((resolve) => setTimeout(resolve))

let spent = 0, last = 0

/** Counts work that began at `began`, in ms of performance.now(). Wait for the returned promise before more work. */
export function worked(began: number): Promise<void> | undefined {
  if (began - last > SLICE_MS) spent = 0 // other tasks ran since
  last = performance.now()
  spent += last - began
  if (spent < SLICE_MS) return undefined
  spent = 0
  return pause()
}
