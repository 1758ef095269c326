import { html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { places, type AppContext, type Place } from './context.ts'
import { isKey, wordsOf, type Words } from './translations.ts'
import { define } from '../../web/ui/part.ts'
import { Shell, tabStrip } from '../../web/ui/shell.ts'
import { directionOf } from '../../web/ui/translations.ts'
import { type Language } from './language.ts'
import { compass, standingIcon } from '../../web/ui/icons.ts'
import type { Notice } from '../../web/ui/notices.ts'
import { styles } from '../../web/ui/style.ts'
import { clean, line } from '../../web/ui/text.ts'
import { connectPort } from '../browser.ts'
import type { Link, Method, Requests, State } from '../messages.ts'
import { keepFocus } from './focus.ts'
import { octagon, placeIcon, play } from './icons.ts'
import { linksStanding } from './link.ts'
import { Store, type RequestError } from './store.ts'
import { own } from './style.ts'
import './approvals.ts'
import './home.ts'

/** The side panel and the options page: one app at two widths. */
export class PortolanExtension extends Shell implements AppContext {
  static override styles = [styles, own]
  static override properties = { language: { attribute: false }, place: { reflect: true }, now: { state: true } }
  declare language: Language
  declare place: Place
  declare private now: number

  words: Words = wordsOf('en')
  /** The focus goes to the view; see firstUpdated. */
  protected override readonly leavesFocus = true
  private readonly store = new Store(connectPort)
  private seen: State | undefined
  /** A server has asked something: the dialogs are there from then on. */
  private asked = false
  private clock: ReturnType<typeof setInterval> | undefined
  private unsubscribe: (() => void) | undefined

  constructor() {
    super()
    this.place = 'home'
    this.now = Date.now()
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.unsubscribe = this.store.subscribe(() => this.see())
    this.store.start()
    this.clock = setInterval(() => this.tick(), 1000)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.unsubscribe?.()
    this.store.stop()
    clearInterval(this.clock)
  }

  private see(): void {
    const before = this.seen
    const now = this.seen = this.store.state
    if (now?.questions.length && !this.asked) {
      this.asked = true
      void this.run(() => import('./questions.ts')).then(() => this.requestUpdate())
    }
    this.now = Date.now()
    const isNew = (link: Link) => !before?.links.some((l) => l.pairing === link.pairing)
    if (before?.pairing?.step === 'terminal' && now && !now.pairing && now.links.some(isNew))
      this.tell(this.words('paired'))
    this.requestUpdate()
  }

  /** Renders each second while a countdown is shown, otherwise every 30 seconds. */
  private tick(): void {
    const s = this.seen
    const counts = s &&
      (s.links.some((link) => link.status === 'waiting') || s.runs.length > 0 || s.approvals.length > 0)
    if (counts || Date.now() - this.now > 30_000) this.now = Date.now()
  }

  protected override firstUpdated(): void {
    keepFocus(this.renderRoot as ShadowRoot, () => this.renderRoot.querySelector('[role=tabpanel]'))
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('language') && this.language) this.words = wordsOf(this.language.tag, this.language.own)
    if (this.place === 'chats') void this.run(() => import('./chats.ts'))
    if (this.place === 'servers' || this.place === 'tools') void this.run(() => import('./servers.ts'))
    if (this.place === 'history') void this.run(() => import('./history.ts'))
    if (this.place === 'activity') void this.run(() => import('./log.ts'))
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.language) return nothing
    const { words: t, seen: state, place, now } = this
    const bridges = linksStanding(state?.links ?? [], t, now)
    return html`<div class="panel app" lang=${t.locale} dir=${directionOf(t.locale)}>
      <header class="top">
        <div class="brand">${compass}<div><h1>${t('app')}</h1>${
      state?.install.label ? html`<p class="dim profile"><bdi>${line(state.install.label, 40)}</bdi></p>` : nothing
    }</div>
          ${
      state
        ? html`<button type="button" class="chip" data-standing=${bridges.standing} aria-label=${
          t('bridge_is', { status: bridges.long })
        } @click=${() => this.go('home')}>
            ${standingIcon[bridges.standing]}<span>${bridges.short}</span></button>`
        : nothing
    }
        </div>
        <div class="places">${this.tabs()}</div>
      </header>
      ${
      state
        ? html`
        <portolan-approvals .panel=${this} .state=${state} .now=${now}></portolan-approvals>
        ${
          this.asked
            ? html`<portolan-server-questions .panel=${this} .state=${state} .now=${now}></portolan-server-questions>`
            : nothing
        }
        <main><div class="main" role="tabpanel" id="place-${place}" aria-labelledby="tab-${place}" tabindex="-1">${
          this.view(state)
        }</div></main>
        <footer class="foot">${this.awayView()}${this.notices.view(t)}${this.stopBar(state)}</footer>`
        : html`<main><div class="waking" role="tabpanel" id="place-${place}"
          aria-labelledby="tab-${place}">${compass}<p>${t('waking')}</p>${this.awayView()}</div></main>`
    }
    </div>`
  }

  private tabs(): TemplateResult {
    const { words: t } = this
    const runs = this.seen?.runs.length
    return tabStrip(this, {
      label: t('places'),
      tabs: places,
      chosen: this.place,
      choose: this.go,
      face: (p) =>
        html`${placeIcon[p]}<span>${t(`place_${p}`)}</span>${
          p === 'chats' && runs ? html` <span class="count">${t.number(runs)}</span>` : nothing
        }`,
      ids: ['tab', 'place'],
    })
  }

  private view(state: State): TemplateResult {
    const { now } = this
    switch (this.place) {
      case 'chats':
        return html`<portolan-chats .panel=${this} .state=${state} .now=${now}></portolan-chats>`
      case 'history':
        return html`<portolan-history .panel=${this} .state=${state} .now=${now}></portolan-history>`
      case 'servers':
      case 'tools':
        return html`<portolan-servers .panel=${this} .state=${state} .view=${this.place}></portolan-servers>`
      case 'activity':
        return html`<portolan-log .panel=${this} .state=${state} .now=${now}></portolan-log>`
    }
    return html`<portolan-home .panel=${this} .state=${state} .now=${now}></portolan-home>`
  }

  /** Below, so that nothing moves under a pointer. */
  private awayView(): TemplateResult {
    return html`<div role="status">${
      this.store.away ? html`<p class="away">${standingIcon.connecting}<span>${this.words('away')}</span></p>` : nothing
    }</div>`
  }

  /** One button at one place, so that the focus stays on it. The second click of a double click does not go on. */
  private stopBar({ stopped }: State): TemplateResult {
    const { words: t } = this
    return html`<div class="stopbar">
      <button type="button" class=${stopped ? 'primary' : 'stop'} aria-describedby="stop-means" @click=${(
      e: MouseEvent,
    ) => e.detail < 2 && this.send(stopped ? 'go' : 'stop', {})}>${stopped ? play : octagon}${
      t(stopped ? 'go' : 'stop_all')
    }</button>
      <p id="stop-means" class="dim" role="status">${t(stopped ? 'stopped_means' : 'stop_means')}</p>
    </div>`
  }

  protected override describe(error: unknown): Notice {
    const { code, message } = error as RequestError
    const own = `error_${code}`
    return {
      text: isKey(own) ? this.words(own) : clean(String(message), 500),
      hint: code && this.words('code', { code: clean(code, 60) }),
    }
  }

  // Services of the app for its parts; see AppContext.

  readonly go = (place: Place): void => {
    this.place = place
  }

  readonly ask = <M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<ReturnType<Requests[M]>> =>
    this.store.request(method, params)

  readonly send = async <M extends Method>(method: M, params: Parameters<Requests[M]>[0]): Promise<boolean> =>
    await this.run(async () => {
      await this.ask(method, params)
      return true
    }) ?? false

  readonly warn = (text: string): void => this.notices.put({ text, bad: true })
}

define('portolan-extension', PortolanExtension)
