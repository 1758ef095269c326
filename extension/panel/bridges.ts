import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, reactive } from '../../web/ui/part.ts'
import { findBridges, type FoundBridge } from '../link/discovery.ts'

/** The time between two searches, in ms. */
const pause = 3000

/** Looks for bridges on this computer after a click, as long as it is shown. */
class Bridges extends AppPart {
  static override properties = reactive('found', 'looking', 'choose')
  /** Pairs with the bridge at an address. */
  declare choose: (address: string) => void
  declare private found: FoundBridge[]
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
    return html`<button type="button" class="small" @click=${(e: MouseEvent) =>
      e.detail < 2 && (looking ? this.stop() : this.look())}>${
      this.t(looking ? 'bridges_stop' : 'bridges_look')
    }</button>
      <p role="status" class="dim">${
      looking ? this.t(found.length ? 'bridges_found' : 'bridges_none', { n: found.length }) : nothing
    }</p>
      ${found.length ? html`<ul class="found">${found.map((bridge) => this.item(bridge))}</ul>` : nothing}`
  }

  private item({ name, version, startedAt, address }: FoundBridge): TemplateResult {
    const { words: t } = this.panel
    const now = Math.max(Date.now(), startedAt)
    return html`<li><div><bdi dir="ltr">${address}</bdi>
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
      // A bridge keeps its place, because its button may be under a pointer or have the focus.
      const known = this.found.map(({ address }) => address)
      const place = ({ address }: FoundBridge) => known.indexOf(address) + 1 || known.length + 1
      this.found = found.sort((a, b) => place(a) - place(b))
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
