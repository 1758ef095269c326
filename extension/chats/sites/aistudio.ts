import type { SiteSpec } from './site.ts'
import { alerts, expired, refusal, send, skip, stop, thinking } from './phrases.ts'

export const aistudio: SiteSpec = {
  site: 'aistudio',
  label: 'AI Studio',
  matches: ['https://aistudio.google.com/*'],
  newChat: 'https://aistudio.google.com/app/prompts/new_chat',
  conversation: '^(?:/u/\\d+)?(?:/app)?/prompts/(?!new_chat)([\\w-]+)',
  conversationUrl: 'https://aistudio.google.com/app/prompts/{id}',
  layouts: [
    {
      name: 'chunk-editor',
      present: ['ms-chunk-editor'],
      input: ['textarea[formcontrolname="promptText"]'],
      send: { selector: ['ms-run-button button:not(.stoppable)'], words: send },
      stop: { selector: ['ms-run-button button.stoppable'], words: stop },
      userTurn: ['[data-turn-role="User"]'],
      userText: ['.turn-content'],
      answer: ['[data-turn-role="Model"]'],
      answerText: ['ms-text-chunk'],
      omit: ['ms-thought-chunk', '.code-header', 'ms-code-block footer', '.ignore-when-copying', 'sup.citation-marker'],
      thinking: { selector: [], words: thinking },
      skip: { selector: [], words: skip },
      end: ['button[iconname="thumb_up"]', 'button[iconname="thumb_down"]'],
      model: {
        open: ['ms-model-selector button'],
        option: ['[id^="model-carousel-row-models/"]'],
        id: { attribute: 'id', pattern: '^model-carousel-row-models/(.+)$' },
      },
      temperature: ['[data-test-id="temperatureSliderContainer"] input[type="number"]'],
    },
  ],
  notices: [
    refusal,
    { code: 'SESSION_EXPIRED', selector: ['[role="alert"]', '[role="alertdialog"]'], words: expired },
    { code: 'LOGIN_REQUIRED', selector: ['a[href^="https://accounts.google.com/ServiceLogin"]'] },
    ...alerts,
    { code: 'NETWORK_ERROR', selector: ['.model-error'] },
  ],
}
