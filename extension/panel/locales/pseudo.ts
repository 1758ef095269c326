import settings from '../../../web/panel/locales/pseudo.ts'
import type { Message } from '../../../web/panel/words.ts'
import { en, type Messages } from '../messages.ts'

const odd = (text: string) => `⟦${text.replace(/\{\w+\}|[aeiou]/g, (m) => (m.length > 1 ? m : m + m))}⟧`

/** English with its vowels doubled: shows what is not translated, and what does not fit. */
const pseudo: Messages = Object.fromEntries(
  Object.entries(en as Record<string, Message>).map(([key, message]) => [
    key,
    typeof message === 'string'
      ? odd(message)
      : Object.fromEntries(Object.entries(message).map(([category, text]) => [category, odd(text)])),
  ]),
)

export default pseudo
export { settings }
