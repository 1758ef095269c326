import type { SiteSpec } from './site.ts'
import { alerts, logins, send, skip, stop } from './phrases.ts'

/**
 * Learned in November 2026 from public extensions and scripts of 2025 and 2026 that read or drive claude.ai; never
 * seen with an account. Made up: the class of thinking, which those leave out.
 */
export const claude: SiteSpec = {
  site: 'claude',
  label: 'Claude',
  matches: ['https://claude.ai/*'],
  newChat: 'https://claude.ai/new',
  conversation: '^/chat/([\\w-]+)',
  conversationUrl: 'https://claude.ai/chat/{id}',
  layouts: [
    {
      name: 'streaming',
      present: ['div.ProseMirror[contenteditable="true"]'],
      input: ['div.ProseMirror[contenteditable="true"]'],
      send: { selector: ['button[aria-label="Send message"]'], words: send },
      stop: { selector: ['button[aria-label="Stop response"]'], words: stop },
      userTurn: ['[data-testid="user-message"]'],
      userText: [],
      answer: ['[data-is-streaming]'],
      answerText: ['.standard-markdown, .progressive-markdown'],
      omit: ['.thinking-block'],
      thinking: { selector: ['.thinking-block .status'] },
      skip: { selector: [], words: skip },
      end: ['[data-testid="action-bar-retry"]'],
      model: {
        open: ['[data-testid="model-selector-dropdown"]'],
        option: ['[role="menu"] [role="menuitem"]'],
      },
    },
  ],
  notices: [...logins, { code: 'LOGIN_REQUIRED', selector: [], url: '^/login' }, ...alerts],
}
