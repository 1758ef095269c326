import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, reactive } from '../../web/ui/part.ts'

/** A button for what cannot be undone. It asks in its own place, and the focus starts on Cancel. */
class Confirm extends AppPart {
  static override properties = reactive('label', 'name', 'question', 'yes', 'act', 'asking', 'small')
  /** On the button. */
  declare label: string
  /** The text for screen readers, where several buttons have the same label. */
  declare name: string | undefined
  declare question: string
  /** On the button that does it. */
  declare yes: string
  declare small: boolean
  declare act: () => unknown
  declare private asking: boolean

  protected override render(): TemplateResult {
    return this.asking
      ? html`<div class="asking" role="group" aria-label=${this.question} @keydown=${this.escape}>
          <p>${this.question}</p>
          <div class="row"><button type="button" class="danger yes" @click=${() => {
        this.asking = false
        void this.act()
      }}>${this.yes}</button>
            <button type="button" class="no" @click=${() => (this.asking = false)}>${this.t('cancel')}</button></div>
        </div>`
      : html`<button type="button" class=${this.small ? 'small danger' : 'danger'} aria-label=${
        this.name ?? nothing
      } @click=${() => (this.asking = true)}>${this.label}</button>`
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('asking') || changed.get('asking') === undefined && !this.asking) return
    this.querySelector<HTMLElement>(this.asking ? '.no' : 'button')?.focus()
  }

  private escape(event: KeyboardEvent): void {
    if (event.key === 'Escape') this.asking = false
  }
}

define('portolan-confirm', Confirm)

interface Asks {
  label: string
  name?: string
  question: string
  yes: string
  act: () => unknown
  small?: boolean
}

export const confirm = (panel: AppPart['panel'], { label, name, question, yes, act, small }: Asks): TemplateResult =>
  html`<portolan-confirm .panel=${panel} .label=${label} .name=${name} .question=${question} .yes=${yes} .act=${act}
    .small=${!!small}></portolan-confirm>`
