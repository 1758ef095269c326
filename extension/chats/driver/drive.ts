import type { Port } from '../../browser.ts'
import type { FromDriver, Order, Phase, ToDriver } from '../wire.ts'
import type { SiteProfile } from '../profile.ts'
import { Deep } from './deep.ts'
import { asked, DriverFailure } from './failure.ts'
import { Person } from './person.ts'
import { Pulse } from './pulse.ts'
import { Run } from './run.ts'
import { snapshot } from './snapshot.ts'
import type { Stage } from './stage.ts'
import { timesFor, type Times } from './times.ts'

/** Serves one port of the background in this page: one run at a time. */
export function drive(port: Port, window: Window, times: Partial<Times> = {}): void {
  let current:
    | { stage: Stage; pulse: Pulse; control: AbortController; inserted: ((ok: boolean) => void) | null }
    | undefined

  port.onmessage = (raw) => {
    const message = raw as ToDriver
    switch (message.type) {
      case 'start':
        if (!current) void start(message.order, message.profile)
        break
      case 'tick':
        window.document.dispatchEvent(new Event('portolan-tick')) // frames for a hidden page: shim.ts
        current?.pulse.tick()
        break
      case 'cancel':
        current?.control.abort(new DriverFailure('CANCELLED', asked.cancelled()))
        break
      case 'resume':
        current?.stage.person.resume()
        break
      case 'handover':
        if (current) current.stage.handed = true
        break
      case 'inserted':
        current?.inserted?.(message.ok)
        break
      case 'snapshot':
        port.post({ type: 'snapshot', snapshot: snapshot(window.document, message.profile) } satisfies FromDriver)
        break
    }
  }
  port.onclose = () => current?.control.abort(new DriverFailure('TAB_CLOSED', asked.cancelled()))

  async function start(order: Order, profile: SiteProfile): Promise<void> {
    const control = new AbortController()
    const { signal } = control
    const lifetime = new AbortController()
    const deep = new Deep(window.document)
    const pulse = new Pulse(deep)
    const post = (message: FromDriver) => port.post(message)
    let phase: Phase | undefined
    const person = new Person(
      window,
      order.mode === 'auto' ? lifetime.signal : AbortSignal.abort(),
      () => post({ type: 'paused' }),
    )
    const stage: Stage = {
      order,
      profile,
      deep,
      pulse,
      person,
      signal,
      post,
      times: { ...timesFor(profile.site), ...times },
      handed: false,
      notes: [],
      draft: '',
      phase(next) {
        if (next !== phase) post({ type: 'phase', phase: phase = next })
      },
      async trusted(text) {
        person.expected = true
        try {
          let ok: boolean | undefined
          current!.inserted = (given) => {
            ok = given
            pulse.tick()
          }
          post({ type: 'insert', text })
          await pulse.until(() => ok !== undefined, stage.times.inserted, signal)
          return ok ?? false
        } finally {
          person.expected = false
          current!.inserted = null
        }
      },
    }
    const run = new Run(stage)
    current = { stage, pulse, control, inserted: null }
    pulse.ontick = () => {
      const failure = run.watch()
      if (failure) control.abort(failure)
    }
    let outcome: FromDriver
    try {
      outcome = { type: 'done', answer: await run.answer() }
    } catch (e) {
      const failure = e instanceof DriverFailure ? e : new DriverFailure('UNKNOWN', asked.unknown(profile.label, e))
      if (failure.code === 'CANCELLED') await run.stop().catch(() => {})
      outcome = {
        type: 'failed',
        failure: { code: failure.code, message: failure.message, state: run.seen(phase ?? 'opening'), ...failure.more },
      }
    }
    try {
      run.leave(outcome.type === 'failed')
    } catch { /* the outcome is told all the same */ }
    lifetime.abort()
    pulse.close()
    current = undefined
    post(outcome)
  }
}
