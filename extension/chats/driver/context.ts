import type { SiteSpec } from '../sites/site.ts'
import type { Answer, FromDriver, Order, Phase } from '../drivermessages.ts'
import type { ChatPage } from './page.ts'
import { ShadowDom } from './shadow.ts'
import { Takeover } from './takeover.ts'
import { timesFor, type Times } from './times.ts'
import type { Turns } from './turns.ts'
import { Waiter } from './waiter.ts'

/** The state that the steps of one run share. */
export type RunContext = ReturnType<typeof createContext>

/** A run whose page has a known layout. */
export type OpenedRun = RunContext & { readonly page: ChatPage; readonly turns: Turns }

export type Completed = Pick<Answer, 'answer' | 'confidence' | 'evidence' | 'truncated'>

export function createContext(
  order: Order,
  spec: SiteSpec,
  window: Window,
  post: (message: FromDriver) => void,
  times: Partial<Times>,
) {
  const control = new AbortController()
  const lifetime = new AbortController()
  const dom = new ShadowDom(window.document)
  const waiter = new Waiter(dom)
  // In assist mode the user types and clicks anyway.
  const watched = order.mode === 'auto' ? lifetime.signal : AbortSignal.abort()
  const takeover = new Takeover(window, watched, () => post({ type: 'paused' }))
  const { signal } = control
  const { location } = window.document
  const conversation = () => new RegExp(spec.conversation).exec(location.pathname + location.search)?.[1]
  const context = {
    order,
    spec,
    dom,
    waiter,
    takeover,
    control,
    signal,
    /** When the run must have ended, in ms of performance.now(): the clock may be set meanwhile. */
    ends: performance.now() + order.deadline - Date.now(),
    post,
    times: { ...timesFor(spec.site), ...times },
    lastPhase: undefined as Phase | undefined,
    /** Returns the id of the conversation that the page shows. */
    conversation,
    /** The id of the conversation of our prompt. A new chat gets one later. */
    home: conversation(),
    /** The user handed the answer over since the last look. For assist mode. */
    handedOver: false,
    /** Deviations from the order, for the answer's evidence. */
    notes: [] as string[],
    /** Text that the user had left in the field. */
    draft: '',
    /** The prompt was put into the field. */
    typed: false,
    /** The background's reply to `insert`. */
    inserted: undefined as boolean | undefined,
    phase(phase: Phase): void {
      if (phase !== context.lastPhase) post({ type: 'phase', phase })
      context.lastPhase = phase
    },
    /** Types trusted input into the focused field. Resolves to false if the background could not. */
    async typeTrusted(text: string): Promise<boolean> {
      takeover.expected = true
      context.inserted = undefined
      try {
        post({ type: 'insert', text })
        await waiter.until(() => context.inserted !== undefined, context.times.inserted, signal)
        return context.inserted ?? false
      } finally {
        takeover.expected = false
      }
    },
    close(): void {
      lifetime.abort()
      waiter.close()
    },
  }
  return context
}
