import { connectTab, emulateFocus, injectFile, insertTrustedText, runInTab, type Port } from '../browser.ts'
import { ToolFault } from '../tools/tool.ts'
import type { SiteProfile } from './profile.ts'
import { within } from './within.ts'
import type { Answer, FromDriver, Order, Phase, Snapshot, ToDriver } from './wire.ts'

export const driverPort = 'portolan-driver'
const tickEvery = 250
/** How long a driver may take to end after it was asked to, or its time was over, in ms. */
const grace = 4000
const snapshotTimeout = 5000
/** How long a page may take to let the driver in, in ms. */
const attachTimeout = 10_000

/** What is heard of a run on its way. */
export interface Hears {
  phase(phase: Phase): void
  partial(text: string): void
  paused(): void
}

/** A run in a tab. `answer` settles once. */
export interface Driven {
  answer: Promise<Answer>
  resume(): void
  handOver(): void
}

async function attach(tabId: number, { label }: SiteProfile): Promise<Port> {
  const injected = async () => {
    await injectFile(tabId, 'shim.js', 'MAIN')
    await injectFile(tabId, 'driver.js')
    return true
  }
  if (!await within(attachTimeout, injected()))
    throw new ToolFault('TIMEOUT', `The page of ${label} does not react. Nothing was sent.`)
  return connectTab(tabId, driverPort)
}

/** Has the driver in a tab carry out an order. */
export async function drive(
  tabId: number,
  order: Order,
  profile: SiteProfile,
  signal: AbortSignal,
  hears: Hears,
): Promise<Driven> {
  const port = await attach(tabId, profile)
  const post = (m: ToDriver) => port.post(m)
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>()
  const handle = (m: FromDriver) => {
    switch (m.type) {
      case 'phase':
        return hears.phase(m.phase)
      case 'partial':
        return hears.partial(m.text)
      case 'paused':
        return hears.paused()
      case 'done':
        return resolve(m.answer)
      case 'failed': {
        const { code, message, ...details } = m.failure
        return reject(new ToolFault(code, message, details as Record<string, unknown>))
      }
      case 'insert':
        // Only what was ordered goes in: a page cannot have other text typed.
        if (!order.trustedInput || m.text !== order.prompt) return post({ type: 'inserted', ok: false })
        return void insertTrustedText(tabId, m.text).then(
          () => post({ type: 'inserted', ok: true }),
          () => post({ type: 'inserted', ok: false }),
        )
    }
  }
  port.onmessage = (m) => handle(m as FromDriver)
  port.onclose = () =>
    reject(
      new ToolFault(
        'TAB_CLOSED',
        `The page of ${profile.label} was closed or left while it answered. The answer may be in its history.`,
      ),
    )
  const ticks = setInterval(() => post({ type: 'tick', now: Date.now() }), tickEvery)
  const late = setTimeout(
    () => reject(new ToolFault('TIMEOUT', `${profile.label} did not answer in time, and its page does not react.`)),
    order.deadline - Date.now() + grace,
  )
  let giveUp: ReturnType<typeof setTimeout> | undefined
  const cancel = () => {
    post({ type: 'cancel' })
    giveUp = setTimeout(() => reject(new ToolFault('CANCELLED', 'The prompt was cancelled.')), grace)
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
  // A tick gives four frames a second; where the browser lets us, a hidden page has them all.
  const hidden = () => runInTab(tabId, () => document.hidden, []).catch(() => false)
  if (order.trustedInput && await hidden()) await emulateFocus(tabId, answer).catch(() => {})
  if (signal.aborted) cancel()
  else post({ type: 'start', order, profile })
  return { answer, resume: () => post({ type: 'resume' }), handOver: () => post({ type: 'handover' }) }
}

/** What the driver sees of a page, without what people wrote. */
export async function look(tabId: number, profile: SiteProfile): Promise<Snapshot> {
  const port = await attach(tabId, profile)
  try {
    return await new Promise<Snapshot>((resolve, reject) => {
      const slow = setTimeout(() => reject(new ToolFault('UNKNOWN', 'The page does not react.')), snapshotTimeout)
      port.onclose = () => reject(new ToolFault('TAB_CLOSED', 'The page was closed.'))
      port.onmessage = (m) => {
        const said = m as FromDriver
        if (said.type !== 'snapshot') return
        clearTimeout(slow)
        resolve(said.snapshot)
      }
      port.post({ type: 'snapshot', profile } satisfies ToDriver)
    })
  } finally {
    port.onclose = null
    port.close()
  }
}
