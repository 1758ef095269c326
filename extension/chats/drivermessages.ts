/**
 * Messages between the background and the driver in a chat's tab, over a `chrome.tabs.connect` port that the background
 * opens. The driver is a content script: it holds no secret, and the page may forge its reports.
 */
import type { Notice, SiteSpec } from './sites/site.ts'

export { sites, type Site } from './sites/site.ts'

/** `auto`: the driver sends. `assist`: it fills in the prompt, and the user sends and hands the answer over. */
export type Mode = 'auto' | 'assist'

/** One prompt to one site. */
export interface Order {
  prompt: string
  mode: Mode
  /** As the page's picker names it, or its id there. Undefined keeps the page's own. */
  model?: string
  temperature?: number
  /** For these, a page without the setting keeps its own, and `evidence` says so. Otherwise the run fails. */
  preferred?: 'temperature'[]
  /** Reads the models that the page offers, if it has a picker. */
  readModels?: boolean
  /** Allows the words of people and chats in `debug`. */
  debugTexts?: boolean
  /** When the run must have ended, in ms since the epoch. */
  deadline: number
  /** The conversation continues: earlier answers are on the page. */
  continues: boolean
  /** The permission for trusted input (`debugger`) is granted: the driver may send `insert`. */
  trustedInput: boolean
}

/** The globals of the extension's scripts in a page. The page does not see them. */
export interface PageScope {
  /** Reports whether a field has words that the user has typed there. */
  portolanWords?(): boolean
}

export type ToDriver =
  | { type: 'start'; order: Order; spec: SiteSpec }
  /** Sent every 250 ms while a run lasts, because a hidden page's own timers are slow. */
  | { type: 'tick' }
  /** Presses the site's stop button, and ends with CANCELLED. */
  | { type: 'cancel' }
  /** Ends a pause. */
  | { type: 'resume' }
  /** Takes the answer as it is. For assist mode. */
  | { type: 'handover' }
  /** Reports whether trusted input was given. */
  | { type: 'inserted'; ok: boolean }
  /** Asks for a `snapshot`, at any time. */
  | { type: 'snapshot'; spec: SiteSpec }

export type FromDriver =
  | { type: 'phase'; phase: Phase }
  /** The answer so far, as Markdown; at most 64 KiB, cut at the front. */
  | { type: 'partial'; text: string }
  | { type: 'done'; answer: Answer }
  /** The models that the page's picker offers. */
  | { type: 'models'; models: string[] }
  | { type: 'failed'; failure: Failure }
  /** Asks for trusted input of text into the focused field. */
  | { type: 'insert'; text: string }
  /** The user typed or clicked in the tab. */
  | { type: 'paused' }
  | { type: 'snapshot'; snapshot: Snapshot }

/** In this order; `thinking` may come again. */
export type Phase = 'opening' | 'input' | 'sending' | 'handover' | 'waiting' | 'thinking' | 'answering' | 'reading'

export interface Answer {
  /** Markdown, at most 1 MiB. */
  answer: string
  url: string
  conversationId: string | null
  /**
   * In ms: queueMs (behind other prompts), navigateMs (the page loads), connectMs (the driver starts in it),
   * waitInputMs, inputMs, sendMs, waitResponseMs, and totalMs for all of them. The driver has the last five.
   */
  timings: Record<string, number>
  /** `high` when the site's own end marks were seen. */
  confidence: 'high' | 'medium' | 'low'
  /** The signs of completion: `stop gone`, `feedback buttons`, `text stable 5 s`, … */
  evidence: string[]
  /** The name of the layout that matched. */
  layout: string
  /** The answer was cut. */
  truncated: boolean
  /** The model that answered, as the page names it. Null if the page does not say. */
  model: string | null
  /** `suspicious_answer`. */
  flags: string[]
  /** For suspicious answers. It is not part of a tool's result. */
  debug?: PageDebug
}

/** The reason why a run failed. */
export type FailureCode = Notice['code'] | PageCode | 'TIMEOUT' | 'PAUSED_BY_USER' | 'CANCELLED' | 'UNKNOWN'
type PageCode =
  | 'MODEL_UNAVAILABLE'
  | 'STUCK'
  | 'LAYOUT_UNKNOWN'
  | 'INPUT_NOT_APPLIED'
  | 'SEND_NOT_CONFIRMED'
  | 'TAB_CLOSED'

export interface Failure {
  code: FailureCode
  /** A sentence that says what the user can do. */
  message: string
  /** The driver's last look at the turn. TIMEOUT and STUCK always have it. */
  state?: TurnState
  /** The number of matches by layout and selector. LAYOUT_UNKNOWN has it. */
  health?: Record<string, Record<string, number>>
  /** For MODEL_UNAVAILABLE: the models that the page offers. */
  models?: string[]
  debug?: PageDebug
  /** For STUCK. `stop button`: an earlier answer never ended. The other kind is `no response`. */
  kind?: string
}

/** The state of the page in eight fields. Texts are lengths, unless the order allows them. */
export interface PageDebug {
  debug_assistantMsgsCount: number
  /** The user's turns. The name is that of the first site. */
  debug_chatgptArticlesCount: number
  debug_markdownsInLast: number
  debug_lastAssistantInnerTextLen: number
  debug_bodySnippet: string
  debug_bodyLen: number
  debug_pageUrl: string
  debug_pageTitle: string
}

/** The driver's knowledge of a turn. */
export interface TurnState {
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
  /** The number of matches by layout and selector. */
  health: Record<string, Record<string, number>>
  /** The page's elements as indented text with their attributes, without people's texts; at most 200 KiB. */
  dom: string
  truncated: boolean
}
