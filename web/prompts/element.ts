import { css, html, nothing, render, type PropertyValues, type TemplateResult } from 'lit'
import { wordsOf, type Messages, type Words } from '../panel/translations.ts'
import { given, registryOf } from '../ui/given.ts'
import { composes, define, freshId } from '../ui/part.ts'
import { Shell } from '../ui/shell.ts'
import { styles } from '../ui/style.ts'
import { clean, line } from '../ui/text.ts'
import { directionOf } from '../ui/translations.ts'
import type { Notice } from '../ui/notices.ts'
import { sheetsFor } from '../ui/sheets.ts'
import type { Dialect, PromptInfo, PromptResult, Registry, RegistryError } from '../../wasm/js/shared/types.ts'
import { FieldRole, type TextField } from './field.ts'
import type { FormContext } from './form.ts'
import { place } from './place.ts'
import { slashAt, type Slash } from './slash.ts'
import { menuStyles } from './style.ts'
import type * as types from './types.ts'

/** Rows that are shown. Typing finds the rest. */
const rows = 200

/** The prompt that a person has picked, until its messages are there or the form is closed. */
interface Picked {
  prompt: PromptInfo
  slash: Slash
  fault?: RegistryError
}

/** The slash menu of a text field; see types.ts. */
export class PortolanPrompts extends Shell implements types.PortolanPrompts, FormContext {
  static override styles = [
    styles,
    css`:host { display: contents; }
    .spoken { position: fixed; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }`,
  ]
  static override properties = {
    registry: { attribute: false },
    field: { attribute: false },
    format: { attribute: false },
    messages: { attribute: false },
    for: {},
    locale: {},
    prompts: { state: true },
    slash: { state: true },
    at: { state: true },
    loading: { state: true },
    fault: { state: true },
    picked: { state: true },
  }
  declare registry: Registry
  declare field: TextField | undefined
  declare format: Dialect | undefined
  declare messages: Messages | undefined
  declare for: string
  declare locale: string
  declare private prompts: PromptInfo[] | undefined
  /** The typed text of the person; undefined: the menu is closed. */
  declare private slash: Slash | undefined
  declare private at: number
  declare private loading: boolean
  /** The reason why the prompts could not be listed. */
  declare private fault: RegistryError | undefined
  declare private picked: Picked | undefined

  words: Words = wordsOf('en')
  private readonly menu = document.createElement('div')
  private readonly listId = freshId()
  private bound: { field: TextField; role: FieldRole; ends: AbortController } | undefined
  private open: AbortController | undefined
  private unsubscribe: (() => void) | undefined
  private lives: AbortController | undefined
  /** Where the `/` is whose menu the person has closed. */
  private dismissed: number | undefined
  /** The lengths of the servers' lists when they were last asked for. */
  private asked: string | undefined
  private using: AbortController | undefined

