import { html, nothing, type TemplateResult } from 'lit'
import { more } from './icons.ts'
import { define, freshId, Part, reactive } from './part.ts'

export interface MenuItem {
  label: string
  act: () => void
  danger?: boolean
}

/** A button that opens a menu, by the menu button pattern of the ARIA practices. */
class Menu extends Part {
  static override properties = reactive('label', 'items', 'open')
  declare label: string
  declare items: () => MenuItem[]
  declare private open: boolean
  private readonly list = freshId()

  private get popoverElement(): HTMLElement {
    return this.querySelector('[popover]')!
  }
  private get buttons(): HTMLElement[] {
    return [...this.querySelectorAll<HTMLElement>('[role=menuitem]')]
  }

  protected override render(): TemplateResult {
    return html`
      <button type="button" class="quiet round" aria-label=${this.label} title=${this.label} aria-haspopup="menu"
        aria-controls=${this.list}
        aria-expanded="false" popovertarget=${this.list} @keydown=${this.openByKey}>${more}</button>
      <div id=${this.list} popover role="menu" aria-label=${this.label} class="menu" @beforetoggle=${this.opening}
        @toggle=${this.toggled} @keydown=${this.move}>
        ${
      (this.open ? this.items() : []).map((item) =>
        html`<button type="button" role="menuitem" tabindex="-1" class=${item.danger ? 'danger' : nothing}
          @click=${() => this.choose(item)}>${item.label}</button>`
      )
    }
      </div>`
  }

  /** The button has the focus first, so that a dialog gives it back to the button. */
  private choose(item: MenuItem): void {
    this.popoverElement.hidePopover()
    this.querySelector('button')!.focus()
    item.act()
  }

  /** The items are made when the menu opens. */
  private opening(event: ToggleEvent): void {
    if (event.newState !== 'open') return
    this.open = true
    this.performUpdate()
  }

  private toggled(event: ToggleEvent): void {
    const open = event.newState === 'open'
    const button = this.querySelector('button')!, list = this.popoverElement
    button.setAttribute('aria-expanded', String(open))
    const focus = (this.getRootNode() as ShadowRoot).activeElement
    if (!open) {
      this.open = false
      if (!focus || list.contains(focus)) button.focus()
      return
    }
    const at = button.getBoundingClientRect()
    const rtl = getComputedStyle(this).direction === 'rtl'
    const { width, height } = list.getBoundingClientRect()
    const left = rtl ? at.left : at.right - width
    const top = at.bottom + height + 8 > innerHeight ? at.top - height - 4 : at.bottom + 4
    list.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`
    list.style.top = `${Math.max(8, top)}px`
    if (!list.contains(focus)) this.buttons[0]?.focus()
  }

  private openByKey(event: KeyboardEvent): void {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    this.popoverElement.showPopover()
    if (event.key === 'ArrowUp') this.buttons.at(-1)?.focus()
  }

  private move(event: KeyboardEvent): void {
    const { buttons } = this
    const at = buttons.indexOf((this.getRootNode() as ShadowRoot).activeElement as HTMLElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') this.popoverElement.hidePopover()
    if (to === undefined) return
    event.preventDefault()
    buttons.at(to % buttons.length)?.focus()
  }
}

define('portolan-menu', Menu)
