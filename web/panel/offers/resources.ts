import { html, nothing, type TemplateResult } from 'lit'
import { define } from '../../ui/part.ts'
import { clean, line } from '../../ui/text.ts'
import type { ResourceInfo, ResourceTemplateInfo } from '../../../wasm/js/shared/types.ts'
import { OfferList } from './list.ts'
import { watchesOf } from './watches.ts'
import './resource.ts'

type Listed = ResourceInfo | ResourceTemplateInfo

/** Resources and templates by server. */
class ResourcesView extends OfferList<Listed> {
  protected readonly counts = ['resourceCount', 'templateCount'] as const
  protected readonly kind = 'resources'
  private stop: (() => unknown) | undefined

  override connectedCallback(): void {
    super.connectedCallback()
    this.requestUpdate() // it may have been moved, and listens again
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    super.willUpdate(changed)
    this.stop ??= watchesOf(this.panel).subscribe(() => this.requestUpdate())
  }

  protected async load(): Promise<Listed[]> {
    const { registry } = this.panel
    const lists = await Promise.allSettled([registry.resources(), registry.resourceTemplates()])
    if (lists.every((list) => list.status === 'rejected')) throw (lists[0] as PromiseRejectedResult).reason
    return lists.flatMap((list): Listed[] => list.status === 'fulfilled' ? list.value : [])
  }

  protected keyOf(o: Listed): string {
    return 'uri' in o ? o.uri : o.uriTemplate
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop?.()
    this.stop = undefined
  }

  protected row(o: Listed): TemplateResult {
    const watch = watchesOf(this.panel).of(o.server, this.keyOf(o))
    return html`<button type="button" class="quiet about" @click=${() =>
      this.panel.show({ kind: 'resource', resource: o })}>
        <span><bdi>${line(o.title || o.name, 128)}</bdi></span>
        <span class="dim mono clip" dir="ltr">${clean(this.keyOf(o), 300)}</span>
      </button>
      ${'uri' in o ? nothing : html`<span class="badge">${this.t('template')}</span>`}
      ${
      watch
        ? html`<span class="badge ${watch.updated ? 'warn' : ''}">${
          this.t(watch.updated ? 'watch_updated' : 'watched')
        }</span>`
        : nothing
    }
      ${o.mimeType ? html`<span class="dim">${line(o.mimeType, 60)}</span>` : nothing}`
  }
}

define('portolan-resources', ResourcesView)
