import { html, nothing, type TemplateResult } from 'lit'
import { cross } from './icons.ts'
import type { Words } from './translations.ts'

/** A sentence to the person. `ends` is called when it goes, unless `undo` was chosen. */
export interface Notice {
  text: string
  hint?: string | undefined
  bad?: boolean
  undo?: (() => void) | undefined
  ends?: () => void
}

/** The time that a notice stays, in ms. One about a fault stays until it is dismissed. */
const time = 8000

/** The notices of a panel, one at a time. */
export class Notices {
  private shown: Notice | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  /** The element that had the focus before the notice. */
  declare private before: HTMLElement | null
  private readonly changed: () => void

  constructor(changed: () => void) {
    this.changed = changed
  }

  put(notice: Notice): void {
    this.dismiss() // it asks for a rendering, which comes later
    this.shown = notice
    this.before = null
    this.go()
  }

  private readonly go = (): void => {
    this.hold()
    if (this.shown && !this.shown.bad) this.timer = setTimeout(() => this.dismiss(), time)
  }

  /** It stays while a person is at it. */
  private readonly hold = (): void => clearTimeout(this.timer)

  private readonly entered = (e: FocusEvent): void => {
    this.hold()
    this.before ??= e.relatedTarget as HTMLElement
  }

  dismiss(): void {
    this.take()?.ends?.()
  }

  private take(): Notice | undefined {
    const { shown } = this
    this.shown = undefined
    this.hold()
    this.changed()
    return shown
  }

  view(t: Words<'undo' | 'dismiss'>): TemplateResult {
    const { shown } = this
    return html`<div class="notices" part="notices" role=${shown?.bad ? 'alert' : 'status'}>${
      shown
        ? html`<div class="notice ${
          shown.bad ? 'bad' : ''
        }" part="notice" @pointerenter=${this.hold} @pointerleave=${this.go}
        @focusin=${this.entered} @focusout=${this.go}>
      <p><bdi>${shown.text}</bdi>${shown.hint ? html` <span class="hint"><bdi>${shown.hint}</bdi></span>` : nothing}</p>
      ${
          shown.undo
            ? html`<button type="button" class="small" @click=${() => this.take()?.undo?.()}>${t('undo')}</button>`
            : nothing
        }
      <button type="button" class="quiet round" aria-label=${t('dismiss')} @click=${() => {
          this.dismiss()
          this.before?.focus()
        }}>${cross}</button>
    </div>`
        : nothing
    }</div>`
  }
}
