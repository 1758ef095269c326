import { html, type TemplateResult } from 'lit'
import { cross } from './icons.ts'
import { freshId, Piece } from './piece.ts'

/** A part of the panel in a modal dialog, open for as long as it is in the document. */
export abstract class DialogPiece extends Piece {
  private readonly headingId = freshId()
  protected wide = false

  protected abstract heading(): TemplateResult | string
  protected abstract body(): TemplateResult

  protected override render(): TemplateResult {
    return html`<dialog class=${this.wide ? 'wide' : ''} part="dialog" aria-labelledby=${this.headingId} @close=${() =>
      this.closed()}>
      <header><h2 id=${this.headingId} tabindex="-1" autofocus>${this.heading()}</h2>
        <button type="button" class="quiet round" aria-label=${this.t('close')} @click=${() =>
      this.close()}>${cross}</button></header>
      ${this.body()}
    </dialog>`
  }

  protected override firstUpdated(): void {
    this.querySelector('dialog')!.showModal()
  }

  protected closed(): void {
    this.desk.show(undefined)
  }

  /** Closing a dialog gives the focus back; taking it out of the document would not. */
  protected close(): void {
    this.querySelector('dialog')!.close()
  }
}
