import type { OpenedRun } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { pressEnter } from './field.ts'
import { fill } from './input.ts'
import { enabled, pressable } from './matcher.ts'
import type { Turn } from './turns.ts'

/** Sends the prompt in the field, once. Before each further means it checks whether the prompt was sent. */
export async function send(run: OpenedRun): Promise<void> {
  const { order: { prompt }, page, waiter, takeover, signal, times, turns, spec: { label } } = run
  const ready = () => page.sendButtons.find(enabled)
  const gone = () => sent(run)
  let button: Element | undefined
  for (let paused = false;;) {
    const there = await waiter.until(() => page.sendButtons[0] ?? gone(), times.button, signal)
    if (there && !await waiter.until(() => takeover.pending || (ready() ?? gone()), times.send, signal))
      throw new DriverFailure('SEND_NOT_CONFIRMED', reasons.disabled(label))
    const again = await takeover.ended(signal)
    if (gone()) return
    paused ||= again
    if (again || !page.holds(prompt)) {
      await fill(run)
      continue
    }
    // During a pause the user may have sent the prompt. A new record would then take our turn for an old one.
    if (!paused) turns.record()
    button = ready()
    if (button || !there) break
  }
  if (button) pressable(button).click()
  if (button && await waiter.until(gone, times.turn, signal)) return
  for (const ctrlKey of [false, true]) {
    await takeover.ended(signal)
    if (gone()) return
    const { field } = page
    if (!field || !page.holds(prompt)) break
    pressEnter(field, ctrlKey)
    if (await waiter.until(gone, ctrlKey ? times.turn : times.turn / 2, signal)) return
  }
  if (await waiter.until(gone, times.turn / 2, signal)) return
  throw new DriverFailure('SEND_NOT_CONFIRMED', reasons.send(label))
}

/** Returns our turn once the site has taken the prompt: the field is free of it, or the site works. */
export function sent({ turns, page, order }: OpenedRun): Turn | undefined {
  const turn = turns.ours()
  return turn && (!page.holds(order.prompt) || page.stopButtons.length > 0) ? turn : undefined
}
