import type { Site } from '../../extension/chats/protocol.ts'

export const locales = ['en', 'ja', 'de', 'fr', 'es', 'zh'] as const
export type Locale = (typeof locales)[number]

/** What a site's pages are like, from the next load on: `Pages.set` changes it. */
export interface PageState {
  /**
   * ChatGPT: `article` or `turn-key`. The others have one layout, `known`. `unknown` has none of the marks, on any
   * site.
   */
  layout: 'article' | 'turn-key' | 'known' | 'unknown'
  locale: Locale
  /** ChatGPT's article layout without data-testid and the ids of buttons: only words remain. */
  noTestIds: boolean
  /**
   * `guest`: log-in buttons above a page that otherwise works; `wall`: nothing but a log-in page, at an address of its
   * own.
   */
  loggedOut: false | 'guest' | 'wall'
  /** An earlier conversation shows where a new chat was asked for, so many ms after the load. */
  old: number | false
  /**
   * What the editor does to input that is not typed: `once` drops the first execCommand, `newlines` makes one line
   * of it, `scripted` drops every execCommand and synthetic paste, `all` drops what no key was pressed for.
   */
  mangle: false | 'once' | 'newlines' | 'scripted' | 'all'
  /** ms after the load until the editor is there. */
  late: number
  /** Earlier conversations in the sidebar besides those that the backend keeps. */
  sidebar: number
  /** Turn-key: the turns stand in the document newest first, as column-reverse also allows. */
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
    late: 0,
    sidebar: 0,
    newestFirst: false,
  }
}

/** A prompt and what became of it, as the backend keeps it. */
export interface StoredTurn {
  id: string
  prompt: string
  answer: string
  /** Seconds of thinking, with what was thought. */
  thought?: { seconds: number; text: string }
  /** The stop button stays, after a reload too. */
  frozen?: boolean
}

export interface StoredConversation {
  id: string
  title: string
  turns: StoredTurn[]
}

/** What a page is given with its document. */
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
  /** What came so far was an outline. */
  | { type: 'replace'; text: string }
  /** The stop button goes, or comes back, though the answer is not complete. */
  | { type: 'lull'; on: boolean }
  /** The element of the turn is made anew. */
  | { type: 'remount' }
  /** Nobody will answer. */
  | { type: 'silent' }
  | { type: 'done'; frozen?: 'turn' | 'kept' }

export type ErrorKind = 'ratelimit' | 'network' | 'expired'

/** What a page posts. */
export interface Posted {
  prompt: string
  conversation: string | null
  model?: string
  temperature?: number
}

/** The state that an address asks for, over the site's: `?layout=turn-key&old=800`. */
export function stateOf(state: PageState, query: URLSearchParams): PageState {
  const asked = [...query].filter(([name]) => name in state).map((
    [name, value],
  ) => [name, /^(true|false|\d+)$/.test(value) ? JSON.parse(value) : value])
  return { ...state, ...Object.fromEntries(asked) }
}
