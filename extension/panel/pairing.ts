import { html, nothing, type TemplateResult } from 'lit'
import { AppPart, type AppContext } from './context.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { copy } from '../../web/ui/save.ts'
import { standingIcon } from '../../web/ui/icons.ts'
import { grouped, groupTyped } from '../../web/pairing/digits.ts'
import { clean } from '../../web/ui/text.ts'
import type { Pairing } from '../messages.ts'
import { fault } from './link.ts'

/** The progress of a pairing, in the steps that are shown. Before the digits it is 0. */
const progress: Partial<Record<Pairing['step'], number>> = { digits: 1, terminal: 2 }

/** A command to type elsewhere, with a button that copies it. */
function command(panel: AppContext, text: string): TemplateResult {
  return html`<div class="command"><code dir="ltr">${text}</code>
    <button type="button" class="small" aria-label=${panel.words('copy_command', { command: text })}
      @click=${() => copy(panel, text)}>${panel.words('copy')}</button></div>`
}

/** The steps of pairing: the command in the terminal, the digits, the answer in the terminal. */
class PairingCard extends AppPart {
  static override properties = reactive('address', 'close', 'digits', 'short', 'checking')
  /** The bridge to pair with again. */
  declare address: string | undefined
  /** Leaves the card. Without it the card stays. */
  declare close: (() => void) | undefined
  declare private digits: string
  /** Fewer than six were sent. */
  declare private short: boolean
  declare private checking: boolean
  private readonly id_ = freshId()
  private step: string | undefined
  /** The focus was on something that the next step does not have. */
  private moved = false

  constructor() {
    super()
    this.digits = ''
    this.short = this.checking = false
  }

  protected override firstUpdated(): void {
    void this.panel.run(() => import('./bridges.ts'))
  }

  protected override willUpdate(): void {
    const step = this.state.pairing?.step
    if (step === this.step) return
    this.moved = this.hasUpdated && !!this.focused
    this.step = step
    this.digits = ''
    this.short = false
  }

  protected override updated(): void {
    if (!this.moved) return
    this.moved = false
    this.querySelector<HTMLElement>('[data-next]')?.focus()
  }

  protected override render(): TemplateResult {
    const { pairing } = this.state
    const step = (pairing && progress[pairing.step]) ?? 0
    const mark = (n: number) => (n < step ? 'done' : '')
    const current = (n: number) => (n === step ? 'step' : nothing)
    return html`<section class="card plain" aria-labelledby=${this.id_}>
      <header><h2 id=${this.id_} tabindex="-1">${this.t('pair_title')}</h2></header>
      <p class="lead">${this.t('pair_why')}</p>
      <ol class="steps">
        <li class=${mark(0)} aria-current=${current(0)}><div>${
      step === 0 ? this.begin(pairing) : html`<p>${this.t('pair_run')}</p>`
    }</div></li>
        <li class=${mark(1)} aria-current=${current(1)}><div>${
      step === 1 ? this.ask() : html`<p>${this.t('pair_digits')}</p>`
    }</div></li>
        <li class=${mark(2)} aria-current=${current(2)}><div>${
      step === 2 ? this.wait() : html`<p>${this.t('pair_yes')}</p>`
    }</div></li>
      </ol>
    </section>`
  }

