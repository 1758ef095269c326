import type { SiteSpec } from './site.ts'
import { alerts, logins, send, skip, stop } from './phrases.ts'

/**
 * Learned in November 2026 from public extensions and scripts of 2025 and 2026 that read or drive grok.com; never
 * seen with an account. Made up: the class of thinking.
 */
export const grok: SiteSpec = {
  site: 'grok',
  label: 'Grok',
  matches: ['https://grok.com/*'],
  newChat: 'https://grok.com/',
  conversation: '^/c/([\\w-]+)',
  conversationUrl: 'https://grok.com/c/{id}',
  layouts: [
    {
      name: 'tiptap',
      present: ['div.ProseMirror[contenteditable="true"]'],
      input: ['div.ProseMirror[contenteditable="true"]'],
      send: { selector: ['button[type="submit"][aria-label="Submit"]'], words: send },
      stop: { selector: ['button[aria-label="Stop model response"]'], words: stop },
      userTurn: ['[id^="response-"].items-end'],
      userText: ['.response-content-markdown'],
      answer: ['[id^="response-"].items-start'],
      answerText: ['.response-content-markdown'],
      omit: ['.thinking-container'],
      thinking: { selector: ['.thinking-container .status'] },
      skip: { selector: [], words: skip },
      end: ['.action-buttons'],
    },
  ],
  notices: [...logins, { code: 'LOGIN_REQUIRED', selector: ['a[href*="/sign-in"]'] }, ...alerts],
}
