import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, reactive } from '../../web/ui/part.ts'

interface Asks {
  /** On the button. */
  label: string
  /** The text for screen readers, where several buttons have the same label. */
  name?: string
  question: string
  /** On the button that does it. */
  yes: string
  act: () => unknown
  small?: boolean
}

/** A button for what cannot be undone. It asks in its own place, and the focus starts on Cancel. */
class Confirm extends AppPart {
  static override properties = reactive('asks', 'asking')
  declare asks: Asks
  declare private asking: boolean

  protected override render(): TemplateResult {
    const { label, name, question, yes, act, small } = this.asks
    return this.asking
      ? html`<div class="asking" role="group" aria-label=${question} @keydown=${this.escape}>
          <p>${question}</p>
          <div class="row"><button type="button" class="danger yes" @click=${() => {
        this.asking = false
        void act()
      }}>${yes}</button>
            <button type="button" class="no" @click=${() => (this.asking = false)}>${this.t('cancel')}</button></div>
        </div>`
      : html`<button type="button" class=${small ? 'small danger' : 'danger'} aria-label=${
        name ?? nothing
      } @click=${() => (this.asking = true)}>${label}</button>`
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

export const confirm = (panel: AppPart['panel'], asks: Asks): TemplateResult =>
  html`<portolan-confirm .panel=${panel} .asks=${asks}></portolan-confirm>`