  constructor() {
    super()
    this.for = ''
    this.locale = ''
    this.at = 0
    this.menu.className = 'portolan-menu'
    this.menu.popover = 'manual'
    this.menu.addEventListener('pointerdown', (e) => e.preventDefault()) // the field keeps the focus
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.checkGiven()
    const root = this.getRootNode() as Document | ShadowRoot
    const sheets = sheetsFor(this.ownerDocument, menuStyles.cssText)
    root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, ...sheets])]
    this.bind()
    // The page may make the field later, or make it again.
    this.lives = new AbortController()
    root.addEventListener('focusin', () => this.bind(), { signal: this.lives.signal })
    this.follow()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.close()
    queueMicrotask(() => this.isConnected || this.end()) // it may only have been moved
    this.lives?.abort()
    this.unbind()
    this.follow()
  }

  private checkGiven(): void {
    this.registry = registryOf(this.registry)!
    this.field = given(this.field, 'getAttribute', 'field', 'an element')
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('locale') || changed.has('messages') || !this.hasUpdated)
      this.words = wordsOf(this.locale || this.closest('[lang]')?.getAttribute('lang') || 'en', this.messages)
    this.checkGiven()
    this.bind()
    if (changed.has('registry')) {
      this.prompts = this.fault = this.asked = undefined
      this.loading = false
      this.end()
      this.follow()
    }
    if (changed.has('slash')) this.at = 0
  }

  protected override render(): TemplateResult {
    const { words: t, picked } = this
    return html`<slot></slot><div lang=${t.locale} dir=${directionOf(t.locale)}>
      <div class="spoken" role="status">${this.spoken()}</div>
      ${
      picked && (picked.fault || picked.prompt.arguments.length)
        ? html`<portolan-picked-prompt .panel=${this} .prompt=${picked.prompt} .fault=${picked.fault} @closed=${() => {
          this.picked = undefined
        }}></portolan-picked-prompt>`
        : nothing
    }
      ${this.notices.view(t)}
    </div>`
  }

  protected override updated(): void {
    const { slash, words: t, bound } = this
    const found = this.found()
    const shows = !!slash && !!bound && (!!found.length || !!this.loading || !!this.fault)
    this.menu.lang = t.locale
    this.menu.dir = directionOf(t.locale)
    render(shows ? this.list(found) : this.emptyList(), this.menu)
    if (this.menu.isConnected) this.menu.togglePopover(shows)
    bound?.role.show(shows && !!found.length, shows && found.length ? this.optionId(this.at) : undefined)
    if (!shows) return
    place(this.menu, bound.field)
    this.menu.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }

  protected override describe(fault: unknown): Notice {
    const { message, hint } = fault as RegistryError
    return { text: clean(message, 500), hint: hint && clean(hint, 500) }
  }

  // The menu.

  private optionId(i: number): string {
    return `${this.listId}-${i}`
  }

  /** The field refers to the list also while the menu is closed. */
  private emptyList(): TemplateResult {
    return html`<div id=${this.listId} role="listbox" aria-label=${this.words('view_prompts')}></div>`
  }

  private list(found: PromptInfo[]): TemplateResult {
    const { words: t, fault } = this
    const rest = found.length - rows
    return html`<div id=${this.listId} role="listbox" aria-label=${t('view_prompts')} ?hidden=${!found.length}>${
      found.slice(0, rows).map((p, i) =>
        html`<div role="option" id=${this.optionId(i)} aria-selected=${i === this.at} @click=${() => this.pick(p)}>
          <bdi class="title">${line(p.title || p.prompt, 128)}</bdi>
          <bdi class="server">${line(p.server, 80)}</bdi>
          ${p.description ? html`<bdi class="about">${line(p.description, 160)}</bdi>` : nothing}
          ${p.flags?.length ? html`<span class="flag">${t('flag_suspicious')}</span>` : nothing}
        </div>`
      )
    }</div>
    ${rest > 0 ? html`<div class="note">${t('search_for_rest', { n: rest })}</div>` : nothing}
    ${this.loading && !found.length ? html`<div class="note">${t('loading')}</div>` : nothing}
    ${fault ? html`<div class="note bad">${this.faultText(fault)}</div>` : nothing}`
  }

  private faultText({ message, code, hint }: RegistryError): string {
    return [clean(message, 500), code && `(${clean(code, 60)})`, hint && clean(hint, 500)].filter(Boolean).join(' ')
  }

  private spoken(): string {
    const { words: t } = this
    if (this.using) return t('loading')
    if (!this.slash) return ''
    if (this.fault) return this.faultText(this.fault)
    if (!this.prompts) return t('loading')
    if (!this.prompts.length) return t('no_prompts')
    const n = this.found().length
    return n ? t('prompts_found', { n }) : t('no_match')
  }

  private found(): PromptInfo[] {
    const query = this.slash?.query.toLowerCase()
    if (query === undefined) return []
    return (this.prompts ?? []).filter((p) =>
      [p.name, p.prompt, p.title, p.description].some((text) => text?.toLowerCase().includes(query))
    )
  }

  // The field.

  /** Without a registry, field and element stay as a framework that hydrates them expects. */
  private bind(): void {
    const root = this.getRootNode() as Document | ShadowRoot
    const named = this.for && root.querySelector<TextField>(`:is(textarea, input)#${CSS.escape(this.for)}`)
    const field = this.registry && (this.field ?? named)
    if (field === this.bound?.field) return
    this.unbind()
    if (!field || !this.isConnected) return
    this.querySelector(':scope > .portolan-menu')?.remove() // of the element that this one is a clone of
    this.append(this.menu)
    const ends = new AbortController()
    const { signal } = ends
    this.bound = { field, role: new FieldRole(field, this.listId), ends }
    field.addEventListener('input', (e) => this.look(!(e as InputEvent).isComposing), { signal })
    // Before the page's own listeners, one of which may send the message at Enter.
    field.addEventListener('keydown', (e) => this.press(e as KeyboardEvent), { signal, capture: true })
    field.addEventListener('blur', () => this.close(), { signal })
  }

  private unbind(): void {
    this.bound?.ends.abort()
    this.bound?.role.restore()
    this.bound = undefined
    this.menu.remove()
  }

  /** Follows the text before the caret. Only typing opens the menu. */
  private look(opens: boolean): void {
    const { field } = this.bound!
    const caret = field.selectionStart
    const slash = caret === null || caret !== field.selectionEnd ? undefined : slashAt(field.value, caret)
    if (slash?.start !== this.dismissed) this.dismissed = undefined
    if (!slash || !this.registry || this.dismissed !== undefined) return this.close()
    if (!this.slash && !opens) return
    if (slash.start === this.slash?.start && slash.query === this.slash.query) return
    this.slash = slash
    this.open ??= this.follows()
    void this.ask()
  }

  /** While the menu is open, it follows the field, the caret and the window. */
  private follows(): AbortController {
    const open = new AbortController()
    const { signal } = open
    const move = () => this.bound && place(this.menu, this.bound.field)
    addEventListener('resize', move, { signal })
    addEventListener('scroll', move, { signal, capture: true, passive: true })
    document.addEventListener('selectionchange', () => this.bound && this.look(false), { signal })
    return open
  }

  private close(): void {
    if (this.fault) this.asked = undefined // the next menu asks again
    this.slash = undefined
    this.open?.abort()
    this.open = undefined
  }

  /** Ends the menu, and what was picked from it. */
  private end(): void {
    this.close()
    this.picked = undefined
    this.using?.abort()
  }

  private press(e: KeyboardEvent): void {
    if (composes(e) || e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return
    // The `/…` of a prompt that loads is not sent.
    const waits = e.key === 'Enter' && this.dismissed !== undefined && (this.using || this.picked)
    if (!waits && !this.choose(e.key)) return
    e.preventDefault()
    e.stopImmediatePropagation()
  }

  /** Reports whether a key is for the menu. */
  private choose(key: string): boolean {
    const { slash } = this
    if (!slash) return false
    const found = this.found().slice(0, rows)
    const n = found.length
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, Home: 0, End: -1 }[key]
    if (key === 'Escape') {
      this.dismissed = slash.start
      this.close()
    } else if (!n) return false
    else if (to !== undefined) this.at = (to + n) % n
    else if (key === 'Enter' || key === 'Tab') this.pick(found[this.at]!)
    else return false
    return true
  }

  // The prompts.

  private follow(): void {
    this.unsubscribe?.()
    this.unsubscribe = this.isConnected && this.registry
      ? this.registry.subscribe(() => {
        if (this.slash) void this.ask()
      })
      : undefined
  }

  /** The servers that are on, and how long their lists are. */
  private lists(): string {
    return JSON.stringify(
      Object.entries(this.registry.getSnapshot().servers).map(([name, s]) => [name, s.status, s.promptCount]),
    )
  }

  /** Asks for the prompts at first, and when a list has changed since then. */
  private async ask(): Promise<void> {
    const { registry } = this
    if (this.loading || (this.asked !== undefined && this.asked === this.lists())) return
    this.loading = true
    let fault: RegistryError | undefined
    let { prompts } = this
    const names = () => String(Object.keys(registry.getSnapshot().servers))
    let asked: string
    try {
      do {
        asked = names()
        prompts = await registry.prompts()
      } while (asked !== names()) // a server was added meanwhile
    } catch (e) {
      fault = e as RegistryError
    }
    if (registry !== this.registry) return
    this.loading = false
    this.prompts = prompts
    this.fault = fault
    this.asked = this.lists()
    this.at = Math.max(0, Math.min(this.at, this.found().length - 1))
  }

  private pick(prompt: PromptInfo): void {
    const slash = this.slash!
    this.close()
    this.dismissed = slash.start
    this.using?.abort()
    const picked: Picked = { prompt, slash }
    const using = this.using = new AbortController()
    void this.run(async () => {
      try {
        if (prompt.arguments.length) await import('./form.ts')
        if (using.signal.aborted) return
        this.picked = picked
        if (prompt.arguments.length) return
        await this.use(prompt, {}, using.signal)
        this.picked = undefined
      } catch (e) {
        if (using.signal.aborted) return
        await import('./form.ts')
        if (this.picked === picked) this.picked = { ...picked, fault: e as RegistryError }
      } finally {
        if (this.using === using) this.using = undefined
        this.requestUpdate()
      }
    })
  }

  readonly use = async (prompt: PromptInfo, args: Record<string, string>, signal: AbortSignal): Promise<void> => {
    const { registry, format } = this
    const slash = this.picked?.slash
    const result: PromptResult<types.PickedPrompt['messages'][number]> = await (format
      ? registry.getPrompt(prompt.name, args, { signal, format })
      : registry.getPrompt(prompt.name, args, { signal }))
    signal.throwIfAborted()
    if (slash) this.take(slash)
    const detail: types.PickedPrompt = {
      name: prompt.name,
      server: prompt.server,
      args,
      messages: result.messages,
      result,
    }
    this.dispatchEvent(new CustomEvent('prompt', { detail, bubbles: true, composed: true }))
  }

  /** Removes the `/…` from the field, unless the text there has changed. */
  private take({ start, end, query }: Slash): void {
    const field = this.bound?.field
    if (field?.value.slice(start, end) !== `/${query}`) return
    field.setRangeText('', start, end, 'preserve')
    this.dismissed = undefined
    field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'deleteContentBackward' }))
  }
}

define('portolan-prompts', PortolanPrompts)
