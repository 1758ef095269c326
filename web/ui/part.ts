import { LitElement, type PropertyValues } from 'lit'
import type { Places, Words } from './translations.ts'

/** The services of a panel for its parts: words, and what only the whole panel can do. */
export interface Panel<Key extends string = never> {
  readonly words: Words<Key>
  /** Does some work. If it fails, the panel shows the fault, and the result is undefined. */
  run<T>(work: () => Promise<T>): Promise<T | undefined>
  /** Shows a notice; `undo` gives it a button. */
  tell(text: string, undo?: () => void): void
  /** Puts the notices into the dialog that is open, or back into the panel. */
  placeNotices(): void
}

/** A part of a panel. It renders into the panel's shadow root, so that ids, styles and CSS parts are shared. */
export abstract class Part<P extends Panel = Panel> extends LitElement {
  static override properties: Record<string, object> = reactive('panel')
  /** The values of properties before somebody sets them. */
  static initial: Record<string, unknown> = {}
  declare panel: P
  /** The part moves no focus. Otherwise, when what has the focus goes away, something near it gets the focus. */
  declare protected readonly leavesFocus?: boolean

  constructor() {
    super()
    Object.assign(this, (this.constructor as typeof Part).initial)
  }

  protected override createRenderRoot(): HTMLElement {
    return this
  }

  protected t(key: Parameters<P['words']>[0], places?: Places): string {
    return this.panel.words(key as never, places)
  }

  protected override update(changed: PropertyValues): void {
    keepFocus(this.leavesFocus ? undefined : this.focused, () => super.update(changed))
  }

  /** The element inside this part that has the focus. */
  protected get focused(): HTMLElement | undefined {
    const active = (this.getRootNode() as ShadowRoot).activeElement as HTMLElement | null
    return this.contains(active) ? active! : undefined
  }
}

/** The elements that can have the focus; of a dialog, its heading, and of tabs, the chosen one. */
const focusable = 'h2[tabindex], button:enabled:not([aria-selected=false]), input:enabled, select, textarea, summary'

/** Renders. An element keeps the focus when it is moved. If it is taken away, an element near it gets the focus. */
export function keepFocus(focused: Element | null | undefined, render: () => void): void {
  const places: (Element | null)[] = []
  for (let at = focused?.parentElement; at; at = at.parentElement) {
    places.push(at)
    if (at.localName === 'li') places.push(at.nextElementSibling, at.previousElementSibling)
  }
  const had = document.activeElement !== document.body
  render()
  if (document.activeElement !== document.body) return
  if (!focused?.isConnected)
    places.map((p) => p?.isConnected ? p.querySelector<HTMLElement>(focusable) : null).find((e) => e)?.focus()
  else if (had) (focused as HTMLElement).focus({ preventScroll: true })
}

/** Gives the focus to an element that the next rendering makes. */
export const focusSoon = (within: Element, selector: string): unknown =>
  requestAnimationFrame(() => within.querySelector<HTMLElement>(selector)?.focus())

/** Declares properties that render the element again when they change, and have no attribute. */
export function reactive(...names: string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { attribute: false }]))
}

/** Registers an element, unless another copy of the panel has. */
export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element)
}

let ids = 0
/** Returns an id that no other element of the page has. */
export const freshId = (): string => `portolan-${++ids}`

/** The text in the field that an event comes from. */
export const valueOf = (event: Event): string => (event.target as HTMLInputElement).value

/** Whether a key belongs to an input method. Of the key that ends a word, Safari says so only by its code, 229. */
export const composes = (e: KeyboardEvent): boolean => e.isComposing || e.keyCode === 229
