import type { OpenedRun } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { visible } from './matcher.ts'
import { chooseModel, readModels } from './models.ts'

/** Sets the order's model and temperature on the page, before anything is typed. */
export async function applySettings(run: OpenedRun): Promise<void> {
  const { order: { model, temperature, preferred, readModels: read }, signal, takeover, spec: { label } } = run
  if (model === undefined && temperature === undefined && !read) return
  await takeover.ended(signal)
  if (model !== undefined) await chooseModel(run, model)
  else if (read) await readModels(run)
  if (temperature === undefined || await setTemperature(run, temperature)) return
  if (!preferred?.includes('temperature'))
    throw new DriverFailure('UNKNOWN', reasons.setting(label, 'temperature', String(temperature)))
  run.notes.push("temperature: the page's own")
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
