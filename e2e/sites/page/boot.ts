import type { Boot } from '../state.ts'
import { aistudio, gemini, named, words as table, type Words } from './words.ts'

export const boot: Boot = JSON.parse(document.getElementById('boot')!.textContent!)

/** The page's texts, in its language. */
export const words: Words = {
  ...table[boot.state.locale],
  ...{ chatgpt: {}, gemini, aistudio, ...named }[boot.site][boot.state.locale as 'en'],
}
