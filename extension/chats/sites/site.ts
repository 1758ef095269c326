/** The chat sites, by the name in their tools: `chat_chatgpt`. */
export const sites = [
  'chatgpt',
  'gemini',
  'aistudio',
  'claude',
  'perplexity',
  'grok',
  'deepseek',
  'mistral',
  'copilot',
] as const
export type Site = (typeof sites)[number]

/** Returns a record with a value for each site. */
export const eachSite = <T>(value: (site: Site) => T) =>
  Object.fromEntries(sites.map((site) => [site, value(site)])) as Record<Site, T>

/**
 * The differences between chat sites, as data. It enters the page as JSON. Every selector is proved by a page of
 * e2e/sites. Selectors pierce open shadow roots, and `a >>> b` crosses from a host into its own. In a list of
 * selectors, the first that matches counts.
 */
export interface SiteSpec {
  site: Site
  /** The name for people. */
  label: string
  /** Match patterns of the pages, for the host permission. */
  matches: string[]
  /** The address of a new chat. */
  newChat: string
  /** A regular expression on the URL's path and query. Its first group is the conversation's id. */
  conversation: string
  /** The address of a conversation, with `{id}`. */
  conversationUrl: string
  /** Generations of the page, newest first. The layout with most matches is used. */
  layouts: Layout[]
  /** Signs that the site refuses the prompt. */
  notices: Notice[]
}

export interface Layout {
  name: string
  /** All must be on the page. */
  present: string[]
  /** The field for the prompt. */
  input: string[]
  send: Matcher
  stop: Matcher
  /** One element for each of the user's turns, in the page's order. */
  userTurn: string[]
  /** The prompt's text, within or after the turn. */
  userText: string[]
  /** The answer's element: within `turn`, or the next after the user's turn. */
  answer: string[]
  /** The part of the answer that is text for the user. */
  answerText: string[]
  /** An element around one prompt and its answer, if the page has one, and its key's attribute. */
  turn?: { selector: string[]; key: string }
  /** Elements in the answer that are not its text: buttons, thinking, marks of citations. */
  omit: string[]
  /** Shown while the site thinks. */
  thinking?: Matcher
  /** "Skip thinking" and the like. While it is shown, the answer is not complete. */
  skip?: Matcher
  /** Shown beside a complete answer in every language, such as feedback buttons. */
  end: string[]
  /** Names of such buttons, in lower case, if no selector finds them. */
  endWords?: string[]
  /** The element that scrolls the turns. */
  scroller?: string[]
  /** The picker of the model. */
  model?: ModelPicker
  /** An element of the answer whose attribute names the model that wrote it. */
  answeredBy?: { selector: string[]; attribute: string }
  temperature?: string[]
}

export interface ModelPicker {
  /** The button that opens it, and shows the chosen model. */
  open: string[]
  /** One element for each model, while it is open. The first line of its text is the model's name. */
  option: string[]
  /** The element of an option that has its name, if not the first line. */
  name?: string[]
  /** The attribute of an option with the model's id, which is the first group of the regular expression. */
  id?: { attribute: string; pattern: string }
}

/** Finds elements by selector, else by an accessible name in `words` (lower case). */
export interface Matcher {
  selector: string[]
  words?: string[]
}

export interface Notice {
  code: 'AUTHENTICATION_FAILED' | 'LOGIN_REQUIRED' | 'SESSION_EXPIRED' | 'NETWORK_ERROR' | 'RATE_LIMITED'
  selector: string[]
  /** The element must also contain one of these words, in lower case. */
  words?: string[]
  /** A regular expression on the page's address. */
  url?: string
}
