import { type CSSResult, html, LitElement, type PropertyValues, type TemplateResult } from 'lit'
import { Notices, type Notice } from './notices.ts'
import { keepFocus } from './part.ts'
import { sheetsFor } from './sheets.ts'

/** A whole panel: it has the notices, and shows the faults of its parts there. */
export abstract class Shell extends LitElement {
  protected readonly notices = new Notices(() => this.requestUpdate())

  /** The notice for a fault. */
  protected abstract describe(fault: unknown): Notice

  /** As that of a part. */
  declare protected readonly leavesFocus?: boolean

  protected override createRenderRoot(): ShadowRoot {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    this.dress(root)
    return root
  }

  /** The element was moved into another document, such as that of an iframe. Its sheets stayed behind. */
  adoptedCallback(): void {
    if (this.shadowRoot) this.dress(this.shadowRoot)
  }

  private dress(root: ShadowRoot): void {
    const styles = (this.constructor as typeof LitElement).elementStyles as CSSResult[]
    root.adoptedStyleSheets = sheetsFor(this.ownerDocument, ...styles.map((style) => style.cssText))
  }

  /** A dialog that gave the focus to what is gone has lost it. */
  protected override update(changed: PropertyValues): void {
    const root = this.shadowRoot!
    const focused = root.activeElement ?? root.querySelector('dialog')
    keepFocus(this.leavesFocus ? null : focused, () => super.update(changed))
  }

  readonly run = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (fault) {
      this.notices.put({ ...this.describe(fault), bad: true })
      return undefined
    }
  }

  private bar: Element | undefined
  /** Where the notices are without a dialog. */
  private readonly home = new Comment()

  /** Behind a modal dialog all is inert. */
  placeNotices(): void {
    const root = this.shadowRoot!
    this.bar ??= root.querySelector('.notices')!
    if (!this.home.parentNode) this.bar.before(this.home)
    const dialog = [...root.querySelectorAll('dialog[open]')].at(-1)
    if (dialog) dialog.append(this.bar)
    else this.home.after(this.bar)
  }

  readonly tell = (text: string, undo?: () => void): void => this.notices.put({ text, undo })
}

/** Tabs, by the pattern of the ARIA practices. */
export interface Tabs<Tab extends string> {
  /** Accessible name of the tab list. */
  label: string
  tabs: readonly Tab[]
  chosen: Tab
  choose(tab: Tab): void
  /** The content of a tab. */
  face(tab: Tab): unknown
  /** Prefixes of the ids of a tab and of its tab panel. */
  ids: readonly [tab: string, tabPanel: string]
}

/** The tab strip of an element. Arrow keys, Home and End move between the tabs. */
export function tabStrip<Tab extends string>(
  host: LitElement,
  { label, tabs, chosen, choose, face, ids: [tabId, panelId] }: Tabs<Tab>,
): TemplateResult {
  const move = (event: KeyboardEvent) => {
    const strip = event.currentTarget as HTMLElement
    const step = getComputedStyle(strip).direction === 'rtl' ? -1 : 1
    const at = tabs.indexOf(chosen)
    const to = { ArrowRight: at + step, ArrowLeft: at - step, Home: 0, End: -1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    choose(tabs.at(to % tabs.length)!)
    void host.updateComplete.then(() => strip.querySelector<HTMLElement>('[aria-selected=true]')?.focus())
  }
  return html`<div role="tablist" part="tabs" aria-label=${label} @keydown=${move}>${
    tabs.map((tab) =>
      html`<button type="button" role="tab" id="${tabId}-${tab}" aria-controls="${panelId}-${tab}"
        aria-selected=${tab === chosen} tabindex=${tab === chosen ? 0 : -1} @click=${() => choose(tab)}>${
        face(tab)
      }</button>`
    )
  }</div>`
}
