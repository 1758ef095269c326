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
import { diagnosis, placeOf } from './diagnosis.ts'
import type { Track } from './history.ts'
import { sparkline, strip } from './history.ts'
import { isKept } from './keeping.ts'
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
    'asking',
    'words',
  )
  declare name: string
  declare server: Snapshot['servers'][string]
  declare track: Track
  declare localNetwork: LocalNetwork
  /** Given while it matters, for the countdown. */
  declare now: number
  /** The number of offered tools; 0 if not yet known. */
  declare tokens: number
  /** The person is signing in, in another window. */
  declare signingIn: boolean
  /** The field for a token is open. */
  declare asking: boolean
  declare words: Words
  private readonly title_ = freshId()

  protected override render(): TemplateResult {
    const { server, name, t } = { server: this.server, name: this.name, t: this.t.bind(this) }
    const standing = standingOf(server, this.localNetwork)
    const shown = clean(name, 80)
    const missing = server.status === 'disabled' ? [] : server.config.missingHeaders ?? []
    return html`<article class="card" part="card" data-standing=${standing} aria-labelledby=${this.title_}>
      <header>
        <div class="title">
          <span class="standing">${standingIcon[standing]}</span>
          <div role="heading" id=${this.title_} aria-level=${this.panel.headingLevel}><bdi>${shown}</bdi></div>
          <span class="status" part="status">${this.statusWords(standing)}</span>
          ${sparkline(this.track, this.panel.words)} ${strip(this.track, this.panel.words)}
        </div>
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
      missing.length
        ? html`<div class="diagnosis" part="diagnosis"><p><strong>${this.t('missing')}</strong> ${
          this.t('missing_why', { names: missing.map((header) => clean(header, 100)).join(this.t('comma')) })
        }</p>${this.credentials(missing)}</div>`
        : this.asking
        ? html`<div class="diagnosis" part="diagnosis">${this.credentials(['Authorization'])}</div>`
        : server.lastError && standing !== 'off' && standing !== 'connected'
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
      server.heldInstructions
        ? html`<div class="held"><p><strong>${t('instructions_held')}</strong> ${t('instructions_held_why')}</p>
        <button type="button" class="small" @click=${() => this.panel.show({ kind: 'review', server: name })}>${
          t('review')
        }</button></div>`
        : nothing
    }
      ${
      server.instructions
        ? html`<details class="warnings"><summary>${t('instructions')}</summary>
        <p class="description" tabindex="0"><bdi>${clean(server.instructions, 16_384)}</bdi></p></details>`
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

  protected override updated(): void {
    if (this.querySelector('portolan-credentials')) void this.panel.run(() => import('../parts.ts'))
  }

  private credentials(headers: readonly string[]): TemplateResult {
    return html`<portolan-credentials .panel=${this.panel} .name=${this.name} .config=${this.server.config}
      .headers=${headers} .opened=${this.asking}></portolan-credentials>`
  }

  private statusWords(standing: ReturnType<typeof standingOf>): string {
    const { latencyMs, retryAt, consecutiveFailures } = this.server
    if (standing === 'connected' && latencyMs !== null)
      return this.t('standing_connected_in', { time: this.panel.words.duration(latencyMs) })
    if (standing === 'paused' && retryAt !== null) {
      const left = Math.ceil((retryAt - this.now) / 1000)
      const key = this.server.errorCode === 'rate_limited' ? 'standing_rate_until' : 'standing_paused_until'
      return left > 0
        ? this.t(key, { n: consecutiveFailures, time: this.panel.words.duration(left * 1000) })
        : this.t('standing_connecting')
    }
    return this.t(`standing_${standing}`)
  }

  private facts(): unknown[] {
    const { config, transport, protocolVersion, toolCount, toolTotal, serverInfo, signIn, scope } = this.server
    const headers = Object.keys(config.headers ?? {})
    return [
      html`<bdi dir="ltr" title=${clean(config.url, 300)}>${clean(placeOf(config.url), 80)}</bdi>`,
      transport && this.t(`transport_${transport}`),
      protocolVersion && html`<bdi>MCP ${clean(protocolVersion, 20)}</bdi>`,
      signIn === 'signed-in' && this.t('signed_in'),
      (scope === 'project' || scope === 'override') && this.t(`scope_${scope}`),
      config.proxy === true && this.t('through_proxy'),
      headers.length && this.t(isKept(this.panel, config) ? 'headers_device' : 'headers_tab', {
        names: headers.slice(0, 5).map((header) => clean(header, 60)).join(this.t('comma')),
      }),
      toolTotal &&
      html`<button type="button" class="link" @click=${() => this.panel.showTools(this.name)}>${
        this.t('tools_of', { n: toolCount, total: toolTotal })
      }</button>`,
      this.tokens && this.t('tokens', { n: this.tokens }),
      serverInfo &&
      html`<span title=${this.t('claimed')}><bdi>${
        clean(`${serverInfo.title || serverInfo.name} ${serverInfo.version}`, 60)
      }</bdi></span>`,
    ].filter(Boolean)
  }

  private readonly menu = (): MenuItem[] => {
    const { panel, name, server } = this
    const remove = { label: this.t('remove'), act: () => panel.removeServer(name), danger: true }
    if (server.config.url === 'builtin:page') return [remove] // its tools are functions of the page
    return [
      { label: this.t('retry'), act: () => panel.retry(name) },
      ...(server.signIn === 'signed-in'
        ? [{ label: this.t('sign_out'), act: () => panel.run(() => panel.registry.signOut(name)) }]
        : []),
      ...this.scopes(),
      { label: this.t('edit'), act: () => panel.show({ kind: 'edit', server: name }) },
      { label: this.t('clone'), act: () => panel.show({ kind: 'edit', server: name, copy: true }) },
      {
        label: this.t('copy_config'),
        act: () =>
          copy(panel, import('../parts.ts').then((p) => p.writeConfig({ [name]: server.config }, 'mcpServers'))),
      },
      remove,
    ]
  }

  /** The menu's actions for a server of the user, in a registry with a project. */
  private scopes(): MenuItem[] {
    const { panel, name, server: { scope, config: { enabled = true, tools } } } = this
    if (scope === 'user') {
      const act = () => panel.run(() => panel.registry.setEnabled(name, !enabled, { scope: 'project' }))
      return [{ label: this.t(enabled ? 'off_here' : 'on_here'), act }]
    }
    if (scope !== 'override') return []
    const act = () => panel.run(() => panel.registry.updateServer(name, { enabled, tools }, { scope: 'user' }))
    return [{ label: this.t('same_everywhere'), act }]
  }

  private switched(event: Event): void {
    const box = event.target as HTMLInputElement
    this.panel.run(() => this.panel.registry.setEnabled(this.name, box.checked)).finally(
      () => (box.checked = this.server.status !== 'disabled'),
    )
  }
}

define('portolan-card', Card)
