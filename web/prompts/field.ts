/** A text field of the page. */
export type TextField = HTMLTextAreaElement | HTMLInputElement

/** The ARIA attributes of a field while it has a menu. The field gets its own back. */
export class FieldRole {
  private readonly field: TextField
  private readonly before = new Map<string, string | null>()
  /**
   * HTML allows no role for a textarea, and a text box has no aria-expanded. It still has a list and an active option.
   */
  private readonly isCombobox: boolean

  constructor(field: TextField, list: string) {
    this.field = field
    this.isCombobox = field.tagName === 'INPUT'
    if (this.isCombobox) this.set('role', 'combobox')
    this.set('aria-haspopup', 'listbox')
    this.set('aria-autocomplete', 'list')
    this.set('aria-controls', list)
    this.show(false, undefined)
  }

  show(open: boolean, option: string | undefined): void {
    if (this.isCombobox) this.set('aria-expanded', String(open))
    this.set('aria-activedescendant', option ?? null)
  }

  restore(): void {
    for (const [name, value] of this.before) this.put(name, value)
  }

  private set(name: string, value: string | null): void {
    if (!this.before.has(name)) this.before.set(name, this.field.getAttribute(name))
    this.put(name, value)
  }

  private put(name: string, value: string | null): void {
    if (value === null) this.field.removeAttribute(name)
    else this.field.setAttribute(name, value)
  }
}
