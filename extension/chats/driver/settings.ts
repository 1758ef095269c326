import { asked, DriverFailure } from './failure.ts'
import { pressable, visible } from './mark.ts'
import type { Scene } from './stage.ts'

/** Sets the model and the temperature that the order names, before anything is typed. */
export async function set(stage: Scene): Promise<void> {
  const { order, signal, person } = stage
  if (order.model === undefined && order.temperature === undefined) return
  await person.hold(signal)
  if (order.model !== undefined && !await choose(stage, order.model)) unsettable(stage, 'model', order.model)
  if (order.temperature !== undefined && !await warm(stage, order.temperature))
    unsettable(stage, 'temperature', String(order.temperature))
}

function unsettable({ order, notes, profile }: Scene, what: 'model' | 'temperature', value: string): void {
  if (!order.preferred?.includes(what))
    throw new DriverFailure('UNKNOWN', asked.setting(profile.label, what, value.slice(0, 100)))
  notes.push(`${what}: the page's own`)
}

async function choose({ deep, layout, pulse, signal, times }: Scene, model: string): Promise<boolean> {
  if (!layout.model) return false
  const { open, option } = layout.model
  const opener = () => deep.first(open, visible)[0] as HTMLElement | undefined
  const says = () => wordsOf(opener()).includes(model.toLowerCase())
  if (says()) return true
  const selector = option.replace('{model}', CSS.escape(model))
  opener()?.click()
  const item = await pulse.until(() => deep.all(selector).find(visible), 5 * times.applied, signal)
  if (item) pressable(item).click()
  if (item && await pulse.until(says, 5 * times.applied, signal)) return true
  const within = deep.document.activeElement
  if (within && within !== deep.document.body)
    within.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true, composed: true, cancelable: true }),
    )
  return false
}

const wordsOf = (el: Element | undefined) => (el?.textContent ?? '').toLowerCase()

async function warm({ deep, layout, pulse, signal, times }: Scene, temperature: number): Promise<boolean> {
  const input = layout.temperature && deep.first(layout.temperature, visible)[0]
  if (!(input instanceof HTMLInputElement)) return false
  input.value = String(temperature)
  for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true, composed: true }))
  await pulse.rest(times.applied / 6, signal)
  return Math.abs(Number(input.value) - temperature) < 1e-6
}