  private begin(pairing: Pairing | null): TemplateResult {
    const id = this.id_
    const busy = pairing?.step === 'connecting'
    return html`
      <p>${this.t('pair_run')}</p>
      ${command(this.panel, 'portolan bridge pair')}
      <details><summary>${this.t('pair_get')}</summary><p>${this.t('pair_build')}</p>${
      command(this.panel, './build.sh up')
    }</details>
      <div role="alert" data-standing="failed">${
      pairing?.step === 'failed' ? fault(pairing.error, this.panel.words) : nothing
    }</div>
      <form class="stack wide" @submit=${this.pair}>
        ${
      busy
        ? html`<p class="row" role="status">${standingIcon.connecting}<span>${
          this.t('pair_looking', { address: clean(pairing.address, 80) })
        }</span></p>
            <button type="button" data-next @click=${this.cancel}>${this.t('cancel')}</button>`
        : html`<div class="row"><button class="primary" data-next>${this.t(pairing ? 'pair_again' : 'pair')}</button>
            ${
          pairing || this.close
            ? html`<button type="button" @click=${this.close ?? this.cancel}>${this.t('close')}</button>`
            : nothing
        }</div>`
    }
        ${
      busy ? nothing : html`<portolan-bridges class="wide" .panel=${this.panel} .state=${this.state}
          .choose=${this.choose}></portolan-bridges>`
    }
        <details ?hidden=${busy}><summary>${this.t('advanced')}</summary>
          <div class="stack">
            <div class="field"><label for="${id}-address">${this.t('bridge_address')}</label>
              <input id="${id}-address" name="address" dir="ltr" spellcheck="false" autocomplete="off" .value=${
      pairing?.address || this.address || '127.0.0.1:55156'
    }></div>
            <div class="field"><label for="${id}-token">${this.t('token')}</label>
              <input id="${id}-token" name="token" type="password" dir="ltr" autocomplete="off"
                aria-describedby="${id}-token-help">
              <p id="${id}-token-help" class="dim">${this.t('token_help')}</p></div>
            <button type="button" @click=${this.useToken}>${this.t('token_use')}</button>
          </div>
        </details>
      </form>`
  }

  private ask(): TemplateResult {
    const id = this.id_
    return html`<form class="stack wide" novalidate @submit=${this.check}>
      <label for="${id}-digits">${this.t('pair_digits')}</label>
      <input id="${id}-digits" class="digits" data-next inputmode="numeric" autocomplete="one-time-code"
        spellcheck="false" placeholder="123 456" aria-invalid=${this.short}
        aria-describedby="${id}-digits-fault" .value=${grouped(this.digits)} @input=${this.typed}>
      <div id="${id}-digits-fault" role="alert" data-standing="failed">${
      this.short ? html`<p class="hint bad">${this.t('pair_six')}</p>` : nothing
    }</div>
      <div class="row"><button class="primary" aria-disabled=${this.checking}>${this.t('pair_check')}</button>
        <button type="button" @click=${this.cancel}>${this.t('cancel')}</button></div>
    </form>`
  }

  private wait(): TemplateResult {
    return html`<p role="status"><strong>${this.t('pair_yes_now')}</strong> ${this.t('pair_yes_only')}</p>
      <button type="button" data-next @click=${this.cancel}>${this.t('cancel')}</button>`
  }

  private typed(event: Event): void {
    this.digits = groupTyped(event)
    this.short = false
  }

  private async check(event: Event): Promise<void> {
    event.preventDefault()
    if (this.checking) return
    this.short = this.digits.length < 6
    if (this.short) return this.querySelector<HTMLElement>('.digits')!.focus()
    this.checking = true
    await this.panel.send('digits', { digits: this.digits })
    this.checking = false
  }

  private field(name: string): HTMLInputElement {
    return this.querySelector<HTMLInputElement>(`[name=${name}]`)!
  }

  private readonly cancel = (): void => void this.panel.send('cancelPairing', {})

  private readonly pair = (event: Event): void => {
    event.preventDefault()
    void this.panel.send('pair', { address: this.field('address').value.trim() })
  }

  private readonly choose = (address: string): void => {
    this.field('address').value = address
    void this.panel.send('pair', { address })
  }

  private readonly useToken = async (): Promise<void> => {
    const token = this.field('token')
    const sent = token.value.trim()
    if (!sent) return token.focus()
    token.value = ''
    await this.panel.send('useToken', { address: this.field('address').value.trim(), token: sent })
  }
}

define('portolan-pairing', PairingCard)
