import { connectTab, emulateFocus, getTab, injectFile, insertTrustedText, runInTab, type Port } from '../browser.ts'
import { timeout } from '../timeout.ts'
import { ToolFault } from '../tools/tool.ts'
import type { Answer, FromDriver, Order, Phase, Snapshot, ToDriver } from './drivermessages.ts'
import { cancelled } from './queue.ts'
import type { SiteSpec } from './sites/site.ts'

const tickEvery = 250
/** The longest time until a driver ends after a cancel or its deadline, in ms. */
const grace = 4000
const snapshotTimeout = 5000
/** The longest time until a page accepts the driver, in ms. */
const attachTimeout = 10_000

interface RunEvents {
  phase(phase: Phase): void
  partial(text: string): void
  paused(): void
  /** The page offers these models. */
  models(models: string[]): void
}

/** A run in a tab. `answer` settles once. */
export interface DriverRun {
  answer: Promise<Answer>
  resume(): void
  handOver(): void
}

async function attach(tabId: number, { label }: SiteSpec): Promise<Port> {
  const injected = async () => {
    await injectFile(tabId, 'shim.js', 'MAIN')
    await injectFile(tabId, 'driver.js')
    return true
  }
  const reacts = await timeout(attachTimeout, injected()).catch(async (e: unknown) => {
    if (await getTab(tabId)) throw e
    throw new ToolFault('TAB_CLOSED', `The tab of ${label} was closed. Nothing was sent.`)
  })
  if (!reacts)
    throw new ToolFault('TIMEOUT', `The page of ${label} does not react. Nothing was sent.`)
  return connectTab(tabId, 'portolan-driver')
}

/** Starts an order in the driver of a tab. */
export async function startRun(
  tabId: number,
  order: Order,
  spec: SiteSpec,
  signal: AbortSignal,
  events: RunEvents,
): Promise<DriverRun> {
  const port = await attach(tabId, spec)
  const post = (m: ToDriver) => port.post(m)
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
  const fail = (code: string, message: string, details?: object) =>
    reject(new ToolFault(code, message, details as Record<string, unknown>))
  port.onmessage = (raw) => {
    const m = raw as FromDriver
    switch (m.type) {
      case 'phase':
        return events.phase(m.phase)
      case 'partial':
        return events.partial(m.text)
      case 'paused':
        return events.paused()
      case 'models':
        return events.models(m.models)
      case 'done':
        return resolve(m.answer)
      case 'failed': {
        const { code, message, ...details } = m.failure
        return fail(code, message, details)
      }
      case 'insert': {
        const inserted = (ok: boolean) => post({ type: 'inserted', ok })
        // Only the order's prompt is typed, so that a page cannot have another text typed.
        if (!order.trustedInput || m.text !== order.prompt) return inserted(false)
        return void insertTrustedText(tabId, m.text).then(() => inserted(true), () => inserted(false))
      }
    }
  }
  port.onclose = () =>
    fail(
      'TAB_CLOSED',
      `The page of ${spec.label} was closed or left while it answered. The answer may be in its history.`,
    )
  const ticks = setInterval(() => post({ type: 'tick' }), tickEvery)
  const late = setTimeout(
    () => fail('TIMEOUT', `${spec.label} did not answer in time, and its page does not react.`),
    order.deadline - Date.now() + grace,
  )
  let giveUp: ReturnType<typeof setTimeout> | undefined
  const cancel = () => {
    post({ type: 'cancel' })
    giveUp = setTimeout(() => fail('CANCELLED', 'The prompt was cancelled.'), grace)
  }
  signal.addEventListener('abort', cancel)
  const end = () => {
    clearInterval(ticks)
    clearTimeout(late)
    clearTimeout(giveUp)
    signal.removeEventListener('abort', cancel)
    port.onclose = null
    port.close()
  }
  answer.then(end, end)
  // Ticks give a hidden page four frames a second. Emulated focus gives it all frames.
  const hidden = () => runInTab(tabId, () => document.hidden, []).catch(() => false)
  if (order.trustedInput && await hidden()) await emulateFocus(tabId, answer).catch(() => {})
  if (signal.aborted) reject(cancelled())
  else post({ type: 'start', order, spec })
  return { answer, resume: () => post({ type: 'resume' }), handOver: () => post({ type: 'handover' }) }
}

/** Returns the driver's snapshot of a page, without people's texts. */
export async function snapshotOf(tabId: number, spec: SiteSpec): Promise<Snapshot> {
  const port = await attach(tabId, spec)
  const { promise, resolve, reject } = Promise.withResolvers<Snapshot>()
  port.onclose = () => reject(new ToolFault('TAB_CLOSED', 'The page was closed.'))
  port.onmessage = (raw) => {
    const m = raw as FromDriver
    if (m.type === 'snapshot') resolve(m.snapshot)
  }
  port.post({ type: 'snapshot', spec } satisfies ToDriver)
  try {
    const snapshot = await timeout(snapshotTimeout, promise)
    if (!snapshot) throw new ToolFault('UNKNOWN', 'The page does not react.')
    return snapshot
  } finally {
    port.onclose = null
    port.close()
  }
}
