import type { Layout, Trouble } from '../profile.ts'
import { asked, DriverFailure, troubled } from './failure.ts'
import { chosen, health } from './layout.ts'
import { stopButtons, type Scene, type Stage } from './stage.ts'
import { trouble } from './trouble.ts'
import { Turns } from './turns.ts'

/** Waits for a page that can take a prompt, or finds out why it will not. Types nothing. */
export async function open(stage: Stage): Promise<{ layout: Layout; turns: Turns }> {
  const { deep, pulse, profile, times, signal, order } = stage
  const { label } = profile
  await pulse.until(() => deep.document.readyState === 'complete', times.ready, signal)
  let seen: { code: Trouble['code']; at: number } | undefined
  let layout = await pulse.until(
    () => {
      const found = chosen(deep, profile)
      const code = troubleNow(stage, found)
      // Pages show their log-in buttons for a moment before they know who is there.
      if (code && code === seen?.code && Date.now() - seen.at >= times.settle)
        throw new DriverFailure(
          code,
          troubled[code](label),
        )
      if (code !== seen?.code) seen = code && { code, at: Date.now() }
      return code ? undefined : found
    },
    times.input,
    signal,
  )
  if (layout) {
    await pulse.rest(times.settle, signal)
    layout = await pulse.until(() => chosen(deep, profile), times.input, signal)
  }
  const code = troubleNow(stage, layout)
  if (code) throw new DriverFailure(code, troubled[code](label))
  if (!layout) throw new DriverFailure('LAYOUT_UNKNOWN', asked.layout(label), { health: health(deep, profile) })
  return { layout, turns: new Turns(deep, layout, order.prompt, order.mode === 'assist') }
}

/** Waits until the chat itself can go on: its turns are there, and no earlier answer is under way. */
export async function ready(scene: Scene): Promise<void> {
  const { pulse, profile: { label }, times, signal, order, turns } = scene
  if (order.continues && !await pulse.until(() => turns.any, times.turns, signal))
    throw new DriverFailure('UNKNOWN', asked.conversation(label))
  if (!await pulse.until(() => stopButtons(scene).length === 0, times.stop, signal))
    throw new DriverFailure('STUCK', asked.stopButton(label), { kind: 'stop button' })
}

function troubleNow({ deep, profile, order }: Stage, layout: Layout | undefined): Trouble['code'] | undefined {
  const turns = layout && new Turns(deep, layout, order.prompt)
  return trouble(deep, profile, (el) => !turns?.foreign(el, undefined))
}
