import type { SiteSpec } from './site.ts'
import { alerts, logins, send, skip, stop } from './phrases.ts'

/**
 * Learned in November 2026 from public extensions and scripts of 2025 and 2026 that read or drive
 * copilot.microsoft.com; never seen with an account. Made up: the class of thinking.
 */
export const copilot: SiteSpec = {
  site: 'copilot',
  label: 'Copilot',
  matches: ['https://copilot.microsoft.com/*'],
  newChat: 'https://copilot.microsoft.com/',
  conversation: '^/chats/([\\w-]+)',
  conversationUrl: 'https://copilot.microsoft.com/chats/{id}',
  layouts: [
    {
      name: 'messages',
      present: ['textarea#userInput'],
      input: ['textarea#userInput'],
      send: { selector: ['button[data-testid="submit-button"]'], words: send },
      stop: { selector: ['button[data-testid="stop-button"]'], words: stop },
      userTurn: ['[data-content="user-message"]'],
      userText: [],
      answer: ['[data-content="ai-message"]'],
      answerText: ['[data-content="ai-message"]'],
      omit: ['[data-testid="message-item-reactions"]', '.thinking', '.supcontainer'],
      thinking: { selector: ['.thinking .status'] },
      skip: { selector: [], words: skip },
      end: ['[data-testid="message-item-reactions"]'],
    },
  ],
  notices: [...logins, { code: 'LOGIN_REQUIRED', selector: [], url: '^/login' }, ...alerts],
}
