import type { SiteSpec } from '../sites/site.ts'
import type { Answer, FromDriver, Order, Phase } from '../protocol.ts'
import type { ChatPage } from './page.ts'
import type { ShadowDom } from './shadow.ts'
import type { Takeover } from './takeover.ts'
import type { Times } from './times.ts'
import type { Turns } from './turns.ts'
import type { Waiter } from './waiter.ts'

/** The state that the steps of one run share. */
export interface RunContext {
  readonly order: Order
  readonly spec: SiteSpec
  readonly times: Times
  readonly dom: ShadowDom
  readonly waiter: Waiter
  readonly takeover: Takeover
  readonly signal: AbortSignal
  post(message: FromDriver): void
  phase(phase: Phase): void
  /** Types trusted input into the focused field. Resolves to false if the background could not. */
  typeTrusted(text: string): Promise<boolean>
  /** The user handed the answer over since the last look. For assist mode. */
  handedOver: boolean
  /** Deviations from the order, for the answer's evidence. */
  readonly notes: string[]
  /** Text that the user had left in the field. */
  draft: string
}

/** A run whose page has a known layout. */
export interface OpenedRun extends RunContext {
  readonly page: ChatPage
  readonly turns: Turns
}

export type Completed = Pick<Answer, 'answer' | 'confidence' | 'evidence' | 'truncated'>
