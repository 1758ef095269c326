import { appWords, type AppKey } from '../panel/app-words.ts'
import { registryOf } from '../ui/given.ts'
import { sheetsFor } from '../ui/sheets.ts'
import { clean, line } from '../ui/text.ts'
import { directionOf, sayFrom, type Messages, type Say } from '../ui/translations.ts'
import { isObject } from '../../wasm/js/shared/object.ts'
import type { ContentBlock, Registry, ToolInfo, ToolResult } from '../../wasm/js/shared/types.ts'
import { button, isMeant, make, status } from './dom.ts'
import { AppFrame, invalidParams, Refusal, type Host } from './frame.ts'
import { askLink } from './link.ts'
import { AppFault, load, toolOf, uriOf, type App, type Fault } from './load.ts'
import type { Feature } from './policy.ts'
import { approve, seen } from './seen.ts'
import { style } from './style.ts'
import type * as types from './types.ts'

type Params = Record<string, unknown>
type Mode = types.AppDisplayMode
const modes: readonly Mode[] = ['inline', 'fullscreen', 'pip']

/** Hosts of this machine. Elsewhere a sandbox page over http could be replaced on its way. */
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** The tallest inline app, in px. */
const tallest = 2000

const prefersDark = '(prefers-color-scheme: dark)'

/** The reason why an app is not there, where another try may help. */
const mayPass: types.AppState['why'][] = ['unreadable', 'silent', 'flood', 'left', 'closed']

/** Properties without an attribute. Setting one plans an update. */
const properties = ['registry', 'result', 'tool', 'args', 'messages', 'partial'] as const
const values = Symbol('values')

/** An app of a tool; see types.ts. */
export class PortolanApp extends HTMLElement implements types.PortolanApp, Host {
  static observedAttributes = ['sandbox', 'locale']
  declare registry: Registry | undefined
  declare result: ToolResult | undefined
  declare tool: string | undefined
  declare args: Params | undefined
  declare messages: types.PortolanApp['messages']
  declare partial: boolean
  readonly [values]: Params = {}
  private readonly box = make('section', { role: 'group', tabIndex: -1 })
  private readonly bar = make('header')
  private readonly ask = make('div', { className: 'ask', role: 'status' })
  private readonly card = make('div', { className: 'card', tabIndex: -1 })
  private readonly heading = make('bdi')
  private readonly toggle = button('', () => this.show(this.mode === 'inline' ? 'fullscreen' : 'inline'))
  private readonly leave = button('', () => void this.close())
  private words: Say<AppKey> = sayFrom<AppKey>('en', appWords)
  private frame: AppFrame | undefined
  private mode: Mode = 'inline'
  /** The modes that the app has. */
  private has = modes
  private planned = false
  /** The subject of the frame or the card. */
  private shown: readonly unknown[] = []
  private info: ToolInfo | undefined
  private unfollow: (() => void) | undefined
  private run = new AbortController()
  private lives: AbortController | undefined
  /** The end of the call, of which the app hears once it is ready. */
  private end: Params | undefined
  private sent: Partial<Record<'result' | 'args' | 'partial' | 'context', unknown>> = {}

  constructor() {
    super()
    this.attachShadow({ mode: 'open' }).append(this.box)
    this.adoptedCallback()
    this.box.part.add('app')
    this.box.onkeydown = ({ key, shiftKey, target }) => {
      if (key === 'Escape') this.show('inline')
      // From the end, the browser itself goes back to what is last in the app.
      if (key === 'Tab' && shiftKey && target === this.toggle && this.mode === 'fullscreen') this.card.focus()
    }
    this.bar.part.add('bar')
    this.bar.append(this.heading, this.toggle, this.leave)
    this.card.part.add('card')
    this.box.append(this.bar, this.ask, this.card)
    for (const name of properties) {
      const early = Object.getOwnPropertyDescriptor(this, name)
      if (early && Reflect.deleteProperty(this, name)) this[values][name] = early.value
    }
  }

  get sandbox(): string {
    return this.getAttribute('sandbox') ?? ''
  }
  set sandbox(v) {
    this.setAttribute('sandbox', v ?? '')
  }
  get locale(): string {
    return this.getAttribute('locale') ?? ''
  }
  set locale(v) {
    this.setAttribute('locale', v ?? '')
  }
  get displayMode(): Mode {
    return this.mode
  }
  set displayMode(mode) {
    this.show(mode)
  }

  /** The element was moved into another document. Its sheets stayed behind. */
  adoptedCallback(): void {
    this.shadowRoot!.adoptedStyleSheets = sheetsFor(this.ownerDocument, style)
  }

