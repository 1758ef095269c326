import { html, nothing, type TemplateResult } from 'lit'
import type { RegistryContext } from '../context.ts'
import { fieldProblem } from '../../ui/fields.ts'
import { composes, define, freshId, Part, reactive, valueOf } from '../../ui/part.ts'
import { line } from '../../ui/text.ts'
import type { CompletionRequest } from '../../../wasm/js/shared/types.ts'

/** A text field with values that the server suggests: a combobox of the ARIA practices. Its event is `typed`. */
class Combo extends Part<RegistryContext> {
  static override properties = reactive('label', 'hint', 'required', 'wrong', 'value', 'ask', 'values', 'at')
  static override initial = { values: [], at: -1, hint: '' }
  declare label: string
  declare hint: string
  declare required: boolean
  /** The fault in the value. */
  declare wrong: string | undefined
  declare value: string
  /** Makes the request for completion of a text. */
  declare ask: (value: string) => CompletionRequest
  declare private values: string[]
  /** The value that the arrow keys have chosen; -1: none. */
  declare private at: number
  private readonly id_ = freshId()

  protected override render(): TemplateResult {
    const { id_: id, values, at } = this
    const open = values.length > 0
    return html`<div class="field combo"><label for=${id}>${this.label}${
      this.required ? html` <span class="dim">${this.t('required')}</span>` : nothing
    }</label>
      ${this.hint ? html`<p id="${id}-hint" class="dim"><bdi>${this.hint}</bdi></p>` : nothing}
      <input id=${id} type="text" role="combobox" spellcheck="false" autocomplete="off" aria-autocomplete="list"
        aria-expanded=${open} aria-controls="${id}-list" aria-invalid=${!!this
      .wrong} aria-describedby="${id}-hint ${id}-problem"
        aria-activedescendant=${at < 0 ? nothing : `${id}-${at}`} .value=${this.value} @input=${(e: Event) =>
      this.type(valueOf(e))} @focus=${() => this.look(this.value)} @blur=${this.left} @keydown=${this.press}>
      <ul id="${id}-list" role="listbox" aria-label=${this.label} ?hidden=${!open}>${
      values.map((value, i) =>
        html`<li id="${id}-${i}" role="option" aria-selected=${i === at} @pointerdown=${(e: Event) => {
          e.preventDefault()
          this.take(value)
        }}><bdi>${line(value, 200)}</bdi></li>`
      )
    }</ul>
      ${fieldProblem(id, this.wrong)}</div>`
  }

  protected override updated(): void {
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }

  private type(value: string): void {
    this.tell(value)
    void this.look(value)
  }

  private tell(value: string): void {
    this.value = value
    this.dispatchEvent(new CustomEvent('typed', { detail: value }))
  }

  private async look(value: string): Promise<void> {
    try {
      const { values } = await this.panel.registry.complete(this.ask(value))
      if (this.value !== value || !this.focused) return
      const chosen = this.values[this.at]
      this.values = values.filter((v) => v !== value).slice(0, 20)
      this.at = this.values.indexOf(chosen!)
    } catch { /* overtaken by further typing, or the field has no suggestions now */ }
  }

  private take(value: string): void {
    this.hide()
    this.tell(value)
  }

  /** Until the click is over, the list stays: what is under the pointer would move away. */
  private readonly left = (): void => addEventListener('mouseup', () => setTimeout(this.hide), { once: true })

  private readonly hide = (): void => {
    this.values = []
    this.at = -1
  }

  private readonly press = (e: KeyboardEvent): void => {
    const { values, at } = this
    if (composes(e)) return
    if (!values.length) return void (e.key === 'ArrowDown' && this.look(this.value))
    if (e.key === 'Tab' || e.key === 'Enter' && at < 0) return this.hide()
    if (e.key === 'ArrowDown') this.at = (at + 1) % values.length
    else if (e.key === 'ArrowUp') this.at = at <= 0 ? values.length - 1 : at - 1
    else if (e.key === 'Enter') this.take(values[at]!)
    else if (e.key === 'Escape') this.hide()
    else return
    e.preventDefault() // Escape would close the dialog, and Enter send the form
    e.stopPropagation()
  }
}

define('portolan-combo', Combo)
