/**
 * What the background and the driver in a chat's tab say to each other, over a
 * `chrome.tabs.connect` port that the background opens. The driver is a content
 * script: it holds no secret, and what it says about the page is the page's word.
 */
import type { SiteProfile } from './profile.ts'

export { sites, type Site } from './profile.ts'

/** `auto`: the driver sends. `assist`: it fills in the prompt, the person sends and hands the answer over. */
export type Mode = 'auto' | 'assist'

/** One prompt to one site. */
export interface Order {
  id: string
  prompt: string
  mode: Mode
  /** AI Studio's; undefined leaves what the page has. */
  model?: string
  temperature?: number
  /**
   * Of these, what the page does not offer is left as the page has it, and `evidence` says so. Else that is a failure.
   */
  preferred?: ('model' | 'temperature')[]
  /** When the run must have ended, in ms since the epoch. */
  deadline: number
  /** The conversation goes on: earlier answers are on the page. */
  continues: boolean
  /** The person granted the permission for trusted input (`debugger`): `insert` may be asked. */
  trustedInput: boolean
}

export type ToDriver =
  | { type: 'start'; order: Order; profile: SiteProfile }
  /** Every 250 ms while a run lasts: a hidden page's own timers are slow. */
  | { type: 'tick'; now: number }
  /** Press the site's stop button, and end with CANCELLED. */
  | { type: 'cancel' }
  /** The person goes on after a pause, or (assist) hands the answer over. */
  | { type: 'resume' }
  | { type: 'handover' }
  /** Trusted input was given, or could not be. */
  | { type: 'inserted'; ok: boolean }
  /** Wants a `snapshot`, at any time. */
  | { type: 'snapshot'; profile: SiteProfile }

export type FromDriver =
  | { type: 'phase'; phase: Phase }
  /** The answer so far, as Markdown; at most 64 KiB, cut at the front. */
  | { type: 'partial'; text: string }
  | { type: 'done'; answer: Answer }
  | { type: 'failed'; failure: Failure }
  /** Asks for trusted input of text into the field that has the focus. */
  | { type: 'insert'; text: string }
  /** A trusted input event in the tab: the person took over. */
  | { type: 'paused' }
  | { type: 'snapshot'; snapshot: Snapshot }

/** In this order; `thinking` may come again. */
export type Phase = 'opening' | 'input' | 'sending' | 'handover' | 'waiting' | 'thinking' | 'answering' | 'reading'

export interface Answer {
  /** Markdown. At most 1 MiB; `truncated` says when it was cut. */
  answer: string
  url: string
  conversationId: string | null
  /** In ms: waitInputMs, inputMs, sendMs, waitResponseMs, totalMs. */
  timings: Record<string, number>
  /** Of completion and extraction: `high` when the site's own end marks were seen. */
  confidence: 'high' | 'medium' | 'low'
  /** Which marks told: `stop gone`, `feedback buttons`, `text stable 5 s`, … */
  evidence: string[]
  /** Which of the site's layouts matched. */
  layout: string
  truncated: boolean
}

/** Why a run came to nothing. */
export const failureCodes = [
  'LOGIN_REQUIRED',
  'SESSION_EXPIRED',
  'NETWORK_ERROR',
  'RATE_LIMITED',
  'STUCK',
  'TIMEOUT',
  'LAYOUT_UNKNOWN',
  'PAUSED_BY_USER',
  'INPUT_NOT_APPLIED',
  'SEND_NOT_CONFIRMED',
  'NOT_PAIRED',
  'CHAT_DISABLED',
  'CANCELLED',
  'TAB_CLOSED',
  'QUEUE_FULL',
  'UNKNOWN',
] as const
export type FailureCode = (typeof failureCodes)[number]

export interface Failure {
  code: FailureCode
  /** A sentence for the person that says what to do. */
  message: string
  /** What the driver saw last; TIMEOUT and STUCK always have it. */
  state?: Seen
  /** By mark of the layout, how many elements match; LAYOUT_UNKNOWN has it. */
  health?: Record<string, Record<string, number>>
  /** STUCK: `stop button`, the last answer never ended, or `no response`. */
  kind?: string
}

/** What the driver knows of a turn. */
export interface Seen {
  phase: Phase
  layout: string
  stopSeen: boolean
  stopVisible: boolean
  thinking: boolean
  sendEnabled: boolean
  turnFound: boolean
  answerLength: number
  /** ms since the answer's text last changed. */
  quietMs: number
}

export interface Snapshot {
  url: string
  title: string
  /** By layout, then mark: how many elements match. */
  health: Record<string, Record<string, number>>
  /** The page's elements as indented text with their attributes, without what people wrote; at most 200 KiB. */
  dom: string
  truncated: boolean
}
