import { html, nothing, type TemplateResult } from 'lit'
import { PanelDialog } from '../context.ts'
import { define, focusSoon, freshId, reactive, valueOf } from '../../ui/part.ts'
import type { RedactedConfig, ServerConfig, Snapshot } from '../../../wasm/js/shared/types.ts'
import { maxServerName } from '../../../wasm/js/shared/wire.gen.ts'
import { type Fault, faultView, fieldProblem, options } from '../../ui/fields.ts'
import { clean } from '../../ui/text.ts'
import { cleanName, renameFree } from '../../config/address.ts'
import { usable } from '../../config/headers.ts'
import { lint } from '../../config/lint.ts'
import { nameNote } from '../add/name-note.ts'
import { saysUnfinished } from '../tool/fields.ts'
import type { Key } from '../translations.ts'
import { isKept } from './keeping.ts'
import { authFields, authOf, keepField, openly, radios, trustFields, trustOf } from './fields.ts'
import { hostOf } from './diagnosis.ts'
import { headersOf, rowsOf, type HeaderRow } from './headers.ts'
import './headers.ts'

const proxies = ['false', 'auto', 'true'] as const
const transports = ['auto', 'streamable-http', 'sse'] as const

interface Problems {
  name?: string
  url?: string
  /** By the id of a row. */
  headers: Map<string, string>
}

/** Changes a server's name and configuration. With `copy`, it makes a new server instead. */
class Edit extends PanelDialog {
  static override properties = reactive('server', 'copy', 'name', 'url', 'rows', 'checked', 'fault', 'remembered')
  /** The server's name. */
  declare server: string
  declare copy: boolean
  /** As it is typed. */
  declare private name: string
  declare private url: string
  declare private rows: HeaderRow[]
  /** Problems are shown after the first attempt to save. */
  declare private checked: boolean
  declare private fault: Fault | undefined
  /** Answers about the server's calls. */
  declare private remembered: number
  private readonly id_ = freshId()
  private origin: RedactedConfig = { url: '' }

  override connectedCallback(): void {
    super.connectedCallback()
    const { config } = this.health
    const { headers: _, missingHeaders: __, auth, ...open } = config
    this.origin = this.copy ? { ...open, ...(auth && { auth: openly(auth) }) } : config
    this.name ??= this.copy ? renameFree(this.server, Object.keys(this.panel.snapshot.servers)) : this.server
    this.url ??= config.url
    this.rows ??= rowsOf(this.origin)
  }

  private get health(): Snapshot['servers'][string] {
    return this.panel.snapshot.servers[this.server]!
  }

  protected override firstUpdated(): void {
    super.firstUpdated()
    if (this.copy) return
    void this.panel.run(() => this.panel.registry.approvals()).then((
      all,
    ) => (this.remembered = all?.filter((a) => a.server === this.server).length ?? 0))
  }

  private readonly forget = () =>
    this.panel.run(async () => {
      await this.panel.registry.forgetApprovals(this.server)
      this.remembered = 0
    })

  protected heading(): TemplateResult {
    return html`${this.t(this.copy ? 'copy_title' : 'edit_title')} <bdi>${clean(this.server, 80)}</bdi>`
  }

