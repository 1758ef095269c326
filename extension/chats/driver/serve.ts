import type { Port } from '../../browser.ts'
import type { FromDriver, ToDriver } from '../drivermessages.ts'
import { createContext, type RunContext } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { PromptRun } from './run.ts'
import { snapshot } from './snapshot.ts'
import type { Times } from './times.ts'

/** Serves one port of the background in this page: one run at a time. */
export function serve(port: Port, window: Window, times: Partial<Times> = {}): void {
  const post = (message: FromDriver) => port.post(message)
  let current: RunContext | undefined
  const abort = (code: 'CANCELLED' | 'TAB_CLOSED') =>
    current?.control.abort(new DriverFailure(code, reasons.cancelled()))

  port.onmessage = (raw) => {
    const message = raw as ToDriver
    switch (message.type) {
      case 'start':
        if (current) return
        current = createContext(message.order, message.spec, window, post, times)
        return void run(current).then((outcome) => {
          current = undefined
          post(outcome)
        })
      case 'tick':
        window.document.dispatchEvent(new Event('portolan-tick')) // gives frames to a hidden page, see shim.ts
        return current?.waiter.tick()
      case 'cancel':
        return abort('CANCELLED')
      case 'resume':
        return current?.takeover.resume()
      case 'handover':
        if (current) current.handedOver = true
        return
      case 'inserted':
        if (current) current.inserted = message.ok
        return current?.waiter.tick()
      case 'snapshot':
        return post({ type: 'snapshot', snapshot: snapshot(window.document, message.spec) })
    }
  }
  port.onclose = () => abort('TAB_CLOSED')
}

async function run(context: RunContext): Promise<FromDriver> {
  const { control, waiter, spec } = context
  const run = new PromptRun(context)
  waiter.ontick = () => {
    const problem = run.problem()
    if (problem) control.abort(problem)
  }
  let outcome: FromDriver
  try {
    outcome = { type: 'done', answer: await run.answer() }
  } catch (e) {
    const failure = e instanceof DriverFailure ? e : new DriverFailure('UNKNOWN', reasons.unknown(spec.label, e))
    if (failure.code === 'CANCELLED') await run.stop().catch(() => {})
    const { code, message, more } = failure
    const debug = run.debug()
    outcome = {
      type: 'failed',
      failure: { code, message, state: run.seen(context.lastPhase ?? 'opening'), ...(debug && { debug }), ...more },
    }
  }
  try {
    await run.leave(outcome.type === 'failed')
  } catch { /* the outcome counts all the same */ }
  context.close()
  return outcome
}
