import { html, nothing, type TemplateResult } from 'lit'
import { AppPart } from './context.ts'
import { define, freshId, reactive } from '../../web/ui/part.ts'
import { connectRegistry } from '../../wasm/js/page/index.ts'
import type { Registry } from '../../wasm/js/shared/types.ts'
import { line } from '../../web/ui/text.ts'
import '../../web/panel/index.ts'
import { connectPort, type Port } from '../browser.ts'
import { registryPort } from '../messages.ts'
import './pagetools.ts'
import { covers, permit } from './permissions.ts'
import { asking, channelOf, originToReach } from './registry.ts'
import { setting } from './setting.ts'
import { RequestError } from './store.ts'

/** The wait before it connects again, in ms. It doubles each time. */
const firstWait = 50, longestWait = 2000

/** The MCP servers: the settings panel, over the registry that the background holds. */
class Servers extends AppPart {
  static override properties = reactive('registry', 'view')
  declare private registry: Registry | undefined
  /** Which view of the settings panel. Its own tabs are hidden, because the app has them. */
  declare view: 'servers' | 'tools'
  private readonly id_ = freshId()
  private port: Port | undefined
  private open: Registry | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private wait = firstWait

  override connectedCallback(): void {
    super.connectedCallback()
    this.connect()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.timer)
    const { port } = this
    this.port = undefined
    port?.close()
    void this.open?.close()
  }

  /** Each life of the background has its own registry: what the old one was asked ends with `closed`. */
  private connect(): void {
    let port: Port
    try {
      port = connectPort(registryPort)
    } catch { // the app tells that the extension is gone
      return this.again()
    }
    this.port = port
    const opening = connectRegistry(channelOf(port))
    port.onclose = () => {
      if (port !== this.port) return
      this.port = undefined
      void this.open?.close()
      this.again()
    }
    void opening.then((registry) => {
      if (port !== this.port) return void registry.close()
      this.wait = firstWait
      this.open = registry
      this.registry = asking(registry, {
        granted: () => this.state.permissions.origins,
        permit: async (origin) => await this.panel.run(() => permit({ origins: [`${origin}/*`] })) ?? false,
        refused: (server, origin) =>
          this.panel.warn(this.t('server_refused', { name: line(server, 60), host: new URL(origin).host })),
        gone: () => new RequestError('background_gone', this.t('error_background_gone')),
      })
    }, () => {}) // onclose tries again
  }

  private again(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.connect(), this.wait)
    this.wait = Math.min(2 * this.wait, longestWait)
  }

  /** The servers that are on, and whose origins the browser does not let the extension reach: name and origin. */
  private get missing(): [string, string][] {
    return Object.entries(this.registry?.getSnapshot().servers ?? {}).flatMap(([name, { config }]) => {
      const origin = config.enabled === false ? undefined : originToReach(config.url)
      return origin && !covers(this.state.permissions.origins, origin) ? [[name, origin]] : []
    })
  }

  private readonly grant = async (): Promise<void> => {
    const { missing } = this
    const origins = missing.map(([, origin]) => `${origin}/*`)
    if (!await this.panel.run(() => permit({ origins }))) return
    await this.panel.run(() => Promise.all(missing.map(([name]) => this.registry!.retry(name))))
  }

  protected override render(): TemplateResult {
    const { panel, state, missing } = this
    const hosts = [...new Set(missing.map(([, origin]) => line(new URL(origin).host, 60)))].join(this.t('comma'))
    const { tag, settings } = panel.language
    return html`
      <section class="card plain" aria-label=${this.t('publish')}>
        ${
      setting({
        id: `${this.id_}-publish`,
        label: this.t('publish'),
        means: this.t('publish_means'),
        on: state.options.publishRegistry,
        change: (on) => panel.send('setOptions', { publishRegistry: on }),
      })
    }
        <div role="status">${
      hosts
        ? html`<div class="diagnosis"><p>${this.t('chat_missing_means', { hosts })}</p><div class="row"><button
          type="button" class="primary" @click=${this.grant}>${this.t('chat_grant')}</button></div></div>`
        : nothing
    }</div>
      </section>
      ${
      this.view === 'tools'
        ? html`<portolan-page-tools .panel=${panel} .state=${state}></portolan-page-tools>`
        : nothing
    }
      ${
      this.registry
        ? html`<portolan-panel .registry=${this.registry} .view=${this.view} .messages=${settings} locale=${tag}
          @portolan-view=${(e: CustomEvent<{ view: 'servers' | 'tools' }>) =>
          panel.go(e.detail.view)}></portolan-panel>`
        : html`<p class="dim" role="status">${this.t('servers_opening')}</p>`
    }`
  }
}

define('portolan-servers', Servers)
