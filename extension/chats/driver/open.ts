import type { Notice } from '../sites/site.ts'
import type { OpenedRun, RunContext } from './context.ts'
import { DriverFailure, noticeReasons, reasons } from './failure.ts'
import { health, noticeOn, pageOf, type ChatPage } from './page.ts'
import { Turns } from './turns.ts'

/** Waits for a page that takes a prompt, or fails with the page's notice. Types nothing. */
export async function open(run: RunContext): Promise<Pick<OpenedRun, 'page' | 'turns'>> {
  const { dom, waiter, spec, times, signal, order } = run
  const found = () => pageOf(dom, spec)
  await waiter.until(() => dom.document.readyState === 'complete', times.ready, signal)
  let first: { code: Notice['code']; at: number } | undefined
  let page = await waiter.until(
    () => {
      const page = found()
      const code = noticeNow(run, page)
      // Pages show their log-in buttons for a moment before they know the user.
      if (code && code === first?.code && performance.now() - first.at >= times.settle)
        throw new DriverFailure(code, noticeReasons[code](spec.label))
      if (code !== first?.code) first = code && { code, at: performance.now() }
      return code ? undefined : page
    },
    times.input,
    signal,
  )
  if (page) {
    await waiter.rest(times.settle, signal)
    page = await waiter.until(found, times.input, signal)
  }
  const code = noticeNow(run, page)
  if (code) throw new DriverFailure(code, noticeReasons[code](spec.label))
  if (!page) throw new DriverFailure('LAYOUT_UNKNOWN', reasons.layout(spec.label), { health: health(dom, spec) })
  return { page, turns: new Turns(dom, page.layout, order.prompt, order.mode === 'assist') }
}

/** Waits until the chat can continue: its turns are there, and no earlier answer is under way. */
export async function ready({ page, waiter, spec: { label }, times, signal, order, turns }: OpenedRun): Promise<void> {
  if (order.continues && !await waiter.until(() => turns.any, times.turns, signal))
    throw new DriverFailure('UNKNOWN', reasons.conversation(label))
  if (!await waiter.until(() => page.stopButtons.length === 0, times.stop, signal))
    throw new DriverFailure('STUCK', reasons.stopButton(label), { kind: 'stop button' })
}

function noticeNow({ dom, spec, order }: RunContext, page: ChatPage | undefined): Notice['code'] | undefined {
  const turns = page && new Turns(dom, page.layout, order.prompt)
  return noticeOn(dom, spec, (el) => !turns?.foreign(el, undefined))
}
