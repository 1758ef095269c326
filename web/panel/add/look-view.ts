import { html, nothing, type TemplateResult } from 'lit'
import { PanelPart } from '../context.ts'
import { define, reactive } from '../../ui/part.ts'
import type { Reading } from '../../config/types.ts'
import { domainOf, lookAt, type Look } from './look.ts'

/** Offers to look for the servers of a domain, and says what answered. Nothing is sent before the person's click. */
class LookThere extends PanelPart {
  static override properties = reactive('reading', 'look', 'busy')
  declare reading: Reading
  declare private look: Look | undefined
  declare private busy: boolean
  private ended = new AbortController()

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('reading')) return
    this.stop()
    this.look = undefined
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop()
  }

  private stop(): void {
    this.ended.abort()
    this.ended = new AbortController()
    this.busy = false
  }

  protected override render(): TemplateResult | typeof nothing {
    const domain = domainOf(this.reading)
    if (!domain) return nothing
    const { host } = domain
    return html`<div class="row"><button type="button" @click=${() => this.begin(domain)}>${this.t('look')}</button>
        <p class="dim">${this.t('look_means', { host })}</p></div>
      <div role="status">${
      this.busy ? html`<p class="dim">${this.t('looking', { host })}</p>` : this.found(host)
    }</div>`
  }

  private found(host: string): TemplateResult | typeof nothing {
    if (!this.look) return nothing
    const { answers, entries, unseen } = this.look
    return html`<ul class="facts">${
      answers.map(({ path, said }) =>
        html`<li><bdi class="mono" dir="ltr">${path}</bdi>: ${this.t(`look_said_${said}`)}</li>`
      )
    }</ul>${
      unseen || !entries.length
        ? html`<p class="hint warn">${this.t(unseen ? 'look_unseen' : 'look_none', { host })}</p>`
        : nothing
    }`
  }

  private async begin(domain: URL): Promise<void> {
    if (this.busy) return
    const { signal } = this.ended
    this.busy = true
    this.look = undefined
    const look = await lookAt(domain, { signal, page: location.href }).catch(() => undefined)
    if (signal.aborted) return
    this.busy = false
    this.look = look
    if (look?.entries.length) this.dispatchEvent(new CustomEvent('looked', { detail: look.entries }))
  }
}

define('portolan-look', LookThere)
