import type { OpenedRun } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { pressable, visible } from './matcher.ts'

/** Sets the order's model and temperature on the page, before anything is typed. */
export async function applySettings(run: OpenedRun): Promise<void> {
  const { order: { model, temperature, preferred }, signal, takeover, spec: { label } } = run
  if (model === undefined && temperature === undefined) return
  await takeover.ended(signal)
  const refused = (what: 'model' | 'temperature', value: string) => {
    if (!preferred?.includes(what))
      throw new DriverFailure('UNKNOWN', reasons.setting(label, what, value.slice(0, 100)))
    run.notes.push(`${what}: the page's own`)
  }
  if (model !== undefined && !await setModel(run, model)) refused('model', model)
  if (temperature !== undefined && !await setTemperature(run, temperature)) refused('temperature', String(temperature))
}

async function setModel({ dom, page: { layout }, waiter, signal, times }: OpenedRun, model: string): Promise<boolean> {
  if (!layout.model) return false
  const { open, option } = layout.model
  const opener = () => dom.first(open, visible)[0] as HTMLElement | undefined
  const shown = () => (opener()?.textContent ?? '').toLowerCase().includes(model.toLowerCase())
  if (shown()) return true
  const selector = option.replace('{model}', CSS.escape(model))
  opener()?.click()
  const item = await waiter.until(() => dom.all(selector).find(visible), 5 * times.applied, signal)
  if (item) pressable(item).click()
  if (item && await waiter.until(shown, 5 * times.applied, signal)) return true
  const focused = dom.document.activeElement
  if (focused && focused !== dom.document.body)
    focused.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true, composed: true, cancelable: true }),
    )
  return false
}

async function setTemperature(run: OpenedRun, temperature: number): Promise<boolean> {
  const { dom, page: { layout }, waiter, signal, times } = run
  const input = layout.temperature && dom.first(layout.temperature, visible)[0]
  if (!(input instanceof HTMLInputElement)) return false
  input.value = String(temperature)
  for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true, composed: true }))
  await waiter.rest(times.applied / 6, signal)
  return Math.abs(Number(input.value) - temperature) < 1e-6
}