  connectedCallback(): void {
    this.lives = new AbortController()
    const { signal } = this.lives
    matchMedia(prefersDark).addEventListener('change', () => this.tellContext(), { signal })
    const looks = new MutationObserver(() => this.tellContext())
    looks.observe(document.documentElement, { attributeFilter: ['class', 'style', 'lang', 'data-theme'] })
    signal.addEventListener('abort', () => looks.disconnect())
    document.addEventListener('focusin', () => {
      // It is the page behind that has the focus.
      if (this.mode === 'fullscreen' && !this.shadowRoot!.activeElement) this.toggle.focus()
    }, { signal })
    this.plan()
  }

  disconnectedCallback(): void {
    this.lives?.abort()
    this.unfollow?.()
    this.unfollow = undefined
    this.stop()
    this.shown = []
  }

  attributeChangedCallback(): void {
    this.plan()
  }

  cancelled(reason?: string): void {
    this.end = { reason }
    this.tell()
  }

  async close(): Promise<void> {
    const { frame } = this
    if (!frame) return
    await frame.end()
    if (frame === this.frame) this.failed('closed')
  }

  // The content that is shown.

  /** Properties are set one after another, and are read together. */
  plan(): void {
    if (this.planned) return
    this.planned = true
    queueMicrotask(() => {
      this.planned = false
      if (this.isConnected) this.update()
    })
  }

  private update(): void {
    const { result, tool, messages, words: { locale } } = this
    const registry = registryOf(this.registry)
    const tag = this.locale || this.closest('[lang]')?.getAttribute('lang') || 'en'
    this.words = sayFrom<AppKey>(tag, (messages ?? {}) as Messages<AppKey>, appWords)
    this.box.lang = this.words.locale
    this.box.dir = directionOf(this.words.locale)
    // An app stays while its server is paused, and comes once its server has listed the tool. It ends with its address.
    const open = this.frame && registry === this.shown[0] ? [this.info!] : []
    const info = registry && toolOf([...registry.getSnapshot().tools, ...open], tool, result)
    const place = () => info && registry?.getSnapshot().servers[info.server]?.config.url
    const url = place()
    this.unfollow?.()
    this.unfollow = registry?.subscribe(() => (!info || place() !== url) && this.plan())
    const uri = info && uriOf(info)
    const next = [registry, info?.server, info?.tool, uri, url, this.sandbox]
    if (next.some((v, i) => v !== this.shown[i]) || !this.shown.length) {
      this.shown = next
      this.info = info
      void this.begin(registry, info, uri, url)
    } else if (this.frame) {
      this.name()
      this.tell()
    } else if (this.sent.result !== result || this.words.locale !== locale) this.again?.()
  }

  /** Makes the card again. Undefined without a card. */
  private again: (() => void) | undefined

  /** Loads the app of a URI at the server of that address. What was approved for it counts at that address only. */
  private async begin(registry: Registry | undefined, info: ToolInfo | undefined, uri?: string, url?: string) {
    this.stop()
    const { signal } = this.run = new AbortController()
    try {
      if (!registry || !info || !uri) return this.showCard('none')
      const sandbox = this.sandboxUrl()
      this.showLoading()
      const app = await load(registry, info.server, uri, signal)
      if (signal.aborted) return
      const trust = registry.getSnapshot().servers[info.server]?.config.trust
      const name = `${url} ${uri}`
      const before = seen(name)
      const accept = () => {
        if (app.digest) approve(name, app.digest)
        this.askFeatures(sandbox, app)
      }
      const isNew = app.digest && !before
      if (trust === 'trust' || (isNew ? trust !== 'ask-always' : before && before === app.digest)) accept()
      else this.showCard(isNew ? 'new' : 'changed', accept)
    } catch (e) {
      if (!signal.aborted) this.failed(e instanceof AppFault ? e.message : 'unreadable')
    }
  }

  private sandboxUrl(): URL {
    if (!this.sandbox) throw new AppFault('no_sandbox')
    const url = URL.canParse(this.sandbox, document.baseURI) ? new URL(this.sandbox, document.baseURI) : undefined
    const isSafe = url?.protocol === 'https:' || url?.protocol === 'http:' && loopback.test(url.hostname)
    if (!url || !isSafe || url.origin === location.origin) throw new AppFault('bad_sandbox')
    return url
  }

  private askFeatures(sandbox: URL, app: App): void {
    const { words: t } = this
    if (!app.permissions.length) return this.open(sandbox, app, [])
    const since = performance.now()
    const names = app.permissions.map((name) => t(`app_${name}`)).join(t('comma'))
    this.again = undefined
    this.card.replaceChildren(
      this.headingLine(),
      make('p', {}, t('app_asks'), ' ', make('strong', {}, names)),
      make(
        'div',
        { className: 'row' },
        button(t('app_allow'), () => isMeant(since) && this.open(sandbox, app, app.permissions), 'primary'),
        button(t('app_without'), () => this.open(sandbox, app, [])),
      ),
    )
  }

