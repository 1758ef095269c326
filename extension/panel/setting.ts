import { html, nothing, type TemplateResult } from 'lit'

export interface Setting {
  id: string
  label: string
  means: string
  on: boolean
  disabled?: boolean
  change(on: boolean): Promise<unknown>
}

/** A switch with its meaning. If the change fails, the switch goes back. */
export function setting(s: Setting): TemplateResult {
  const changed = async (event: Event) => {
    const box = event.target as HTMLInputElement
    const { checked } = box
    if (!await s.change(checked)) box.checked = !checked
  }
  return html`<div class="setting"><label for=${s.id}>${s.label}</label>
    <input id=${s.id} type="checkbox" role="switch" class="switch" .checked=${s.on} ?disabled=${s.disabled}
      aria-describedby=${s.means ? `${s.id}-means` : nothing} @change=${changed}>
    ${s.means ? html`<p id="${s.id}-means" class="dim">${s.means}</p>` : nothing}</div>`
}

/** Waits for the change that a radio button makes. If it fails, the button of `before` is chosen again. */
export async function chosen(event: Event, before: string, change: Promise<boolean>): Promise<void> {
  const buttons = (event.target as HTMLElement).closest('fieldset')!.querySelectorAll('input')
  if (!await change) { for (const button of buttons) button.checked = button.value === before }
}
