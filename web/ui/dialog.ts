import { html, type TemplateResult } from 'lit'
import { cross } from './icons.ts'
import { freshId, Part, type Panel } from './part.ts'

/** Ignores all but the first click of a double click: by then another question may be under the pointer. */
export const firstClick = {
  capture: true,
  handleEvent(e: MouseEvent): void {
    if (e.detail < 2) return
    e.preventDefault()
    e.stopPropagation()
  },
}

/** A part in a modal dialog, which is open while it is in the document. */
export abstract class DialogPart<P extends Panel<'close'>> extends Part<P> {
  private readonly headingId = freshId()
  declare protected wide?: boolean
  /** Aborts what the dialog has begun when it leaves the document. */
  declare protected ends: AbortController
  /** The element that had the focus before the dialog. */
  declare private opener: Element | undefined

  protected abstract heading(): TemplateResult | string
  protected abstract body(): TemplateResult

  protected override render(): TemplateResult {
    return html`<dialog class=${
      this.wide ? 'wide' : ''
    } part="dialog" aria-labelledby=${this.headingId} @close=${() => {
      this.caret()
      this.closed()
    }}>
      <header><h2 id=${this.headingId} tabindex="-1" autofocus>${this.heading()}</h2>
        <button type="button" class="quiet round" aria-label=${this.panel.words('close')} @click=${() =>
      this.close()}>${cross}</button></header>
      ${this.body()}
    </dialog>`
  }

  /** A dialog that was moved in the document is modal no longer. */
  override connectedCallback(): void {
    super.connectedCallback()
    this.ends = new AbortController()
    const dialog = this.querySelector('dialog')
    if (!dialog?.open) return
    dialog.open = false
    this.showModal(dialog)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.ends.abort()
    this.panel.placeNotices()
    if (this.querySelector('dialog')?.open) (this.opener as HTMLElement | undefined)?.focus()
  }

  protected override firstUpdated(): void {
    for (let at = document.activeElement; at; at = at.shadowRoot?.activeElement ?? null) this.opener = at
    this.showModal(this.querySelector('dialog')!)
  }

  private showModal(dialog: HTMLDialogElement): void {
    dialog.showModal()
    this.panel.placeNotices()
  }

  /** Chromium gives a text field its focus back without the caret: nothing could be typed. */
  private caret(): void {
    const field = this.opener as HTMLInputElement | undefined
    this.opener = undefined
    if (field?.matches(':focus') && (field.isContentEditable || typeof field.selectionStart === 'number')) {
      field.blur()
      field.focus({ preventScroll: true })
    }
  }

  /** The dialog was closed, also by Escape. */
  protected abstract closed(): void

  /** Closes the dialog, which gives the focus back. To take it out of the document would not. */
  protected close(): void {
    this.querySelector('dialog')!.close()
    this.caret() // the event `close` comes later
    this.panel.placeNotices()
  }
}
