import type { SiteSpec } from './site.ts'
import { alerts, logins, send, skip, stop } from './phrases.ts'

/**
 * Learned in November 2026 from public extensions and scripts of 2025 and 2026 that read or drive chat.mistral.ai;
 * never seen with an account. No mark of a complete answer is known.
 */
export const mistral: SiteSpec = {
  site: 'mistral',
  label: 'Mistral',
  matches: ['https://chat.mistral.ai/*'],
  newChat: 'https://chat.mistral.ai/chat',
  conversation: '^/chat/([\\w-]+)',
  conversationUrl: 'https://chat.mistral.ai/chat/{id}',
  layouts: [
    {
      name: 'message-parts',
      present: ['div.ProseMirror[contenteditable="true"]'],
      input: ['div.ProseMirror[contenteditable="true"]'],
      send: { selector: ['form button[type="submit"]'], words: send },
      stop: { selector: ['button[aria-label="Stop generation"]'], words: stop },
      userTurn: ['[data-message-author-role="user"]'],
      userText: ['.select-text'],
      answer: ['[data-message-author-role="assistant"]'],
      answerText: ['[data-message-part-type="answer"]'],
      omit: ['[data-message-part-type="reasoning"]'],
      thinking: { selector: ['[data-message-part-type="reasoning"] .status'] },
      skip: { selector: [], words: skip },
      end: [],
    },
  ],
  notices: [...logins, { code: 'LOGIN_REQUIRED', selector: [], url: '^/login' }, ...alerts],
}
