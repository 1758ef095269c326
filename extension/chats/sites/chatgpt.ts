import type { SiteSpec } from './site.ts'
import { alerts, expired, feedback, refusal, send, skip, stop } from './phrases.ts'

const model = {
  open: ['button[data-testid="model-switcher-dropdown-button"]'],
  option: ['[role="menuitem"][data-testid^="model-switcher-"]'],
  id: { attribute: 'data-testid', pattern: '^model-switcher-(.+)$' },
}

export const chatgpt: SiteSpec = {
  site: 'chatgpt',
  label: 'ChatGPT',
  matches: ['https://chatgpt.com/*'],
  newChat: 'https://chatgpt.com/',
  conversation: '^(?:/g/[^/]+)?/c/([\\w-]+)',
  conversationUrl: 'https://chatgpt.com/c/{id}',
  layouts: [
    {
      name: 'turn-key',
      present: ['[data-app-action-timeline-scroll]'],
      input: ['#prompt-textarea'],
      send: { selector: ['form button[type="submit"]'], words: send },
      stop: { selector: [], words: stop },
      turn: { selector: ['[data-turn-key]'], key: 'data-turn-key' },
      userTurn: ['[data-turn-key] [data-user-message-bubble]'],
      userText: ['.whitespace-pre-wrap'],
      answer: ['[data-markdown-text-style="assistant-message"]'],
      answerText: ['[data-markdown-text-style="assistant-message"]'],
      omit: ['.thinking', '.code-head', '[data-testid="webpage-citation-pill"]'],
      thinking: { selector: ['.loading-shimmer'] },
      skip: { selector: [], words: skip },
      end: ['[data-turn-key] > [role="group"] button'],
      scroller: ['[data-app-action-timeline-scroll]'],
      model,
    },
    {
      name: 'article',
      present: ['#prompt-textarea'],
      input: ['#prompt-textarea'],
      send: { selector: ['button[data-testid="send-button"]', 'form button[type="submit"]'], words: send },
      stop: { selector: ['button[data-testid="stop-button"]'], words: stop },
      userTurn: ['article[data-turn="user"]'],
      userText: ['[data-message-author-role="user"] .whitespace-pre-wrap'],
      answer: ['article[data-turn="assistant"]'],
      answerText: ['[data-message-author-role="assistant"] .markdown.prose'],
      omit: ['.thinking', '.code-head', '[data-testid="webpage-citation-pill"]'],
      thinking: { selector: ['.loading-shimmer'] },
      skip: { selector: [], words: skip },
      end: ['[data-testid="good-response-turn-action-button"]', '[data-testid="copy-turn-action-button"]'],
      endWords: feedback,
      model,
      answeredBy: { selector: ['[data-message-model-slug]'], attribute: 'data-message-model-slug' },
    },
  ],
  notices: [
    refusal,
    { code: 'SESSION_EXPIRED', selector: ['#modal-expired-session'] },
    { code: 'SESSION_EXPIRED', selector: ['[role="alert"]'], words: expired },
    { code: 'LOGIN_REQUIRED', selector: [], url: '^/auth/login' },
    { code: 'LOGIN_REQUIRED', selector: ['[data-testid="login-button"]', 'a[href^="/auth/login"]'] },
    ...alerts,
    { code: 'NETWORK_ERROR', selector: ['[data-testid="regenerate-thread-error-button"]'] },
  ],
}
