import { languageOf } from './language.ts'
import './app.ts'
import type { PortolanExtension } from './app.ts'

// ?lang= is for translators and tests: a browser's own language comes without it.
const asked = new URLSearchParams(location.search).get('lang')
const language = await languageOf(asked ? [asked] : navigator.languages)
document.documentElement.lang = language.tag
for (const app of document.querySelectorAll<PortolanExtension>('portolan-extension')) app.language = language
