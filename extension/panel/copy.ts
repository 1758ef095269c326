import { html, type TemplateResult } from 'lit'
import type { Desk } from './piece.ts'

/** A command to type elsewhere, with a button that copies it. */
export function command(desk: Desk, text: string): TemplateResult {
  return html`<div class="command"><code dir="ltr">${text}</code>
    <button type="button" class="small" aria-label=${desk.words('copy_command', { command: text })}
      @click=${() =>
    desk.run(async () => {
      await navigator.clipboard.writeText(text)
      desk.tell(desk.words('copied'))
    })}>${desk.words('copy')}</button></div>`
}
