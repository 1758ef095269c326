/**
 * The messages between the extension's pages and the background, over a `chrome.runtime` port named {@link panelPort}.
 * The background sends its whole {@link State} when a page connects and after each change. It answers requests by id.
 */
import type { ElicitationAnswer, Flag } from '../wasm/js/shared/types.ts'
import type { Grant, ServerQuestion } from './tools/tool.ts'
import type { ProfileChange } from './chats/sites/profile.ts'
import type { Answer, Mode, PageDebug, Phase, Site } from './chats/drivermessages.ts'

export type { Grant }

export const panelPort = 'portolan-panel'
/** A port of this name carries the messages of connectRegistry. */
export const registryPort = 'portolan-registry'

/** The pages' requests, by method. Most have no result. */
export interface Requests {
  /** Begins a pairing with the bridge at `address`. `state.pairing` shows its progress. */
  pair(p: { address: string }): void
  /** Passes on the six digits that the terminal shows. */
  digits(p: { digits: string }): void
  cancelPairing(p: {}): void
  /** Forgets a pairing's key. The bridge forgets it with `portolan bridge revoke`. */
  unpair(p: { pairing: string }): void
  /** Tries to connect to the bridge of a pairing now. */
  reconnect(p: { pairing: string }): void
  /** Uses the token of a bridge that runs with --ephemeral. */
  useToken(p: { address: string; token: string }): void
  setLabel(p: { label: string }): void
  /** The page requests the host permission before. */
  setChat(p: { site: Site; patch: Partial<ChatSettings> }): void
  setOptions(p: Partial<Options>): void
  /** Returns a site's profile: selectors and addresses. */
  profile(p: { site: Site }): SiteProfile
  /** Uses changes of a site's profile, as JSON text; an empty text resets it. Fails if it cannot be used. */
  setProfile(p: { site: Site; json: string }): SiteProfile
  /** Decides about a call in `state.approvals`. `always` and `never` hold for that client and tool. */
  approve(p: { id: string; answer: 'once' | 'always' | 'deny' | 'never' }): void
  /** Answers a question of a server in `state.questions`. */
  answerQuestion(p: { id: string; answer: ElicitationAnswer }): void
  /** Without a grant the tool's own default holds again. */
  setGrant(p: { client: string; tool: string; grant?: Grant }): void
  forgetClient(p: { client: string }): void
  /** Lets pages of an origin use the bridge's HTTP endpoint. They need the bridge's token as well. */
  approveOrigin(p: { origin: string; approved: boolean }): void
  /**
   * Offers the tools of an origin's pages to clients, or no longer. The page requests the host permission before.
   * Returns whether nothing else needs that permission.
   */
  setPageTools(p: { origin: string; on: boolean }): boolean
  /** Stops all runs, calls and the connections to bridges, until `go`. */
  stop(p: {}): void
  go(p: {}): void
  clearActivity(p: {}): void
  /** The ids of runs are in `state.runs`. */
  cancelRun(p: { id: string }): void
  resumeRun(p: { id: string }): void
  handOver(p: { id: string }): void
  /** Brings a run's tab to the front. */
  showRun(p: { id: string }): void
  /** Returns a redacted debug bundle as JSON text. */
  debugBundle(p: {}): string
  /** Returns entries of the history, newest first. It is empty unless the user switched it on. */
  history(p: HistoryQuery): HistoryPage
  /** Returns a part of the history as JSON lines, and the `after` of the next part. */
  exportHistory(p: { after?: number }): { lines: string; next: number | null }
  deleteHistory(p: { id: number }): void
  clearHistory(p: {}): void
  /** Forgets the comparisons that have ended. */
  clearComparisons(p: {}): void
  /** Returns the kept bundles about failed runs and suspicious answers, the oldest first, each as a file. */
  troubles(p: {}): { id: string; at: string; site: Site; code: string; file: string }[]
}
export type Method = keyof Requests

