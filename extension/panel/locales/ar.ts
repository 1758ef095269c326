import settings from '../../../web/panel/locales/ar.ts'
import type { Message } from '../../../web/panel/words.ts'
import type { en } from '../messages.ts'

/** Arabic. */
const ar: Partial<Record<keyof typeof en, Message>> = {
}

export default ar
export { settings }
