/**
 * The one table of what the side panel, the options page and the background say
 * to each other, over a `chrome.runtime` port of the name {@link panelPort}. The
 * background sends its whole {@link State} when a page connects and after each
 * change; requests are answered by id.
 */
import type { FailureCode, Mode, Phase, Site } from './chats/protocol.ts'

export const panelPort = 'portolan-panel'
/** A port of this name carries connectRegistry's messages. */
export const registryPort = 'portolan-registry'

/** What pages ask, by method. Each answers nothing unless it says so. */
export interface Requests {
  /** Opens a pairing with the bridge at `address`. `state.pairing` goes on from there. */
  pair(p: { address: string }): void
  /** The six digits that the terminal shows. */
  digits(p: { digits: string }): void
  cancelPairing(p: {}): void
  /** Forgets the key; the bridge forgets it with `portolan bridge revoke`. */
  unpair(p: {}): void
  /** Tries to connect now. */
  reconnect(p: {}): void
  /** For a bridge that runs with --ephemeral: the token that it shows. */
  useToken(p: { address: string; token: string }): void
  setLabel(p: { label: string }): void
  /** The page asked for the host permission before. */
  setChat(p: { site: Site; patch: Partial<ChatSettings> }): void
  setOptions(p: Partial<Options>): void
  /** Answers a question that waits in `state.approvals`. `always`: from now on for that client and tool. */
  approve(p: { id: string; answer: 'once' | 'always' | 'deny' | 'never' }): void
  /** `undefined` takes a grant back: the tool's own default holds again. */
  setGrant(p: { client: string; tool: string; grant?: Grant }): void
  forgetClient(p: { client: string }): void
  /** A page's origin that may use the bridge's HTTP endpoint, with its token. */
  approveOrigin(p: { origin: string; approved: boolean }): void
  /** Ends all runs and calls, and the connection to the bridge, until `go`. */
  stop(p: {}): void
  go(p: {}): void
  clearActivity(p: {}): void
  /** Of a run in `state.runs`. */
  cancelRun(p: { id: string }): void
  resumeRun(p: { id: string }): void
  handOver(p: { id: string }): void
  /** Brings a run's tab to the front. */
  showRun(p: { id: string }): void
  /** A debug bundle as JSON text, redacted. */
  debugBundle(p: {}): string
  /** History that was kept, as JSON lines; empty unless the person switched it on. */
  exportHistory(p: {}): string
  clearHistory(p: {}): void
}
export type Method = keyof Requests

export type ToBackground = { [M in Method]: { id: number; method: M; params: Parameters<Requests[M]>[0] } }[Method]
export type FromBackground =
  | { state: State }
  | { id: number; result: unknown }
  | { id: number; error: { code: string; message: string } }

/** All that the pages show. Header values, keys and tokens are never in it. */
export interface State {
  version: string
  install: { id: string; label: string }
  link: Link
  pairing: Pairing | null
  stopped: boolean
  chats: Record<Site, Chat>
  runs: Run[]
  options: Options
  /** Optional permissions that are granted now, and host patterns. */
  permissions: { bookmarks: boolean; debugger: boolean; origins: string[] }
  clients: ClientView[]
  approvals: Approval[]
  /** Approved pages. */
  origins: string[]
  /** Newest last, at most 500. */
  activity: Activity[]
  /** The tools that are offered now. */
  tools: { name: string; title?: string; source: 'chats' | 'tabs' | 'bookmarks' | 'registry'; destructive: boolean }[]
}

export interface Link {
  status: 'unpaired' | 'connecting' | 'connected' | 'waiting' | 'refused' | 'stopped'
  /** The bridge's host and port. */
  address: string
  /** When it connected, in ms since the epoch. */
  since: number | null
  /** `waiting`: when the next attempt is. */
  retryAt: number | null
  error: { code: string; message: string } | null
  ephemeral: boolean
}

/** `digits`: type them here. `terminal`: they were right; say yes in the terminal. */
export interface Pairing {
  step: 'connecting' | 'digits' | 'terminal' | 'failed'
  address: string
  error: { code: string; message: string } | null
}

export interface ChatSettings {
  enabled: boolean
  mode: Mode
  /** Prompts in an hour, at most. */
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
}

/** How prompts ended since the browser started (T25); those that were cancelled are in none. */
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
  deadline: number
  mode: Mode
}

export interface Options {
  /** ask_chatgpt_web, ask_gemini_web, ask_chatgpt_gemini_web are offered too. */
  aliases: boolean
  bookmarks: boolean
  /** page_dom and tabs_list are offered. */
  pages: boolean
  /** The registry's tools are offered to desktop clients. */
  publishRegistry: boolean
  /** Bring a driven tab to the front; default false. */
  focus: boolean
  /** Without a conversationId, go on with the client's last conversation; default false: a new chat. */
  reuseChats: boolean
  /** Keep questions and answers, in this profile only; default false. */
  history: boolean
  /** Days after which they are forgotten. */
  historyDays: number
}

export type Grant = 'allow' | 'ask' | 'deny'
export interface ClientView {
  key: string
  name: string
  version?: string
  lastSeen: number
  grants: Record<string, Grant>
}

export interface Approval {
  id: string
  client: string
  clientName: string
  tool: string
  /** What it will do, in a sentence, with the page's or bookmark's own words quoted. */
  summary: string
  /** The arguments as JSON, cut. */
  args: string
  askedAt: number
  expiresAt: number
}

export interface Activity {
  id: string
  at: number
  kind: 'call' | 'link' | 'pairing' | 'grant' | 'stop'
  client?: string
  tool?: string
  site?: Site
  outcome: 'running' | 'ok' | 'error' | 'denied' | 'cancelled'
  code?: FailureCode | string
  durationMs?: number
  /** A sentence without arguments, answers or secrets. */
  text: string
}
