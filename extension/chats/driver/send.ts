import { asked, DriverFailure } from './failure.ts'
import { enter } from './field.ts'
import { fill } from './input.ts'
import { enabled, pressable } from './mark.ts'
import { fieldOf, holdsPrompt, sendButtons, stopButtons, type Scene } from './stage.ts'
import type { Turn } from './turns.ts'

/** Sends what is in the field, once: before each further means it looks again whether the prompt has gone. */
export async function send(scene: Scene): Promise<void> {
  const { pulse, person, signal, times, turns, profile: { label } } = scene
  const ready = () => sendButtons(scene).find(enabled)
  const gone = () => sent(scene)
  let press: Element | undefined
  for (let paused = false;;) {
    const there = await pulse.until(() => sendButtons(scene)[0] ?? gone(), times.button, signal)
    if (there && !await pulse.until(() => ready() ?? gone(), times.send, signal))
      throw new DriverFailure('SEND_NOT_CONFIRMED', asked.disabled(label))
    const again = await person.hold(signal)
    if (gone()) return
    paused ||= again
    if (again || !holdsPrompt(scene)) {
      await fill(scene)
      continue
    }
    // During a pause the person may have sent it: then ours would be taken for an old one.
    if (!paused) turns.record()
    press = ready()
    if (press || !there) break
  }
  if (press) pressable(press).click()
  if (press && await pulse.until(gone, times.turn, signal)) return
  for (const how of [{}, { ctrlKey: true }]) {
    await person.hold(signal)
    const field = fieldOf(scene)
    if (gone()) return
    if (!field || !holdsPrompt(scene)) break
    enter(field, how)
    if (await pulse.until(gone, how.ctrlKey ? times.turn : times.turn / 2, signal)) return
  }
  if (await pulse.until(gone, times.turn / 2, signal)) return
  throw new DriverFailure('SEND_NOT_CONFIRMED', asked.send(label))
}

/** Our turn, once the site has taken the prompt: the field no longer holds it, or the site is at work. */
export function sent(scene: Scene): Turn | undefined {
  const turn = scene.turns.ours()
  return turn && (!holdsPrompt(scene) || stopButtons(scene).length > 0) ? turn : undefined
}
