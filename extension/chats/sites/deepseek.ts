import type { SiteSpec } from './site.ts'
import { alerts, logins, send, stop } from './phrases.ts'

/**
 * Learned in November 2026 from public extensions and scripts of 2025 and 2026 that read or drive chat.deepseek.com.
 * One measured in June 2026 that send and stop are one button with two drawings. Never seen with an account. No mark of
 * a complete answer is known.
 */
export const deepseek: SiteSpec = {
  site: 'deepseek',
  label: 'DeepSeek',
  matches: ['https://chat.deepseek.com/*'],
  newChat: 'https://chat.deepseek.com/',
  conversation: '^/a/chat/s/([\\w-]+)',
  conversationUrl: 'https://chat.deepseek.com/a/chat/s/{id}',
  layouts: [
    {
      name: 'ds-message',
      present: ['textarea[placeholder*="DeepSeek"]'],
      input: ['textarea[placeholder*="DeepSeek"]'],
      send: {
        selector: ['div[role="button"].ds-button--primary:not(.ds-button--disabled):has(path[d^="M8.3125"])'],
        words: send,
      },
      stop: { selector: ['div[role="button"].ds-button--primary:has(path[d^="M2 4.88"])'], words: stop },
      userTurn: ['.ds-message:not(:has(.ds-assistant-message-main-content)):not(:has(.ds-think-content))'],
      userText: [],
      answer: ['.ds-message:has(.ds-assistant-message-main-content)', '.ds-message:has(.ds-think-content)'],
      answerText: ['.ds-assistant-message-main-content'],
      omit: ['.ds-think-content'],
      end: [],
    },
  ],
  notices: [...logins, { code: 'LOGIN_REQUIRED', selector: [], url: '^/sign_in' }, ...alerts],
}
