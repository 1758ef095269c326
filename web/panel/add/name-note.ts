import { html, type TemplateResult } from 'lit'
import { isPlainName } from '../../config/address.ts'
import type { Words } from '../translations.ts'

/** Says below the field of a server's name what its tools will be called. */
export const nameNote = (words: Words, id: string, name: string): TemplateResult =>
  html`<p id=${id} class="dim">${isPlainName(name) ? words('name_tools', { name }) : words('name_hash')}</p>`
