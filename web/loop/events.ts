/** Gives an event to the reader. The newest of the events that still wait, and that `replaces` names, goes. */
export type Put<Event> = (event: Event, replaces?: (waiting: Event) => boolean) => void

/**
 * The events of some work, for one reader. The work begins with the first `next()`, and gets a signal that ends with
 * the reader.
 */
export function eventsOf<Event>(
  work: (put: Put<Event>, signal: AbortSignal) => Promise<void>,
): AsyncGenerator<Event, void, undefined> {
  const ends = new AbortController()
  const waiting: Event[] = []
  let wake = () => {}
  let over = false
  const events = async function*() {
    const working = work((event, replaces) => {
      const old = replaces ? waiting.findLastIndex(replaces) : -1
      if (old >= 0) waiting.splice(old, 1)
      waiting.push(event)
      wake()
    }, ends.signal).finally(() => {
      over = true
      wake()
    })
    working.catch(() => {}) // awaited below
    while (waiting.length || !over) {
      if (!waiting.length) await new Promise<void>((resolve) => (wake = resolve))
      yield* waiting.splice(0)
    }
    await working
  }()
  const end = events.return.bind(events)
  // A reader may leave while it waits for an event.
  events.return = (value) => {
    ends.abort()
    return end(value)
  }
  return events
}
