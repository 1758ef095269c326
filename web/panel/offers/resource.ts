import { html, nothing, type TemplateResult } from 'lit'
import { PanelDialog } from '../context.ts'
import { faultView } from '../../ui/fields.ts'
import { define, reactive } from '../../ui/part.ts'
import { copy } from '../../ui/save.ts'
import { clean, line } from '../../ui/text.ts'
import { blocksView } from '../tool/result.ts'
import { flagList } from '../tools/flags-view.ts'
import type {
  RegistryError,
  ResourceInfo,
  ResourceResult,
  ResourceTemplateInfo,
} from '../../../wasm/js/shared/types.ts'
import { expand, variablesOf } from './template.ts'
import { watchesOf } from './watches.ts'
import './combo.ts'

/** A resource, or a template with a form for its variables. */
class ResourceDialog extends PanelDialog {
  static override properties = reactive('resource', 'values', 'result', 'reading', 'fault')
  static override initial = { values: {} }
  declare resource: ResourceInfo | ResourceTemplateInfo
  declare private values: Record<string, string>
  declare private result: ResourceResult | undefined
  declare private reading: boolean
  declare private fault: RegistryError | undefined
  protected override wide = true

  override connectedCallback(): void {
    super.connectedCallback()
    this.ends.signal.addEventListener('abort', watchesOf(this.panel).subscribe(() => this.requestUpdate()))
  }

  protected override firstUpdated(): void {
    super.firstUpdated()
    if ('uri' in this.resource) void this.read()
  }

  private get uri(): string {
    return 'uri' in this.resource ? this.resource.uri : expand(this.resource.uriTemplate, this.values)
  }

  protected heading(): TemplateResult {
    return html`<bdi>${line(this.resource.title || this.resource.name, 128)}</bdi>`
  }

  protected body(): TemplateResult {
    const { resource: r, result, uri } = this
    const template = 'uri' in r ? undefined : r.uriTemplate
    const able = this.panel.snapshot.servers[r.server]?.capabilities as
      | { resources?: { subscribe?: boolean } }
      | undefined
    const watch = watchesOf(this.panel).of(r.server, result?.provenance.uri ?? uri)
    return html`<form class="content" novalidate @submit=${this.send}>
      <p class="dim"><bdi>${line(r.server, 80)}</bdi> · <bdi class="mono" dir="ltr">${
      clean(template ?? uri, 500)
    }</bdi>${r.mimeType ? html` · ${line(r.mimeType, 60)}` : nothing}</p>
      ${flagList(this.panel.words, [...(r.flags ?? []), ...(result?.flags ?? [])])}
      ${
      r.description ? html`<p class="description" tabindex="0"><bdi>${clean(r.description, 4000)}</bdi></p>` : nothing
    }
      ${
      template
        ? html`${variablesOf(template).map((name) => this.field(template, name))}
        <p class="dim"><bdi class="mono" dir="ltr">${clean(uri, 500)}</bdi></p>`
        : nothing
    }
      <p class="row"><button class=${template ? 'primary' : ''} aria-disabled=${!!this.reading}>${
      this.t(template ? 'read' : 'read_again')
    }</button>
        ${
      result
        ? html`<button type="button" @click=${() => copy(this.panel, result.text)}>${this.t('copy')}</button>
        <button type="button" aria-pressed=${!!watch} ?hidden=${!able?.resources?.subscribe} @click=${() =>
          watchesOf(this.panel).toggle(this.panel, r.server, result.provenance.uri)}>${this.t('watch')}</button>`
        : nothing
    }
        ${watch?.updated ? html`<span class="badge warn" role="status">${this.t('watch_updated')}</span>` : nothing}</p>
      <div role="status">${this.reading ? this.t('loading') : result ? this.t('answered') : nothing}</div>
      ${faultView(this.fault)}
      ${
      result
        ? html`<section class="result" aria-label=${this.t('result')}>${
          blocksView(
            this.panel,
            r.server,
            result.contents.map((resource) => ({ type: 'resource', resource: { ...resource } })),
          )
        }</section>`
        : nothing
    }
    </form>`
  }

  private field(template: string, name: string): TemplateResult {
    const { server } = this.resource
    return html`<portolan-combo .panel=${this.panel} .label=${line(name, 80)} .value=${
      Object.hasOwn(this.values, name) ? this.values[name] : ''
    } .ask=${(
      value: string,
    ) => ({
      server,
      template,
      argument: name,
      value,
      context: this.values,
    })} @typed=${(e: CustomEvent<string>) => (this.values = { ...this.values, [name]: e.detail })}></portolan-combo>`
  }

  private readonly send = (e: Event): void => {
    e.preventDefault()
    if (!this.reading) void this.read()
  }

  private async read(): Promise<void> {
    const { uri, resource: { server } } = this
    this.reading = true
    this.fault = undefined
    const looked = watchesOf(this.panel).look(server, uri)
    try {
      this.result = await this.panel.registry.readResource(server, uri, { signal: this.ends.signal })
      looked()
    } catch (e) {
      this.result = undefined
      this.fault = e as RegistryError
    }
    this.reading = false
  }
}

define('portolan-resource', ResourceDialog)
