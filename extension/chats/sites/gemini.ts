import type { SiteSpec } from './site.ts'
import { alerts, logins, send, skip, stop } from './phrases.ts'

export const gemini: SiteSpec = {
  site: 'gemini',
  label: 'Gemini',
  matches: ['https://gemini.google.com/*'],
  newChat: 'https://gemini.google.com/app',
  conversation: '^(?:/u/\\d+)?/(?:app|gem/[\\w-]+)/(\\w+)',
  conversationUrl: 'https://gemini.google.com/app/{id}',
  layouts: [
    {
      name: 'shadow',
      present: ['rich-textarea'],
      input: ['rich-textarea .ql-editor[contenteditable="true"]', 'rich-textarea [role="textbox"]'],
      send: { selector: ['mat-icon[data-mat-icon-name="send"]'], words: send },
      stop: { selector: ['mat-icon[fonticon="stop"]', 'mat-icon[data-mat-icon-name="stop"]'], words: stop },
      turn: { selector: ['.conversation-container'], key: 'id' },
      userTurn: ['user-query'],
      userText: ['.query-text'],
      answer: ['model-response'],
      answerText: ['message-content'],
      omit: ['model-thoughts', '.code-block-decoration', 'source-footnote'],
      thinking: { selector: ['model-thoughts .status'] },
      skip: { selector: [], words: skip },
      end: ['img[alt="thumb_up"]', 'img[alt="thumb_down"]'],
      model: {
        open: ['[data-test-id="bard-mode-menu-button"]', 'bard-mode-switcher button'],
        option: ['button.bard-mode-list-button'],
        name: ['.mode-title'],
        id: { attribute: 'data-test-id', pattern: '^bard-mode-option-(.+)$' },
      },
    },
  ],
  notices: [
    ...logins,
    { code: 'LOGIN_REQUIRED', selector: ['a[href^="https://accounts.google.com/ServiceLogin"]'] },
    ...alerts,
    { code: 'NETWORK_ERROR', selector: ['model-response >>> .error-card'] },
  ],
}
