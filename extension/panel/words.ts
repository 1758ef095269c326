import {
  wordsOf as settingsWordsOf,
  type Messages as SettingsMessages,
  type Places,
  type Words as SettingsWords,
} from '../../web/panel/words.ts'
import { en, type Key, type Messages } from './messages.ts'

export type { Key, Messages }

/** The words of the extension's pages in one language; the settings panel's parts take them for theirs. */
export interface Words extends SettingsWords {
  (key: Key, places?: Places): string
}

export const wordsOf = (tag: string, messages: Messages = {}): Words =>
  settingsWordsOf(tag, { ...en, ...messages } as SettingsMessages) as Words

export const isKey = (key: string): key is keyof typeof en => Object.hasOwn(en, key)

/** Languages beside English: their words for these pages, and for the settings panel. */
const languages = {
  ar: () => import('./locales/ar.ts'),
  pseudo: () => import('./locales/pseudo.ts'),
}

export interface Language {
  tag: string
  own: Messages
  settings: SettingsMessages
}

/** The first of the wanted languages that there are words for. */
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

const rightToLeft = new Set(['ar', 'he', 'fa', 'ur', 'ps', 'dv', 'yi'])
export const directionOf = (locale: string): 'rtl' | 'ltr' => (rightToLeft.has(locale.split('-')[0]!) ? 'rtl' : 'ltr')
