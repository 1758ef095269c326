import type { PanelMessages } from './types.ts'

/** The panel's words in this language, for its property `messages`. */
declare const messages: PanelMessages
export default messages
