import { html, nothing, type TemplateResult } from 'lit'
import type { Entry } from '../../config/types.ts'
import { groupTyped } from '../../pairing/digits.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { copy } from '../../ui/save.ts'
import { line } from '../../ui/text.ts'
import { PanelPart } from '../context.ts'
import { commandOf, GatewayFault, pairWithGateway, serversAt, type GatewayServer } from './gateway-link.ts'
import { carryOut, plansOf, type Plan } from './plan.ts'

const defaultAddress = '127.0.0.1:55157'

/** Says how local programs become servers of this page: the command to run, then the pairing with the gateway. */
class Gateway extends PanelPart {
  static override properties = reactive('entries', 'address', 'opened', 'step', 'fault', 'short')
  static override initial = { entries: [], address: defaultAddress, step: 'idle', fault: '', short: false }
  /** Pasted programs; none in the card of a gateway's server. */
  declare entries: readonly Entry[]
  declare address: string
  /** The person has asked for the pairing in a card, which then has the focus. */
  declare opened: boolean | undefined
  declare private step: 'idle' | 'looking' | 'digits' | 'terminal'
  declare private fault: string
  declare private short: boolean
  private readonly id_ = freshId()
  private digits = ''
  private typed: ((digits: string) => void) | undefined
  private attempt: AbortController | undefined
  /** A pairing whose servers are not here yet, because their list failed. */
  private paired: { address: string; token: string } | undefined
  private moved = false

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.attempt?.abort()
  }

  protected override firstUpdated(): void {
    this.moved = !!this.opened
  }

  protected override updated(): void {
    if (!this.moved) return
    this.moved = false
    this.querySelector<HTMLElement>('[data-next]')?.focus()
  }

  protected override render(): TemplateResult {
    const { command, save } = commandOf(this.entries)
    return html`<section class="entry">
      <p>${this.t('gateway_run')}</p>
      <div class="row"><code class="mono grow" dir="ltr">${command}</code>
        <button type="button" class="small" @click=${() => copy(this.panel, command)}>${this.t('copy')}</button></div>
      ${save && this.entries.length ? html`<p class="dim">${this.t('gateway_save')}</p>` : nothing}
      ${
      this.step === 'digits'
        ? this.ask()
        : this.step === 'idle'
        ? this.begin()
        : html`<p role="status">${
          this.t(this.step === 'looking' ? 'gateway_looking' : 'gateway_yes', { address: this.address })
        }</p>${this.cancel()}`
    }
    </section>`
  }

  private begin(): TemplateResult {
    const id = `${this.id_}-address`
    return html`<div role="alert">${this.fault ? html`<p class="hint bad">${this.fault}</p>` : nothing}</div>
      <form class="row" @submit=${this.find}><button data-next>${this.t('fix_gateway')}</button>${
      this.opened
        ? html`<button type="button" @click=${() => this.panel.askToken(undefined)}>${this.t('cancel')}</button>`
        : nothing
    }</form>
      <details ?open=${this.address !== defaultAddress}><summary>${
      this.t('advanced')
    }</summary><div class="field"><label for=${id}>${
      this.t('gateway_address')
    }</label><input id=${id} dir="ltr" maxlength="100" spellcheck="false" autocomplete="off" .value=${this.address} @input=${(
      e: Event,
    ) => (this.address = (e.target as HTMLInputElement).value.trim())}></div></details>`
  }

  private ask(): TemplateResult {
    const id = this.id_
    return html`<form class="entries" novalidate @submit=${this.check}>
      <div class="field"><label for="${id}-digits">${this.t('gateway_digits')}</label>
        <input id="${id}-digits" class="mono" data-next dir="ltr" inputmode="numeric" autocomplete="one-time-code" size="7"
          spellcheck="false" placeholder="123 456" aria-invalid=${this.short} aria-describedby="${id}-fault"
          @input=${this.group}></div>
      <div id="${id}-fault" role="alert">${
      this.short ? html`<p class="hint bad">${this.t('gateway_six')}</p>` : nothing
    }</div>
      <div class="row"><button class="primary">${this.t('gateway_check')}</button>${this.cancel()}</div>
    </form>`
  }

  private cancel(): TemplateResult {
    return html`<button type="button" data-next=${this.step === 'digits' ? nothing : ''} @click=${() =>
      this.attempt?.abort()}>${this.t('cancel')}</button>`
  }

  private go(step: Gateway['step']): void {
    this.moved = !!this.focused
    this.step = step
  }

  private readonly group = (event: Event): void => {
    this.digits = groupTyped(event)
    this.short = false
  }

  private readonly check = (event: Event): void => {
    event.preventDefault()
    this.short = this.digits.length < 6
    if (this.short) this.querySelector<HTMLElement>('[data-next]')!.focus()
    else this.typed?.(this.digits)
  }

  private readonly find = async (event: Event): Promise<void> => {
    event.preventDefault()
    const attempt = this.attempt = new AbortController()
    this.digits = this.fault = ''
    this.go('looking')
    const { address, paired } = this
    const { signal } = attempt
    try {
      let token = paired?.address === address ? paired.token : undefined
      let servers = token && await serversAt(address, token, signal).catch(() => undefined)
      signal.throwIfAborted()
      if (!servers) {
        token = await pairWithGateway(address, {
          digits: () => {
            this.go('digits')
            return new Promise((resolve) => (this.typed = resolve))
          },
          confirmed: () => this.go('terminal'),
        }, signal)
        this.paired = { address, token }
        servers = await serversAt(address, token, signal)
      }
      await this.panel.run(() => this.add(token!, servers))
    } catch (e) {
      if (!attempt.signal.aborted) this.fault = this.words(e)
    } finally {
      this.go('idle')
    }
  }

  private words(e: unknown): string {
    const { code, message } = e as GatewayFault
    const address = line(this.address, 100)
    if (!(e instanceof GatewayFault)) return this.t('gateway_strange', { address })
    if (code === 'none') return `${this.t('cause_gateway', { host: address })} ${this.t('cause_gateway_why')}`
    return this.t(`gateway_${code}`, code === 'refused' ? { reason: line(message, 300) } : { address })
  }

  /** Adds the gateway's servers. Those that are here already get the new token, whatever else is set for them. */
  private async add(token: string, servers: readonly GatewayServer[]): Promise<void> {
    const { registry, snapshot: { servers: known } } = this.panel
    const headers = { Authorization: `Bearer ${token}` }
    const names: string[] = []
    for (const [name, { config }] of Object.entries(known)) {
      if (!servers.some(({ url }) => url === config.url)) continue
      const others = [...Object.keys(config.headers ?? {}), ...config.missingHeaders ?? []]
      const kept = Object.fromEntries(
        others.filter((header) => !/^authorization$/i.test(header)).map((header) => [header, '[redacted]']),
      )
      await registry.updateServer(name, { headers: { ...kept, ...headers } })
      names.push(name)
    }
    if (names.length) void registry.discover(names).catch(() => {}) // health tells
    const added = servers.filter(({ url }) => !names.some((name) => known[name]!.config.url === url))
    const entries = added.map(({ name, url }): Entry => (
      { name, config: { url, headers, proxy: false }, secrets: [], inputs: [], lints: [] }
    ))
    const done = new Map<Plan, string>()
    await carryOut(registry, plansOf(entries, known).map((plan) => ({ ...plan, keep: true })), done)
    this.paired = undefined
    this.panel.askToken(undefined)
    names.push(...done.values())
    this.panel.tell(this.t('added', { n: names.length, names: names.map((n) => line(n, 60)).join(this.t('comma')) }))
  }
}

define('portolan-gateway', Gateway)
