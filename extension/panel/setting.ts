import { html, nothing, type TemplateResult } from 'lit'

interface Setting {
  id: string
  label: string
  means: string
  on: boolean
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
    <input id=${s.id} type="checkbox" role="switch" class="switch" .checked=${s.on}
      aria-describedby=${s.means ? `${s.id}-means` : nothing} @change=${changed}>
    ${s.means ? html`<p id="${s.id}-means" class="dim">${s.means}</p>` : nothing}</div>`
}