  private open(sandbox: URL, app: App, granted: readonly Feature[]): void {
    this.sent = {}
    this.showLoading()
    this.frame = new AppFrame(sandbox, app, granted, this.titleText(), this)
    this.box.append(this.frame.element)
    new ResizeObserver(() => this.tellContext()).observe(this.frame.element)
    this.frame.element.style.visibility = 'hidden'
  }

  private stop(): void {
    this.run.abort()
    this.frame?.drop()
    this.frame = this.end = undefined
    this.show('inline')
  }

  private titleText(): string {
    return this.words('app_of', { server: line(this.info?.server ?? this.result?.server ?? '', 80) })
  }

  private headingLine(): HTMLElement {
    return make('p', { className: 'why' }, make('bdi', {}, this.titleText()))
  }

  private showLoading(): void {
    this.again = undefined
    this.bar.hidden = true
    this.keepFocus(() => this.card.replaceChildren(status(this.words('app_loading'))))
  }

  /** Fills the card or the bar. If the element had the focus, the first button gets it, or else the card. */
  private keepFocus(fill: () => void): void {
    const isFocused = !!this.shadowRoot!.activeElement
    fill()
    if (isFocused) ((this.bar.hidden ? this.card : this.bar).querySelector('button') ?? this.card).focus()
  }

  /** The text of the result, why the app is not there, and what the person can do. */
  private showCard(why: types.AppState['why'] & string, go?: () => void): void {
    const since = performance.now()
    this.bar.hidden = true
    this.again = () => {
      const { result, words: t } = this
      this.sent.result = result
      const reason = why === 'changed' || why === 'new' ? t(`app_${why}`) : why === 'none' ? '' : t(`app_why_${why}`)
      this.card.replaceChildren(this.headingLine())
      if (result?.text) this.card.append(make('pre', { tabIndex: 0 }, clean(result.text, 20_000)))
      if (reason) this.card.append(status(reason))
      const row = make('div', { className: 'row' })
      if (go) row.append(button(t('app_approve'), () => isMeant(since) && go(), 'primary'))
      if (mayPass.includes(why))
        row.append(button(t('app_retry'), () => {
          this.shown = []
          this.plan()
        }))
      if (row.firstChild) this.card.append(row)
    }
    this.again()
    this.emit('app-state', { state: 'card', why })
  }

