import type { Port } from '../../browser.ts'
import type { SiteSpec } from '../sites/site.ts'
import type { FromDriver, Order, Phase, ToDriver } from '../protocol.ts'
import type { RunContext } from './context.ts'
import { DriverFailure, reasons } from './failure.ts'
import { PromptRun } from './run.ts'
import { ShadowDom } from './shadow.ts'
import { snapshot } from './snapshot.ts'
import { Takeover } from './takeover.ts'
import { timesFor, type Times } from './times.ts'
import { Waiter } from './waiter.ts'

/** Serves one port of the background in this page: one run at a time. */
export function serve(port: Port, window: Window, times: Partial<Times> = {}): void {
  const post = (message: FromDriver) => port.post(message)
  let current: { context: RunContext; control: AbortController; inserted?: (ok: boolean) => void } | undefined

  port.onmessage = (raw) => {
    const message = raw as ToDriver
    switch (message.type) {
      case 'start':
        if (!current) void start(message.order, message.spec)
        break
      case 'tick':
        window.document.dispatchEvent(new Event('portolan-tick')) // gives frames to a hidden page, see shim.ts
        current?.context.waiter.tick()
        break
      case 'cancel':
        current?.control.abort(new DriverFailure('CANCELLED', reasons.cancelled()))
        break
      case 'resume':
        current?.context.takeover.resume()
        break
      case 'handover':
        if (current) current.context.handedOver = true
        break
      case 'inserted':
        current?.inserted?.(message.ok)
        break
      case 'snapshot':
        post({ type: 'snapshot', snapshot: snapshot(window.document, message.spec) })
        break
    }
  }
  port.onclose = () => current?.control.abort(new DriverFailure('TAB_CLOSED', reasons.cancelled()))

  async function start(order: Order, spec: SiteSpec): Promise<void> {
    const control = new AbortController()
    const { signal } = control
    const lifetime = new AbortController()
    const dom = new ShadowDom(window.document)
    const waiter = new Waiter(dom)
    // In assist mode the user types and clicks anyway.
    const watched = order.mode === 'auto' ? lifetime.signal : AbortSignal.abort()
    const takeover = new Takeover(window, watched, () => post({ type: 'paused' }))
    let phase: Phase | undefined
    const context: RunContext = {
      order,
      spec,
      dom,
      waiter,
      takeover,
      signal,
      post,
      times: { ...timesFor(spec.site), ...times },
      handedOver: false,
      notes: [],
      draft: '',
      phase(next) {
        if (next !== phase) post({ type: 'phase', phase: phase = next })
      },
      async typeTrusted(text) {
        let ok: boolean | undefined
        takeover.expected = true
        current!.inserted = (given) => {
          ok = given
          waiter.tick()
        }
        try {
          post({ type: 'insert', text })
          await waiter.until(() => ok !== undefined, context.times.inserted, signal)
          return ok ?? false
        } finally {
          takeover.expected = false
          delete current!.inserted
        }
      },
    }
    const run = new PromptRun(context)
    current = { context, control }
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
      outcome = { type: 'failed', failure: { code, message, state: run.seen(phase ?? 'opening'), ...more } }
    }
    try {
      run.leave(outcome.type === 'failed')
    } catch { /* the outcome counts all the same */ }
    lifetime.abort()
    waiter.close()
    current = undefined
    post(outcome)
  }
}
