import { html, nothing, type TemplateResult } from 'lit'
import { PanelPart } from '../context.ts'
import type { Words } from '../translations.ts'
import { define, freshId, reactive } from '../../ui/part.ts'
import { copy } from '../../ui/save.ts'
import type { Snapshot } from '../../../wasm/js/shared/types.ts'
import { standingIcon } from '../../ui/icons.ts'
import { clean } from '../../ui/text.ts'
import '../../ui/menu.ts'
import type { MenuItem } from '../../ui/menu.ts'
import { diagnosis, hostOf } from './diagnosis.ts'
import type { Track } from './history.ts'
import { sparkline, strip } from './history.ts'
import { causeOf, standingOf, type LocalNetwork } from './status.ts'

/** One server: its status, its tools, and its menu. */
class Card extends PanelPart {
  static override properties = reactive(
    'name',
    'server',
    'track',
    'localNetwork',
    'now',
    'tokens',
    'signingIn',
    'words',
  )
  declare name: string
  declare server: Snapshot['servers'][string]
  declare track: Track
  declare localNetwork: LocalNetwork
  /** Given while it matters, for the countdown. */
  declare now: number
  /** Of the tools that are offered; 0 if not yet known. */
  declare tokens: number
  /** The person is signing in, in another window. */
  declare signingIn: boolean
  declare words: Words
  private readonly title_ = freshId()

  protected override render(): TemplateResult {
    const { server, name, t } = { server: this.server, name: this.name, t: this.t.bind(this) }
    const standing = standingOf(server, this.localNetwork)
    const shown = clean(name, 80)
    return html`<article class="card" part="card" data-standing=${standing} aria-labelledby=${this.title_}>
      <header>
        <span class="standing">${standingIcon[standing]}</span>
        <h3 id=${this.title_}><bdi>${shown}</bdi></h3>
        <span class="status" part="status">${this.statusWords(standing)}</span>
        ${sparkline(this.track, this.panel.words)} ${strip(this.track, this.panel.words)}
        <span class="actions">
          <input type="checkbox" role="switch" class="switch" part="switch" .checked=${server.status !== 'disabled'}
            aria-label=${t('use_server', { name: shown })} @change=${this.switched}>
          <portolan-menu .panel=${this.panel} .label=${
      t('menu_of', { name: shown })
    } .items=${this.menu}></portolan-menu>
        </span>
      </header>
      <ul class="facts">${this.facts().map((fact) => html`<li>${fact}</li>`)}</ul>
      ${
      server.lastError && standing !== 'off' && standing !== 'connected'
        ? diagnosis(this.panel, name, server, causeOf(server, this.localNetwork))
        : nothing
    }
      ${
      server.heldCount
        ? html`<div class="held"><p><strong>${t('held', { n: server.heldCount })}</strong> ${t('held_why')}</p>
        <button type="button" class="small" @click=${() => this.panel.show({ kind: 'review', server: name })}>${
          t('review')
        }</button></div>`
        : nothing
    }
      ${
      server.warnings?.length
        ? html`<details class="warnings"><summary>${t('warnings', { n: server.warnings.length })}</summary>
        <ul>${server.warnings.slice(0, 20).map((w) => html`<li><bdi>${clean(w, 300)}</bdi></li>`)}</ul></details>`
        : nothing
    }
    </article>`
  }

  private statusWords(standing: ReturnType<typeof standingOf>): string {
    const { latencyMs, retryAt, consecutiveFailures } = this.server
    if (standing === 'connected' && latencyMs !== null)
      return this.t('standing_connected_in', { time: this.panel.words.duration(latencyMs) })
    if (standing === 'paused' && retryAt !== null) {
      const left = Math.ceil((retryAt - this.now) / 1000)
      return left > 0
        ? this.t('standing_paused_until', { n: consecutiveFailures, time: this.panel.words.duration(left * 1000) })
        : this.t('standing_connecting')
    }
    return this.t(`standing_${standing}`)
  }

  private facts(): (TemplateResult | string)[] {
    const { config, transport, protocolVersion, toolCount, toolTotal, serverInfo } = this.server
    return [
      html`<bdi dir="ltr" title=${clean(config.url, 300)}>${clean(hostOf(config.url), 60)}</bdi>`,
      ...(transport ? [this.t(transport === 'sse' ? 'transport_sse' : 'transport_http')] : []),
      ...(protocolVersion ? [html`<bdi>MCP ${clean(protocolVersion, 20)}</bdi>`] : []),
      ...(this.server.signIn === 'signed-in' ? [this.t('signed_in')] : []),
      ...(config.proxy === true ? [this.t('through_proxy')] : []),
      ...(toolTotal
        ? [
          html`<button type="button" class="link" @click=${() => this.panel.showTools(this.name)}>${
            this.t('tools_of', { n: toolCount, total: toolTotal })
          }</button>`,
        ]
        : []),
      ...(this.tokens ? [this.t('tokens', { n: this.tokens })] : []),
      ...(serverInfo
        ? [
          html`<span title=${this.t('claimed')}><bdi>${
            clean(`${serverInfo.name} ${serverInfo.version}`, 60)
          }</bdi></span>`,
        ]
        : []),
    ]
  }

  private readonly menu = (): MenuItem[] => {
    const { panel, name, server } = this
    return [
      { label: this.t('retry'), act: () => panel.run(() => panel.registry.retry(name)) },
      ...(server.signIn === 'signed-in'
        ? [{ label: this.t('sign_out'), act: () => panel.run(() => panel.registry.signOut(name)) }]
        : []),
      { label: this.t('edit'), act: () => panel.show({ kind: 'edit', server: name }) },
      { label: this.t('clone'), act: () => panel.run(() => clone(panel, name)) },
      {
        label: this.t('copy_config'),
        act: () =>
          panel.run(async () =>
            copy(panel, (await import('../parts.ts')).writeConfig({ [name]: server.config }, 'mcpServers'))
          ),
      },
      { label: this.t('remove'), act: () => panel.removeServer(name), danger: true },
    ]
  }

  private switched(event: Event): void {
    const box = event.target as HTMLInputElement
    this.panel.run(() => this.panel.registry.setEnabled(this.name, box.checked)).finally(
      () => (box.checked = this.server.status !== 'disabled'),
    )
  }
}

/** Adds a copy without its secrets, switched off, and opens it. */
async function clone({ registry, snapshot, show }: Card['panel'], name: string): Promise<void> {
  let copy = 2
  while (snapshot.servers[`${name}-${copy}`]) copy++
  const { headers: _, auth, ...config } = snapshot.servers[name]!.config
  const { openly } = await import('../parts.ts')
  await registry.addServer(`${name}-${copy}`, { ...config, ...(auth && { auth: openly(auth) }), enabled: false })
  show({ kind: 'edit', server: `${name}-${copy}` })
}

define('portolan-card', Card)
