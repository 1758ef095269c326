/** Gives an event to the reader. If the newest event that still waits is one that `replaces` names, it goes. */
export type Put<Event> = (event: Event, replaces?: (waiting: Event) => boolean) => void

/**
 * The events of some work, for one reader. The work begins with the first `next()`, and gets a signal that ends with
 * the reader.
 */
export async function* eventsOf<Event>(
  work: (put: Put<Event>, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<Event, void, undefined> {
  const ends = new AbortController()
  let waiting: Event[] = []
  let wake = () => {}
  let over = false
  const working = work((event, replaces) => {
    const last = waiting.at(-1)
    if (last && replaces?.(last)) waiting.pop()
    waiting.push(event)
    wake()
  }, ends.signal).finally(() => {
    over = true
    wake()
  })
  working.catch(() => {}) // awaited below
  try {
    for (;;) {
      const ready = waiting
      waiting = []
      yield* ready
      if (waiting.length) continue
      if (over) break
      await new Promise<void>((resolve) => (wake = resolve))
    }
    await working
  } finally {
    ends.abort()
  }
}