export type ToBackground = { [M in Method]: { id: number; method: M; params: Parameters<Requests[M]>[0] } }[Method]
export type FromBackground =
  | { state: State }
  | { id: number; result: unknown }
  | { id: number; error: { code: string; message: string } }

/** The state that the pages show. It never has header values, keys or tokens. */
export interface State {
  version: string
  install: { id: string; label: string }
  /** The paired bridges, the oldest pairing first. */
  links: Link[]
  /** The pairing under way. */
  pairing: Pairing | null
  stopped: boolean
  chats: Record<Site, Chat>
  runs: Run[]
  /** Newest first, at most 10. They end with the background. */
  comparisons: Comparison[]
  options: Options
  /** The optional permissions and host patterns that are granted now. */
  permissions: { bookmarks: boolean; debugger: boolean; origins: string[] }
  clients: ClientView[]
  approvals: Approval[]
  questions: Question[]
  /** Approved origins of pages. */
  origins: string[]
  /** The origins whose pages' tools clients may use. */
  pageTools: PageOrigin[]
  /** Newest last, at most 500. */
  activity: Activity[]
  /** The tools that clients get now. */
  tools: { name: string; source: 'chats' | 'tabs' | 'bookmarks' | 'registry' }[]
}

export interface Link {
  /** Tells this pairing from earlier and later ones. */
  pairing: string
  status: 'connecting' | 'connected' | 'waiting' | 'refused' | 'stopped'
  /** The bridge's host and port. */
  address: string
  /** When it connected, in ms since the epoch. */
  since: number | null
  /** `waiting`: when the next attempt is. */
  retryAt: number | null
  error: { code: string; message: string } | null
  ephemeral: boolean
}

const byUrgency: Link['status'][] = ['stopped', 'refused', 'connected', 'connecting', 'waiting']

/** The link that stands for all: one that needs the person, else the best one. Without a pairing there is none. */
export const leading = (links: Link[]): Link | undefined =>
  links.toSorted((a, b) => byUrgency.indexOf(a.status) - byUrgency.indexOf(b.status))[0]

/** `digits`: the user types them here. `terminal`: they were right, and the user says yes in the terminal. */
export interface Pairing {
  step: 'connecting' | 'digits' | 'terminal' | 'failed'
  address: string
  error: { code: string; message: string } | null
}

export interface ChatSettings {
  enabled: boolean
  mode: Mode
  /** The most prompts in an hour. */
  perHour: number
  /** When the terms-of-use note was accepted, in ms since the epoch. */
  acceptedAt: number | null
}
export interface Chat extends ChatSettings, Tally {
  label: string
  newChat: string
  matches: string[]
  granted: boolean
  waiting: number
  usedThisHour: number
  /** The user changed its profile. */
  ownProfile: boolean
}

/** A site's profile as JSON texts, and how the one in use differs from the shipped one. */
export interface SiteProfile {
  shipped: string
  /** The user's changes. Empty if there are none. */
  own: string
  changes: ProfileChange[]
}

/** A prompt to a site, and its answer. */
export interface HistoryEntry
  extends Pick<Answer, 'answer' | 'url' | 'conversationId' | 'timings' | 'model' | 'flags'>
{
  id: number
  /** ISO 8601. */
  ts: string
  project?: string
  clientName: string
  site: Site
  question: string
  /** A list shows only the beginning of the answer. */
  cut?: boolean
  /** `ok`, or the code of the failure. */
  outcome: string
}

export interface HistoryQuery {
  /** Words that all occur in question, answer, address, project or client. */
  text?: string
  site?: Site
  project?: string
  /** Only entries with a lower id. */
  before?: number
  /** 50 if not given. */
  limit?: number
}

export interface HistoryPage {
  entries: HistoryEntry[]
  /** There are older ones. */
  more: boolean
  /** All projects in the history. */
  projects: string[]
}

