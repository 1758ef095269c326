import { html, nothing, type TemplateResult } from 'lit'
import { PanelPart } from '../context.ts'
import { type Fault, faultView } from '../../ui/fields.ts'
import { define, freshId, reactive, valueOf } from '../../ui/part.ts'
import type { RedactedConfig } from '../../../wasm/js/shared/types.ts'
import { clean } from '../../ui/text.ts'
import { isKept } from './keeping.ts'
import { gatewayOf } from './diagnosis.ts'
import { keepField } from './fields.ts'

/** Asks for the values of headers in a server's card, and where to keep them. A gateway is paired instead. */
class Credentials extends PanelPart {
  static override properties = reactive('name', 'config', 'headers', 'opened', 'values', 'chosen', 'fault')
  static override initial = { values: {} }
  declare name: string
  declare config: RedactedConfig
  declare headers: readonly string[]
  /** The person has asked for the field, which then has the focus. */
  declare opened: boolean
  declare private values: Record<string, string>
  /** Whether to store the values on this device, if the person has chosen. */
  declare private chosen: boolean | undefined
  declare private fault: Fault | undefined
  private readonly id_ = freshId()

  protected override firstUpdated(): void {
    if (this.opened) this.querySelector('input')?.focus()
  }

  private get keeps(): boolean {
    return this.chosen ?? isKept(this.panel, this.config)
  }

  protected override render(): TemplateResult {
    const { id_: id } = this
    const gateway = gatewayOf(this.config.url)
    if (gateway) {
      void this.panel.run(() => import('../add/gateway.ts'))
      return html`<portolan-gateway .panel=${this.panel} .address=${gateway} .opened=${this.opened}></portolan-gateway>`
    }
    return html`<form class="credentials" @submit=${this.save}>
      ${
      this.headers.map((header, i) =>
        html`<div class="field"><label for="${id}-${i}">${
          isToken(header) ? this.t('access_token') : html`<bdi>${clean(header, 100)}</bdi>`
        }</label>
        <input id="${id}-${i}" type="password" required dir="ltr" spellcheck="false" autocomplete="off"
          aria-describedby=${isToken(header) ? `${id}-help` : nothing} .value=${this.values[header] ?? ''} @input=${(
          e: Event,
        ) => (this.values = { ...this.values, [header]: valueOf(e) })}>
        ${isToken(header) ? html`<p id="${id}-help" class="dim">${this.t('access_token_help')}</p>` : nothing}</div>`
      )
    }
      ${keepField(this.panel.words, `${id}-keep`, this.keeps, (keeps) => (this.chosen = keeps))}
      ${faultView(this.fault)}
      <div class="row"><button class="primary small">${this.t('connect')}</button>${
      this.opened
        ? html`<button type="button" class="small" @click=${() => this.panel.askToken(undefined)}>${
          this.t('cancel')
        }</button>`
        : nothing
    }</div>
    </form>`
  }

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const { registry } = this.panel
    const others = [...Object.keys(this.config.headers ?? {}), ...this.config.missingHeaders ?? []]
    const headers = Object.fromEntries(others.map((header) => [header, '[redacted]']))
    for (const header of this.headers) headers[header] = valueFor(header, this.values[header] ?? '')
    try {
      await registry.updateServer(this.name, {
        headers,
        ...(this.keeps !== isKept(this.panel, this.config) && { rememberSecrets: this.keeps }),
      })
    } catch (e) {
      this.fault = e as Fault
      return
    }
    this.panel.askToken(undefined)
    void this.panel.retry(this.name)
  }
}

const isToken = (header: string) => header.toLowerCase() === 'authorization'

/** The value of a header as it is sent. A token without a scheme gets "Bearer". */
export function valueFor(header: string, typed: string): string {
  const value = typed.trim().replace(/^authorization\s*:\s*/i, '')
  return isToken(header) && /^\S+$/.test(value) ? `Bearer ${value}` : value
}

define('portolan-credentials', Credentials)