  protected body(): TemplateResult {
    const { origin: config, id_: id } = this
    const moved = hostOf(this.url) !== hostOf(config.url) && this.rows.some((r) => r.kept)
    const { name, url, headers } = this.checked ? this.problems() : { headers: new Map<string, string>() }
    return html`<form method="dialog" novalidate @submit=${this.save}>
      <div class="field"><label for="${id}-name">${this.t('name')}</label>
        <input id="${id}-name" maxlength=${maxServerName} required spellcheck="false" autocomplete="off"
          aria-invalid=${!!name} aria-describedby="${id}-name-problem ${id}-name-note" .value=${this.name} @input=${(
      e: Event,
    ) => (this.name = valueOf(e))}>
        ${fieldProblem(`${id}-name`, name)}${nameNote(this.panel.words, `${id}-name-note`, this.name.trim())}</div>
      <div class="field"><label for="${id}-url">${this.t('url')}</label>
        <input id="${id}-url" name="url" dir="ltr" required spellcheck="false" autocomplete="off" inputmode="url"
          aria-invalid=${!!url} aria-describedby="${id}-url-problem" .value=${this.url} @input=${(
      e: Event,
    ) => (this.url = valueOf(e).trim())}>${fieldProblem(`${id}-url`, url)}</div>
      ${
      moved
        ? html`<p class="hint warn" role="status">${this.t('moved', { host: clean(hostOf(config.url), 100) })}</p>`
        : nothing
    }
      ${
      this.url.startsWith('builtin:') ? nothing : html`
        <portolan-headers .panel=${this.panel} .rows=${this.rows} .host=${
        hostOf(this.url)
      } .problems=${headers} @rows=${(e: CustomEvent<HeaderRow[]>) => (this.rows = e.detail)}></portolan-headers>
        ${this.rows.length ? keepField(this.panel.words, 'keep', isKept(this.panel, config)) : nothing}
        <fieldset><legend>${this.t('proxy')}</legend>
          ${
        radios('proxy', proxies, `${config.proxy ?? false}`, (p) => [this.t(`proxy_${p}`), this.t(`proxy_${p}_means`)])
      }
        </fieldset>
        ${trustFields(this.panel.words, config, this.remembered, this.forget)}
        <details class="advanced"><summary>${this.t('advanced')}</summary>
          <div class="columns">
            <div class="field"><label for="${id}-transport">${this.t('transport')}</label>
              <select id="${id}-transport" name="transport">${
        options(
          transports,
          config.transport ?? 'auto',
          (v) => this.t(`transport_${v}`),
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
      ${faultView(this.fault)}
      <footer><button type="button" @click=${() => this.close()}>${this.t('cancel')}</button><button class="primary">${
      this.t('save')
    }</button></footer>
    </form>`
  }

  /** The name as the registry takes it. */
  private get wanted(): string {
    const typed = this.name.trim()
    return typed === this.server ? typed : cleanName(typed)
  }

  /** The fields that cannot be saved, in the panel's words. */
  private problems(): Problems {
    const name = this.wanted
    const others = Object.keys(this.panel.snapshot.servers).filter((other) => this.copy || other !== this.server)
    const wrong = lint({ url: this.url }).find((l) => l.level === 'error')
    const headers = new Map<string, string>()
    for (const row of this.rows) {
      if (row.kept || row.missing || !row.name.trim()) continue
      const refused = usable([[row.name, row.value]]).lints.find((l) => l.level === 'warning') ??
        lint({ url: this.url, headers: { [row.name]: row.value } }).find((l) => l.code === 'invalid_header_value')
      if (refused) headers.set(row.id, this.t(`lint_${refused.code}` as Key, { header: clean(row.name, 100) }))
    }
    return {
      headers,
      ...(!name && { name: this.t('field_required') }),
      ...((others.includes(name) || name in {}) && { name: this.t('name_taken') }),
      ...(wrong && { url: this.t(`lint_${wrong.code}` as Key, wrong.values) }),
    }
  }

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    this.checked = true
    const { name: wrongName, url: wrongURL, headers } = this.problems()
    if (wrongName || wrongURL || headers.size) {
      await this.updateComplete
      return this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
    }
    if (saysUnfinished(this)) return
    const { registry } = this.panel
    const { server, copy, health, wanted: name, parentElement } = this
    const patch = this.patch(new FormData(event.target as HTMLFormElement))
    let saved = ''
    try {
      if (copy) await registry.addServer(name, { ...this.origin, enabled: true, ...patch } as ServerConfig)
      else {
        await registry.updateServer(server, patch)
        saved = `${this.t('saved_but_name')}. `
        if (name !== server) await registry.renameServer(server, name)
      }
    } catch (e) {
      const { message, hint } = e as Fault
      this.fault = { message: saved + message, hint }
      return
    }
    this.close()
    // The menu of the renamed card: that of the earlier name is gone.
    if (name !== server) focusSoon(parentElement!, `[aria-label=${JSON.stringify(this.t('menu_of', { name }))}]`)
    if (copy || health.status !== 'disabled') void this.panel.retry(name)
  }

  private patch(form: FormData): Partial<ServerConfig> & { url: string } {
    const patch: Partial<ServerConfig> & { url: string } = { url: this.url }
    if (!form.has('proxy')) return patch
    const { url, auth } = this.origin
    const moved = hostOf(this.url) !== hostOf(url)
    const seconds = Number(form.get('timeout'))
    const proxy = form.get('proxy')
    patch.proxy = proxy === 'auto' ? proxy : proxy === 'true'
    patch.transport = form.get('transport') as ServerConfig['transport']
    patch.timeoutMs = seconds > 0 ? seconds * 1000 : undefined
    patch.headers = headersOf(this.rows)
    const keeps = form.get('keep') === 'device'
    if (form.has('keep') && keeps !== isKept(this.panel, this.origin)) patch.rememberSecrets = keeps
    Object.assign(patch, trustOf(form))
    patch.auth = authOf(form, moved && auth ? openly(auth) : auth)
    return patch
  }
}

define('portolan-edit', Edit)
