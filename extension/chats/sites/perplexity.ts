import type { SiteSpec } from './site.ts'
import { alerts, logins, send, stop } from './phrases.ts'

/**
 * Learned in November 2026 from public extensions and scripts of 2025 and 2026 that read or drive perplexity.ai;
 * never seen with an account. No mark of a complete answer is known within the answer, so that its end is seen by the
 * stop button and a quiet text only.
 */
export const perplexity: SiteSpec = {
  site: 'perplexity',
  label: 'Perplexity',
  matches: ['https://www.perplexity.ai/*'],
  newChat: 'https://www.perplexity.ai/',
  conversation: '^/search/(?!new\\b)([\\w.-]+)',
  conversationUrl: 'https://www.perplexity.ai/search/{id}',
  layouts: [
    {
      name: 'lexical',
      present: ['#ask-input'],
      input: ['#ask-input'],
      send: { selector: ['button[aria-label="Submit"]'], words: send },
      stop: { selector: ['button[aria-label="Stop generating response"]'], words: stop },
      userTurn: ['h1.group\\/query'],
      userText: [],
      answer: ['[id^="markdown-content-"]'],
      answerText: ['.prose'],
      omit: ['.citation'],
      end: [],
    },
  ],
  notices: [...logins, { code: 'LOGIN_REQUIRED', selector: [], url: '^/login' }, ...alerts],
}
