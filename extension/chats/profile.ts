/** The chat sites, by the name in their tools: `chat_chatgpt`. */
export const sites = ['chatgpt', 'gemini', 'aistudio'] as const
export type Site = (typeof sites)[number]

/**
 * What differs between chat sites, as data: it crosses into the page as JSON. A
 * selector stands here only with the page of e2e/sites that proves it.
 * Selectors pierce open shadow roots, and `a >>> b` crosses from a host into its
 * own; of a list, the first that matches counts.
 */
export interface SiteProfile {
  site: Site
  /** For people. */
  label: string
  /** Match patterns of its pages, for the host permission. */
  matches: string[]
  /** Where a new chat begins. */
  newChat: string
  /** A regular expression on the URL's path and query, whose first group is the conversation's id. */
  conversation: string
  /** The address of a conversation, with `{id}`. */
  conversationUrl: string
  /** Generations of the page, newest first; what matches best is used. */
  layouts: Layout[]
  /** Elements or words that tell why nothing goes on. Words are compared in lower case, last. */
  trouble: Trouble[]
}

export interface Layout {
  name: string
  /** All must be there for the layout to match. */
  present: string[]
  /** The field for the prompt. */
  input: string[]
  send: Mark
  stop: Mark
  /** One element for each turn of the person, in the page's order. */
  userTurn: string[]
  /** Within or after it: the text of the prompt. */
  userText: string[]
  /** The answer's element: within `turn`, or the next after the user's turn. */
  answer: string[]
  /** The part of the answer that is text for the person. */
  answerText: string[]
  /** An element around one prompt and its answer, if the page has one, and the attribute that is its key. */
  turn?: { selector: string[]; key: string }
  /** Elements in the answer that are not its text: buttons, thinking, citations' chrome. */
  omit: string[]
  /** While it is there, the site thinks. */
  thinking?: Mark
  /** "Skip thinking" and the like: while it is there, the answer is not complete. */
  skip?: Mark
  /** Beside a complete answer, such as feedback buttons: language-independent. */
  end: string[]
  /** Names of such buttons, in lower case, where no selector tells them. */
  endWords?: string[]
  /** What scrolls the turns. */
  scroller?: string[]
  /** AI Studio's. `option` has the model's id as `{model}`. */
  model?: { open: string[]; option: string }
  temperature?: string[]
}

/** Elements by selector, else by their accessible name in any of these words (lower case). */
export interface Mark {
  selector: string[]
  words?: string[]
}

export interface Trouble {
  code: 'LOGIN_REQUIRED' | 'SESSION_EXPIRED' | 'NETWORK_ERROR' | 'RATE_LIMITED'
  selector: string[]
  /** Needed beside the selector, in any of these words; none: the selector is enough. */
  words?: string[]
  /** A regular expression on the page's address. */
  url?: string
}