  private emit(name: keyof types.PortolanAppEvents, detail: unknown, cancelable = false): boolean {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }))
  }

  // Messages to the app.

  private context(): Params {
    const { clientWidth: width, clientHeight: height } = this.frame?.element ?? this
    const schemes = [document.documentElement, this].map((element) => getComputedStyle(element).colorScheme)
    const only = schemes.find((scheme) => scheme.includes('light') !== scheme.includes('dark'))
    return {
      theme: only?.includes('dark') ?? matchMedia(prefersDark).matches ? 'dark' : 'light',
      locale: this.words.locale,
      displayMode: this.mode,
      availableDisplayModes: modes,
      containerDimensions: this.mode === 'inline' ? { width, maxHeight: tallest } : { width, height },
    }
  }

  /** Sends what has changed of the context. */
  private tellContext(): void {
    if (!this.frame?.isReady) return
    const now = this.context()
    const before = (this.sent.context ?? {}) as Params
    const changed = Object.entries(now).filter(([k, v]) => JSON.stringify(v) !== JSON.stringify(before[k]))
    this.sent.context = now
    if (changed.length) this.frame.notify('ui/notifications/host-context-changed', Object.fromEntries(changed))
  }

  private tell(): void {
    const { frame, args, result, partial, sent } = this
    if (!frame?.isReady) return
    this.tellContext()
    // The specification wants the arguments before the result.
    const input = args ?? {}
    if (sent.args !== input && (args || !('args' in sent)) || sent.partial && !partial) {
      sent.args = input
      sent.partial = partial
      frame.notify(`ui/notifications/tool-input${partial ? '-partial' : ''}`, { arguments: input })
    }
    if (result && sent.result !== result) frame.notify('ui/notifications/tool-result', forApp(sent.result = result))
    else if (this.end) frame.notify('ui/notifications/tool-cancelled', this.end)
    this.end = undefined
  }

  greet({ appCapabilities }: Params): object {
    const { definition } = this.info!
    const { availableDisplayModes: has } = Object(appCapabilities) as { availableDisplayModes?: Mode[] }
    this.has = modes.filter((m) => has?.includes?.(m) ?? true)
    this.sent.context = this.context()
    return {
      protocolVersion: '2026-01-26',
      hostInfo: { name: 'portolan', version: '1' },
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        message: { text: {} },
        updateModelContext: { text: {}, structuredContent: {} },
      },
      hostContext: {
        ...this.sent.context as Params,
        toolInfo: { tool: definition },
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        platform: 'web',
        userAgent: 'portolan',
      },
    }
  }

  ready(): void {
    this.frame!.element.style.visibility = ''
    this.keepFocus(() => {
      this.card.replaceChildren()
      this.box.append(this.card)
      this.bar.hidden = false
      this.name()
    })
    this.tell()
    this.emit('app-state', { state: 'ready' })
  }

  failed(why: Fault): void {
    this.keepFocus(() => {
      this.stop()
      this.showCard(why)
    })
  }

  // Messages of the app.

  notice(method: string, { height }: Params): void {
    if (method === 'ui/notifications/request-teardown') void this.close()
    if (method === 'ui/notifications/size-changed' && typeof height === 'number' && height >= 0)
      this.frame!.element.style.blockSize = `${Math.min(Math.ceil(height), tallest)}px`
  }

  async answer(method: string, params: Params): Promise<object> {
    const registry = this.registry! // there is one while there is a frame
    const { server } = this.info!
    const { signal } = this.frame!
    switch (method) {
      case 'tools/call': {
        const { name, arguments: args = {} } = params
        if (typeof name !== 'string' || !isObject(args)) throw new Refusal('not a tool call', invalidParams)
        return forApp(await registry.call(name, args, { app: server, signal }))
      }
      case 'resources/read': {
        if (typeof params['uri'] !== 'string') throw new Refusal('not a URI', invalidParams)
        const { contents, _meta } = await registry.readResource(server, params['uri'], { signal })
        return { contents, ...(_meta && { _meta }) }
      }
      case 'ui/open-link':
        return askLink(this.ask, params['url'], this.words, signal)
      case 'ui/message':
        return this.offer('app-message', { server, role: 'user', content: blocks(params['content'], true) })
      case 'ui/update-model-context': {
        const { content, structuredContent } = params
        if (structuredContent !== undefined && !isObject(structuredContent))
          throw new Refusal('structuredContent is not an object', invalidParams)
        return this.offer('app-context', {
          server,
          ...(content !== undefined && { content: blocks(content, false) }),
          ...(structuredContent !== undefined && { structuredContent }),
        })
      }
      case 'ui/request-display-mode':
        return { mode: this.requested(params['mode']) }
    }
    throw new Refusal('method not found', -32_601)
  }

  private offer(name: 'app-message' | 'app-context', detail: object): object {
    if (this.emit(name, detail, true)) return {}
    throw new Refusal('the host refuses')
  }

  /** An app may cover the window only after the person has done something. */
  private requested(mode: unknown): Mode {
    const isActive = (navigator.userActivation as UserActivation | undefined)?.isActive ?? true
    if (mode === 'inline' || isActive) this.show(mode as Mode)
    return this.mode
  }

  /** Names the app, and says what the buttons of the bar do. */
  private name(): void {
    const { words: t } = this
    const isInline = this.mode === 'inline'
    this.box.ariaLabel = this.heading.textContent = this.titleText()
    this.toggle.textContent = t(isInline ? 'app_full' : 'app_inline')
    this.toggle.hidden = isInline && !this.has.includes('fullscreen')
    this.leave.textContent = t('app_close')
  }

  /** The frame stays where it is in the document, because it would load again elsewhere. */
  private show(mode: Mode): void {
    if (mode !== 'inline' && !(this.frame?.isReady && this.has.includes(mode)) || mode === this.mode) return
    this.mode = mode
    const { box } = this
    box.dataset['mode'] = mode
    box.popover = mode === 'inline' ? null : 'manual'
    const isFull = mode === 'fullscreen'
    box.role = isFull ? 'dialog' : 'group'
    box.ariaModal = isFull ? 'true' : null
    if (mode !== 'inline') box.showPopover()
    this.name()
    if (isFull) this.toggle.focus()
    this.tellContext()
  }
}

for (const name of properties) {
  Object.defineProperty(PortolanApp.prototype, name, {
    get(this: PortolanApp) {
      return this[values][name]
    },
    set(this: PortolanApp, value: unknown) {
      this[values][name] = value
      this.plan()
    },
  })
}

/** The CallToolResult of the specification, of a result. */
const forApp = ({ content, structuredContent, isError, _meta }: ToolResult): object => ({
  content,
  ...(structuredContent !== undefined && { structuredContent }),
  ...(isError && { isError }),
  ...(_meta && { _meta }),
})

/** Content blocks of an app, one or a list of them. Throws for what are none. */
function blocks(content: unknown, needed: boolean): ContentBlock[] {
  const list = [content].flat() as Params[]
  if (needed && !list.length || list.length > 50 || list.some((b) => typeof b?.['type'] !== 'string'))
    throw new Refusal('content is no content block, nor a list of them', invalidParams)
  return list as ContentBlock[]
}
