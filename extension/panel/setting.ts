import { html, nothing, type TemplateResult } from 'lit'

interface Setting {
  id: string
  label: string
  means: string
  on: boolean
  change(on: boolean): Promise<unknown>
}

/** A switch with its meaning. If the change fails, the switch shows the state, which is its attribute as well. */
export function setting(s: Setting): TemplateResult {
  const changed = async (event: Event) => {
    const box = event.target as HTMLInputElement
    if (!await s.change(box.checked)) box.checked = box.defaultChecked
  }
  return html`<div class="setting"><label for=${s.id}>${s.label}</label>
    <input id=${s.id} type="checkbox" role="switch" class="switch" ?checked=${s.on} .checked=${s.on}
      aria-describedby=${s.means ? `${s.id}-means` : nothing} @change=${changed}>
    ${s.means ? html`<p id="${s.id}-means" class="dim">${s.means}</p>` : nothing}</div>`
}
