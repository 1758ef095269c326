import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, reactive } from '../../web/ui/part.ts'
import { findBridges, type FoundBridge } from '../link/discovery.ts'

/** The time between two searches, in ms. */
const pause = 3000

/** A bridge that does not answer any more is not shown. */
type Found = FoundBridge & { gone?: boolean }

/** Looks for bridges on this computer after a click, as long as it is shown. */
class Bridges extends AppPart {
  static override properties = reactive('found', 'looking', 'choose')
  /** Pairs with the bridge at an address. */
  declare choose: (address: string) => void
  declare private found: Found[]
  declare private looking: AbortController | undefined

  constructor() {
    super()
    this.found = []
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop()
  }

  protected override render(): TemplateResult {
    const { found, looking } = this
    const n = found.filter((bridge) => !bridge.gone).length
    return html`<button type="button" class="small" @click=${(e: MouseEvent) =>
      e.detail < 2 && (looking ? this.stop() : this.look())}>${
      this.t(looking ? 'bridges_stop' : 'bridges_look')
    }</button>
      <p role="status" class="dim">${looking ? this.t(n ? 'bridges_found' : 'bridges_none', { n }) : nothing}</p>
      ${found.length ? html`<ul class="found">${found.map((bridge) => this.item(bridge))}</ul>` : nothing}`
  }

  private item({ name, version, startedAt, address, gone }: Found): TemplateResult {
    const { words: t } = this.panel
    const now = Math.max(Date.now(), startedAt)
    return html`<li class=${gone ? 'gone' : nothing}><div><bdi dir="ltr">${address}</bdi>
      <p class="dim"><bdi>${name} ${version}</bdi> · ${t('bridges_started', { ago: t.ago(startedAt, now) })}</p></div>
      ${
      this.state.links.some((link) => link.address === address && link.status !== 'refused')
        ? html`<span class="badge">${t('bridges_paired')}</span>`
        : html`<button type="button" class="small" aria-label=${t('bridges_pair', { address })}
        @click=${() => this.choose(address)}>${t('pair')}</button>`
    }</li>`
  }

  private readonly look = async (): Promise<void> => {
    const { signal } = this.looking = new AbortController()
    while (!signal.aborted) {
      const found = await findBridges(signal)
      if (signal.aborted) return
      // A bridge keeps its place, also once it has ended: a button may be under a pointer or have the focus. A new one
      // takes a place that was empty before.
      const at = (list: Found[], { address }: Found) => list.find((other) => other.address === address)
      const fresh = found.filter((bridge) => !at(this.found, bridge))
      const kept = this.found.map((known) =>
        at(found, known) ?? (known.gone && fresh.shift() || { ...known, gone: true })
      )
      this.found = [...kept, ...fresh]
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  private readonly stop = (): void => {
    this.looking?.abort()
    this.looking = undefined
    this.found = []
  }
}

define('portolan-bridges', Bridges)
