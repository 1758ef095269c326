import { html, nothing, type TemplateResult } from 'lit'
import { PanelDialog } from '../context.ts'
import { define, freshId, reactive, valueOf } from '../../ui/part.ts'
import type { ServerConfig, Snapshot } from '../../../wasm/js/shared/types.ts'
import { options } from '../../ui/fields.ts'
import { clean } from '../../ui/text.ts'
import { authFields, authOf, openly, radios, trustFields, trustOf } from './fields.ts'
import { hostOf } from './diagnosis.ts'
import { freshRow, headersOf, type HeaderRow } from './headers.ts'
import './headers.ts'

const proxies = ['off', 'auto', 'on'] as const
const transports = ['auto', 'streamable-http', 'sse'] as const

/** Changes a server's configuration. */
class Edit extends PanelDialog {
  static override properties = reactive('name', 'server', 'url', 'rows', 'fault', 'remembered')
  declare name: string
  declare server: Snapshot['servers'][string]
  declare private url: string
  declare private rows: HeaderRow[]
  declare private fault: string | undefined
  /** Answers about the server's calls. */
  declare private remembered: number
  private readonly id_ = freshId()

  override connectedCallback(): void {
    super.connectedCallback()
    const { config } = this.server
    this.url ??= config.url
    this.rows ??= Object.keys(config.headers ?? {}).map((name) => freshRow(name, true))
  }

  protected override firstUpdated(): void {
    super.firstUpdated()
    void this.panel.run(() => this.panel.registry.approvals()).then((
      all,
    ) => (this.remembered = all?.filter((a) => a.server === this.name).length ?? 0))
  }

  private readonly forget = () =>
    this.panel.run(async () => {
      await this.panel.registry.forgetApprovals(this.name)
      this.remembered = 0
    })

  protected heading(): TemplateResult {
    return html`${this.t('edit_title')} <bdi>${clean(this.name, 80)}</bdi>`
  }

  protected body(): TemplateResult {
    const { config } = this.server
    const { id_: id } = this
    const proxy = config.proxy === true ? 'on' : config.proxy === 'auto' ? 'auto' : 'off'
    const moved = hostOf(this.url) !== hostOf(config.url) && this.rows.some((r) => r.kept)
    return html`<form method="dialog" @submit=${this.save}>
      <div class="field"><label for="${id}-url">${this.t('url')}</label>
        <input id="${id}-url" name="url" dir="ltr" required spellcheck="false" autocomplete="off" inputmode="url"
          .value=${this.url} @input=${(
      e: Event,
    ) => (this.url = valueOf(e).trim())}></div>
      ${
      moved
        ? html`<p class="hint warn" role="status">${this.t('moved', { host: clean(hostOf(config.url), 100) })}</p>`
        : nothing
    }
      ${
      this.url.startsWith('builtin:') ? nothing : html`
        <portolan-headers .panel=${this.panel} .rows=${this.rows} .host=${hostOf(this.url)} @rows=${(
        e: CustomEvent<HeaderRow[]>,
      ) => (this.rows = e.detail)}></portolan-headers>
        <fieldset><legend>${this.t('proxy')}</legend>
          ${radios('proxy', proxies, proxy, (p) => [this.t(`proxy_${p}`), this.t(`proxy_${p}_means`)])}
        </fieldset>
        ${trustFields(this.panel.words, config, this.remembered, this.forget)}
        <details class="advanced"><summary>${this.t('advanced')}</summary>
          <div class="columns">
            <div class="field"><label for="${id}-transport">${this.t('transport')}</label>
              <select id="${id}-transport" name="transport">${
        options(
          transports,
          config.transport ?? 'auto',
          (v) => this.t(v === 'auto' ? 'transport_auto' : v === 'sse' ? 'transport_sse' : 'transport_http'),
        )
      }</select></div>
            <div class="field"><label for="${id}-timeout">${this.t('timeout_s')}</label>
              <input id="${id}-timeout" name="timeout" type="number" min="1" max="600" step="any" .value=${
        config.timeoutMs ? String(config.timeoutMs / 1000) : ''
      } aria-describedby="${id}-timeout-help">
              <p id="${id}-timeout-help" class="dim">${this.t('timeout_help')}</p></div>
          </div>
          ${authFields(this.panel.words, id, config.auth)}
        </details>`
    }
      ${this.fault ? html`<p class="hint bad" role="alert"><bdi>${this.fault}</bdi></p>` : nothing}
      <footer><button type="button" @click=${() => this.close()}>${this.t('cancel')}</button><button class="primary">${
      this.t('save')
    }</button></footer>
    </form>`
  }

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = new FormData(event.target as HTMLFormElement)
    const patch: Partial<ServerConfig> = { url: this.url }
    if (form.has('proxy')) {
      const { url, auth } = this.server.config
      const moved = hostOf(this.url) !== hostOf(url)
      const seconds = Number(form.get('timeout'))
      patch.proxy = form.get('proxy') === 'auto' ? 'auto' : form.get('proxy') === 'on'
      patch.transport = form.get('transport') as ServerConfig['transport']
      patch.timeoutMs = seconds > 0 ? seconds * 1000 : undefined
      patch.headers = headersOf(this.rows)
      Object.assign(patch, trustOf(form))
      patch.auth = authOf(form, moved && auth ? openly(auth) : auth)
    }
    try {
      await this.panel.registry.updateServer(this.name, patch)
    } catch (e) {
      const { message, hint } = e as Error & { hint?: string }
      this.fault = clean([message, hint].filter(Boolean).join('. '), 500)
      return
    }
    this.close()
    if (this.server.status !== 'disabled') void this.panel.registry.retry(this.name).catch(() => {}) // health tells
  }
}

define('portolan-edit', Edit)