/** A bundle about a failed run or a suspicious answer. Its texts are lengths, unless the user allows them. */
export interface Trouble {
  id: string
  /** ISO 8601. */
  at: string
  site: Site
  code: string
  details: Record<string, unknown>
  debug?: PageDebug
  question: string
  answer?: string
}

/** The outcomes of prompts since the browser started. Cancelled prompts are not counted. */
export interface Tally {
  answered: number
  failed: number
  timedOut: number
}

export interface Run {
  id: string
  site: Site
  client: string
  phase: Phase | 'queued' | 'paused'
  /** The first 200 characters. */
  prompt: string
  startedAt: number
  mode: Mode
}

/** A comparison of several chats' answers, under way or ended. */
export interface Comparison {
  id: string
  form: 'compare' | 'consensus'
  client: string
  /** The first 200 characters. */
  prompt: string
  endedAt?: number
  round: number
  rounds: number
  sites: {
    site: Site
    state: 'asked' | 'answered' | 'failed'
    code?: string | undefined
    /** The first 4,000 characters. */
    answer?: string | undefined
    /** The conversation's address. */
    url?: string | undefined
  }[]
  /** A statement that all agree with has no `by`. Otherwise `by` has what a site says: a text, or its position. */
  rows: { text: string; by?: Partial<Record<Site, string>> }[]
  /** The common answer, or the verdict. */
  answer?: string
  openPoints?: string[]
  /** The reason why there is no judgement. */
  fault?: string | undefined
}

export interface Options {
  /** Offers ask_chatgpt_web, ask_gemini_web and ask_chatgpt_gemini_web too. */
  aliases: boolean
  bookmarks: boolean
  /** Offers page_dom and tabs_list. */
  pages: boolean
  /** Offers the registry's tools to desktop clients. */
  publishRegistry: boolean
  /** Brings a driven tab to the front. Off by default. */
  focus: boolean
  /**
   * Without a conversationId, a prompt continues the client's last conversation with the site: never, that of its
   * current project (if it has one), or that of any project.
   */
  reuse: 'off' | 'project' | 'client'
  /** Keeps questions and answers, in this profile only. Off by default. */
  history: boolean
  /** The time that they are kept, in days. */
  historyDays: number
  /** Keeps the words of people and chats in bundles about trouble. Off by default. */
  debugTexts: boolean
}

/** The bridge's description of the client of a call. Name, version and project are the client's own claims. */
export interface ClientClaim {
  name?: string
  version?: string
  instance?: string
  project?: string
  /** Its model can be asked (sampling). */
  samples?: boolean
}

export interface ClientView {
  key: string
  name: string
  version?: string
  /** Where it last called from. */
  project?: string
  /** From 2 on: others of the same name and project were connected before it. */
  number?: number
  lastSeen: number
  grants: Record<string, Grant>
}

/** An origin whose pages offer their tools (WebMCP). Titles and tools are the page's own words, without hidden text. */
export interface PageOrigin {
  origin: string
  /** The browser lets the extension reach it. */
  granted: boolean
  tabs: {
    id: number
    title: string
    /** The page has a modelContext. */
    supported: boolean
    tools: { name: string; title: string; description: string; readOnly: boolean }[]
    /** The number of further tools that were left out. */
    left: number
  }[]
}

/** A question that waits in the side panel. */
export interface Question extends ServerQuestion {
  id: string
}

export interface Approval {
  id: string
  client: string
  clientName: string
  tool: string
  /** A sentence about the effect, with the page's or bookmark's own words in quotes. */
  summary: string
  /** Suspicious text in the tool's definition. */
  flags: readonly Flag[]
  /** The arguments as JSON, cut. */
  args: string
  askedAt: number
  expiresAt: number
}

export interface Activity {
  id: string
  at: number
  kind: 'call' | 'stop' | 'storage'
  client?: string
  tool?: string
  outcome: 'running' | 'ok' | 'error' | 'denied' | 'cancelled'
  code?: string
  durationMs?: number
  /** A sentence without arguments, answers or secrets. */
  text: string
}
