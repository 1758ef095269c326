import type { Site } from '../../extension/chats/drivermessages.ts'

export const locales = ['en', 'ja', 'de', 'fr', 'es', 'zh'] as const
export type Locale = (typeof locales)[number]

/** The state of a site's pages, from the next load on. `Pages.set` changes it. */
export interface PageState {
  /**
   * ChatGPT: `article` or `turn-key`. The others have one layout, `known`. `unknown` has no known mark, on any
   * site.
   */
  layout: 'article' | 'turn-key' | 'known' | 'unknown'
  locale: Locale
  /** ChatGPT's article layout without data-testid and the ids of buttons. Only words remain. */
  noTestIds: boolean
  /**
   * `guest`: log-in buttons above a page that works. `wall`: only a log-in page, at its
   * own address. `refused`: that page, with the message that it refused what was entered.
   * `away` and `rejected`: Google's pages for a log-in, and for one that it refused.
   */
  loggedOut: false | 'guest' | 'wall' | 'refused' | 'away' | 'rejected'
  /** An earlier conversation appears in place of a new chat, this many ms after the load. */
  old: number | false
  /**
   * The way in which the editor spoils scripted input: `once` drops the first execCommand, `newlines` makes one line
   * of it, `scripted` drops every execCommand and synthetic paste, `all` drops all input without a key.
   */
  mangle: false | 'once' | 'newlines' | 'scripted' | 'all'
  /** The document never arrives. */
  hangs: boolean
  /** ms after the load until the editor appears. */
  late: number
  /** Further earlier conversations in the sidebar. */
  sidebar: number
  /** Turn-key: the document has the turns newest first, which column-reverse allows. */
  newestFirst: boolean
}

export function freshState(site: Site): PageState {
  return {
    layout: site === 'chatgpt' ? 'article' : 'known',
    locale: 'en',
    noTestIds: false,
    loggedOut: false,
    old: false,
    mangle: false,
    hangs: false,
    late: 0,
    sidebar: 0,
    newestFirst: false,
  }
}

/** A prompt and its outcome, in the backend. */
export interface StoredTurn {
  id: string
  prompt: string
  answer: string
  /** Seconds of thinking, with the thoughts. */
  thought?: { seconds: number; text: string }
  /** The stop button stays, also after a reload. */
  frozen?: boolean
}

export interface StoredConversation {
  id: string
  title: string
  turns: StoredTurn[]
}

/** The data in a page's document. */
export interface Boot {
  site: Site
  state: PageState
  conversation?: StoredConversation
  history: { id: string; title: string }[]
}

/** One line of the backend's answer to a prompt. */
export type Event =
  | { type: 'began'; conversation: string; turn: string }
  | { type: 'thinking'; skippable: boolean }
  | { type: 'thought'; seconds: number; text: string }
  | { type: 'delta'; text: string }
  /** The text so far was an outline. */
  | { type: 'replace'; text: string }
  /** The stop button leaves or returns before the answer is complete. */
  | { type: 'lull'; on: boolean }
  /** The turn's element is replaced. */
  | { type: 'remount' }
  /** No answer will come. */
  | { type: 'silent' }
  | { type: 'done'; frozen?: 'turn' | 'kept' }

export type ErrorKind = 'ratelimit' | 'network' | 'expired'

/** A page's message. */
export interface Posted {
  prompt: string
  conversation: string | null
  model?: string
  temperature?: number
}

/** Returns the site's state with the changes of an address: `?layout=turn-key&old=800`. */
export function stateOf(state: PageState, query: URLSearchParams): PageState {
  const asked = [...query].filter(([name]) => name in state).map((
    [name, value],
  ) => [name, /^(true|false|\d+)$/.test(value) ? JSON.parse(value) : value])
  return { ...state, ...Object.fromEntries(asked) }
}
