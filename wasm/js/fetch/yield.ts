// Reading what a fast server sends is long work, done in slices: between them others
// have their turn on the thread, whose streams and calls else wait until all is read.

/** A slice, in ms. */
const SLICE_MS = 4

interface Platform {
  scheduler?: { postTask?(fn: () => void, options: { priority: string }): Promise<void> }
  setImmediate?(fn: () => void): unknown
}

const { scheduler, setImmediate } = globalThis as Platform

/**
 * Ends once others had a turn. Of those that wait it is among the first: Chromium would else take in
 * beforehand whatever fast servers have sent meanwhile, which costs memory, and others more time.
 */
const pause = (): Promise<void> =>
  scheduler?.postTask?.(() => {}, { priority: 'user-blocking' }) ??
    new Promise((resolve) => void (setImmediate ? setImmediate(resolve) : setTimeout(resolve, 0)))

let spent = 0, last = 0

/** Counts work that began at `began`, in ms of performance.now(); what it returns is to be waited for. */
export function worked(began: number): Promise<void> | undefined {
  if (began - last > SLICE_MS) spent = 0 // others had their turn since
  last = performance.now()
  spent += last - began
  if (spent < SLICE_MS) return undefined
  spent = 0
  return pause()
}
