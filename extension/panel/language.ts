import type { Messages } from './translations.ts'
import type { Messages as SettingsMessages } from '../../web/panel/translations.ts'

/** The other languages: messages of these pages, and of the settings panel. */
const languages = {
  ar: () => import('./locales/ar.ts'),
  pseudo: () => import('./locales/pseudo.ts'),
}

export interface Language {
  tag: string
  own: Messages
  settings: SettingsMessages
}

/** Returns the first wanted language that is translated. */
export async function languageOf(wanted: readonly string[]): Promise<Language> {
  for (const tag of wanted) {
    const name = tag.toLowerCase().split('-')[0]!
    if (name === 'en') return { tag, own: {}, settings: {} }
    if (!Object.hasOwn(languages, name)) continue
    const { default: own, settings } = await languages[name as keyof typeof languages]()
    return { tag: name === 'pseudo' ? 'en' : tag, own: { ...settings, ...own }, settings }
  }
  return { tag: 'en', own: {}, settings: {} }
}
